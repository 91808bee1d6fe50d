#include "penstock/train/nn/summary.h"

#include <algorithm>
#include <cstdio>
#include <set>
#include <vector>

#include "penstock/client/constant.h"
#include "penstock/train/nn/body.h"
#include "penstock/train/parameters.h"

namespace penstock::nn {
namespace {

struct Row {
  std::string layer, output, parameters;
};

// "1,234,567".
std::string Grouped(int64_t number) {
  std::string digits = std::to_string(number);
  for (int at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

std::string Size(int64_t bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB"};
  double size = static_cast<double>(bytes);
  int unit = 0;
  for (; size >= 1024 && unit < 3; ++unit) size /= 1024;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", size, units[unit]);
  return text;
}

int64_t ElementsOf(const Parameter& parameter) {
  return parameter.shape.CheckedNumElements().value_or(0);
}

const std::string* Text(const Node& node, const char* attr) {
  const AttrValue* value = FindAttr(node.attrs, attr);
  return value == nullptr ? nullptr : value->Get<std::string>();
}

// Rows of the layers, each at its first call, then of the variables outside of them.
std::vector<Row> RowsOf(const Graph& graph) {
  std::vector<Row> rows;
  std::vector<Parameter> left = AllVariables(graph);
  std::set<std::string> seen;
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id)) continue;
    const Node& node = graph.node(id);
    const std::string* name = Text(node, kLayerName);
    const std::string* kind = Text(node, kLayerKind);
    if (name == nullptr || kind == nullptr || !seen.insert(*name).second) continue;
    int64_t count = 0;
    std::erase_if(left, [&](const Parameter& parameter) {
      if (!parameter.name.starts_with(*name + "/")) return false;
      count += ElementsOf(parameter);
      return true;
    });
    rows.push_back({*name + " (" + *kind + ")", node.outputs[0].shape.ToString(), Grouped(count)});
  }
  for (const Parameter& parameter : left) {
    rows.push_back({parameter.name + " (variable)", parameter.shape.ToString(),
                    Grouped(ElementsOf(parameter))});
  }
  return rows;
}

std::string Table(const std::vector<Row>& rows) {
  size_t layer = 0, output = 0, parameters = 0;
  for (const Row& row : rows) {
    layer = std::max(layer, row.layer.size());
    output = std::max(output, row.output.size());
    parameters = std::max(parameters, row.parameters.size());
  }
  std::string text;
  for (const Row& row : rows) {
    text += row.layer + std::string(layer + 2 - row.layer.size(), ' ');
    text += row.output + std::string(output + 2 - row.output.size(), ' ');
    text += std::string(parameters - row.parameters.size(), ' ') + row.parameters + "\n";
  }
  return text;
}

}  // namespace

ParameterCount CountParameters(const Graph& graph) {
  ParameterCount count;
  std::set<NodeId> trainable;
  for (const Parameter& parameter : TrainableVariables(graph)) trainable.insert(parameter.handle);
  for (const Parameter& parameter : AllVariables(graph)) {
    const int64_t elements = ElementsOf(parameter);
    (trainable.contains(parameter.handle) ? count.trainable : count.other) += elements;
    count.bytes += elements * static_cast<int64_t>(SizeOf(parameter.dtype));
  }
  return count;
}

std::string Summary(const Graph& graph) {
  std::vector<Row> rows = RowsOf(graph);
  rows.insert(rows.begin(), {"Layer", "Output", "Parameters"});
  const ParameterCount count = CountParameters(graph);
  return Table(rows) + "Total: " + Grouped(count.total()) + " parameters (" + Size(count.bytes) +
         "), " + Grouped(count.trainable) + " trainable\n";
}

std::string Summary(const Layer& model, const Shape& input, DType dtype) {
  Graph graph;
  const NodeId x = client_internal::AddPlaceholder(graph, dtype, input, "input", {});
  RunBody(*model.body(), graph, {{x, 0}}, Mode::kInfer, {}, /*nested=*/false);
  return Summary(graph);
}

}  // namespace penstock::nn
