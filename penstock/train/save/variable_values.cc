#include "penstock/train/save/variable_values.h"

#include <set>

namespace penstock {
namespace {

bool IsReference(const Graph& graph, NodeId node) {
  const std::string& op = graph.node(node).op_name();
  return op == "VariableV2" || op == "Variable";
}

std::vector<Parameter> VariablesOf(const Graph& graph) {
  std::vector<Parameter> variables = AllVariables(graph);
  if (!variables.empty()) return variables;
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (graph.IsLive(id) && (graph.node(id).op_name() == "VarHandleOp" || IsReference(graph, id)))
      variables.push_back(ParameterOf(graph, id));
  }
  return variables;
}

}  // namespace

VariableValues::VariableValues(Graph& graph) : VariableValues(graph, VariablesOf(graph)) {}

VariableValues::VariableValues(Graph& graph, std::vector<Parameter> variables)
    : graph_(&graph), variables_(std::move(variables)), nodes_(variables_.size()) {
  std::set<std::string> names;
  for (const Parameter& variable : variables_) {
    if (!names.insert(variable.name).second)
      throw Error(InvalidArgument("two variables have the name '{}'", Printable(variable.name)));
    if (!graph.IsLive(variable.handle))
      throw Error(InvalidArgument("'{}' is no variable of the graph", Printable(variable.name)));
  }
  AddReads();
}

// Found when an earlier one has added it.
NodeId VariableValues::FindOrAdd(NodeSpec spec) {
  const NodeId found = graph_->FindNode(spec.name);
  if (found != kNoNode && graph_->node(found).op_name() == spec.op &&
      graph_->node(found).inputs == spec.inputs)
    return found;
  return OrThrow(graph_->AddNode(std::move(spec)));
}

void VariableValues::AddReads() {
  for (size_t i = 0; i < variables_.size(); ++i) {
    const Parameter& variable = variables_[i];
    if (IsReference(*graph_, variable.handle)) {
      nodes_[i].read = {FindOrAdd({.op = "Identity",
                                   .name = "save/" + variable.name + "/read",
                                   .inputs = {{variable.handle, 0}},
                                   .attrs = {{"T", variable.dtype}}}),
                        0};
    } else {
      nodes_[i].read = {FindOrAdd({.op = "ReadVariableOp",
                                   .name = "save/" + variable.name + "/read",
                                   .inputs = {{variable.handle, 0}},
                                   .attrs = {{"dtype", variable.dtype}}}),
                        0};
    }
  }
}

VariableValues::Nodes& VariableValues::WithAssign(size_t i) {
  Nodes& nodes = nodes_[i];
  if (nodes.assign != kNoNode) return nodes;
  const Parameter& variable = variables_[i];
  const OutputRef handle = {variable.handle, 0};
  nodes.value = {FindOrAdd({.op = "Placeholder",
                            .name = "save/" + variable.name + "/value",
                            .attrs = {{"dtype", variable.dtype}}}),
                 0};
  const bool is_reference = IsReference(*graph_, variable.handle);
  nodes.assign = FindOrAdd({.op = is_reference ? "Assign" : "AssignVariableOp",
                            .name = "save/" + variable.name + "/assign",
                            .inputs = {handle, nodes.value}});
  if (!is_reference) {
    nodes.drop = FindOrAdd(
        {.op = "DestroyResourceOp", .name = "save/" + variable.name + "/drop", .inputs = {handle}});
  }
  return nodes;
}

std::vector<Tensor> VariableValues::Read(Session& session) const {
  CallableSpec spec;
  for (const Nodes& nodes : nodes_) spec.fetches.push_back(nodes.read);
  if (spec.fetches.empty()) return {};
  return OrThrow(session.backend().Run(spec, {}, session.options(), nullptr));
}

void VariableValues::Assign(Session& session, std::span<const Assignment> values) {
  if (values.empty()) return;
  CallableSpec spec;
  std::vector<Tensor> feeds;
  for (const auto& [i, value] : values) {
    const Nodes& nodes = WithAssign(i);
    spec.feeds.push_back(nodes.value);
    spec.targets.push_back(nodes.assign);
    feeds.push_back(value);
  }
  OrThrow(session.backend().Run(spec, feeds, session.options(), nullptr));
}

Tensor VariableValues::Take(Session& session, size_t i) {
  const Nodes& nodes = WithAssign(i);
  if (nodes.drop == kNoNode) return {};
  Result<std::vector<Tensor>> read =
      session.backend().Run({{}, {nodes.read}, {}}, {}, session.options(), nullptr);
  if (!read.ok()) return {};  // it holds nothing
  Tensor value = std::move(read->front());
  OrThrow(session.backend().Run({{}, {}, {nodes.drop}}, {}, session.options(), nullptr));
  return value.OwnsUniquely() ? value : Tensor();
}

}  // namespace penstock
