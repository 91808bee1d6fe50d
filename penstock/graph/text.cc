// Graph::ToText and Graph::ToDot: graphs for people.

#include <string>

#include "penstock/graph/graph.h"

namespace penstock {
namespace {

// "x" or "x:1", as in a NodeDef.
std::string InputName(const Graph& graph, OutputRef ref) {
  if (!graph.IsLive(ref.node)) return "?";
  return ref.port == 0 ? graph.node(ref.node).name : graph.NameOf(ref);
}

// The attributes that say something: those that are not at their defaults.
std::string Attributes(const Node& node) {
  std::string out;
  for (const auto& [name, value] : node.attrs) {
    const AttrDef* def = node.op->def.FindAttr(name);
    if (def != nullptr && def->default_value && *def->default_value == value) continue;
    out += (out.empty() ? "" : ", ") + Printable(name) + ": " + value.ToString();
  }
  return out;
}

std::string Shapes(const Node& node) {
  std::string out;
  for (const OutputInfo& output : node.outputs) {
    if (!out.empty()) out += ", ";
    out += output.shape.ToString();
    if (out.size() > 200) return out + ", ...";
  }
  return out;
}

// Inside a double-quoted string of the dot language.
std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '\n') out.push_back('\\');
    out.push_back(c == '\n' ? 'n' : c);
  }
  return out + "\"";
}

}  // namespace

std::string Graph::ToText() const {
  std::string out;
  for (NodeId id = 0; id < num_nodes(); ++id) {
    if (!IsLive(id)) continue;
    const Node& node = nodes_[id];
    out += node.name + " = " + node.op_name() + "(";
    std::string_view separator;
    for (const OutputRef& input : node.inputs) {
      out.append(separator).append(InputName(*this, input));
      separator = ", ";
    }
    for (const NodeId control : node.control_inputs) {
      out.append(separator).append("^").append(IsLive(control) ? nodes_[control].name : "?");
      separator = ", ";
    }
    out += ")";
    if (const std::string attrs = Attributes(node); !attrs.empty()) out += " {" + attrs + "}";
    if (!node.outputs.empty()) out += " " + Shapes(node);
    if (!node.device.empty()) out += " on " + Printable(node.device);
    out += "\n";
  }
  return out;
}

std::string Graph::ToDot() const {
  std::string out = "digraph {\n  node [shape=box, fontname=\"sans\"];\n";
  for (NodeId id = 0; id < num_nodes(); ++id) {
    if (!IsLive(id)) continue;
    const Node& node = nodes_[id];
    const std::string self = Quoted(node.name);
    out += "  " + self + " [label=" + Quoted(node.name + "\n" + node.op_name()) + "];\n";
    for (const OutputRef& input : node.inputs) {
      if (!IsLive(input.node)) continue;
      const OutputInfo& edge = output(input);
      const std::string label = (input.port == 0 ? "" : std::to_string(input.port) + ": ") +
                                std::string(ToString(edge.dtype)) + " " + edge.shape.ToString();
      out += "  " + Quoted(nodes_[input.node].name) + " -> " + self + " [label=" + Quoted(label) +
             "];\n";
    }
    for (const NodeId control : node.control_inputs) {
      if (IsLive(control))
        out += "  " + Quoted(nodes_[control].name) + " -> " + self + " [style=dashed];\n";
    }
  }
  return out + "}\n";
}

}  // namespace penstock
