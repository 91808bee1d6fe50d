#include "penstock/train/parameters.h"

#include "penstock/client/ops.h"
#include "penstock/train/optim/slots.h"

namespace penstock {
namespace {

constexpr char kUpdates[] = "update_ops";
constexpr char kPenalties[] = "regularization_losses";
constexpr char kGlobalStep[] = "global_step";

std::vector<NodeId> Collected(const Graph& graph, const std::string& collection) {
  const auto it = graph.collections.find(collection);
  return it == graph.collections.end() ? std::vector<NodeId>() : it->second;
}

std::vector<Parameter> ParametersOf(const Graph& graph, const std::string& collection) {
  std::vector<Parameter> parameters;
  for (const NodeId handle : Collected(graph, collection))
    parameters.push_back(ParameterOf(graph, handle));
  return parameters;
}

}  // namespace

Parameter ParameterOf(const Graph& graph, NodeId handle) {
  const Node& node = graph.node(handle);
  Parameter parameter{.handle = handle, .name = node.name};
  if (const AttrValue* dtype = FindAttr(node.attrs, "dtype"))
    parameter.dtype = *dtype->Get<DType>();
  if (const AttrValue* shape = FindAttr(node.attrs, "shape"))
    parameter.shape = *shape->Get<Shape>();
  return parameter;
}

std::vector<Parameter> AllVariables(const Graph& graph) { return ParametersOf(graph, "variables"); }

std::vector<Parameter> TrainableVariables(const Graph& graph) {
  return ParametersOf(graph, "trainable_variables");
}

void AddUpdate(Operation update) { update.graph().collections[kUpdates].push_back(update.node()); }

std::vector<Operation> UpdatesOf(Graph& graph) {
  std::vector<Operation> updates;
  for (const NodeId node : Collected(graph, kUpdates)) updates.emplace_back(graph, node);
  return updates;
}

void AddPenalty(Output<float> term) {
  // Collections hold nodes: the term is output 0 of one of its own.
  term = Identity(term);
  term.graph().collections[kPenalties].push_back(term.ref().node);
}

std::vector<Output<float>> PenaltiesOf(Graph& graph) {
  std::vector<Output<float>> penalties;
  for (const NodeId node : Collected(graph, kPenalties))
    penalties.emplace_back(graph, OutputRef{node, 0});
  return penalties;
}

Variable<int64_t> GlobalStep(Graph& graph) {
  std::vector<NodeId>& made = graph.collections[kGlobalStep];
  // By that name in every checkpoint, whatever scope asks for it first.
  if (made.empty()) {
    made.push_back(
        optim_internal::MakeSlot(graph, {.name = kGlobalStep, .dtype = DType::kInt64}, {}).handle);
  }
  return Variable<int64_t>::Of(graph, made[0]);
}

}  // namespace penstock
