#include "penstock/graph/body_derivative.h"

#include <algorithm>
#include <set>

#include "penstock/graph/extract.h"
#include "penstock/graph/flow.h"
#include "penstock/graph/gradients.h"
#include "penstock/graph/recompute.h"

namespace penstock {
namespace {

// Functions that were added to one library, into another that it was made from.
void AddNewFunctions(const FunctionLibrary& from, FunctionLibrary* to) {
  for (const auto& [name, function] : from.functions) to->functions.emplace(name, function);
}

// Of a value, these read its shape alone: better that the body computes them than that it keeps the
// value.
bool ReadsShapeOnly(const Node& node) {
  for (const std::string_view op : {"Shape", "Size", "Rank"}) {
    if (node.op_name() == op) return true;
  }
  return false;
}

// The type of the variable behind a handle, as those who read it say.
DType VariableType(const Graph& graph, OutputRef handle) {
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id)) continue;
    const std::vector<OutputRef>& inputs = graph.node(id).inputs;
    if (std::find(inputs.begin(), inputs.end(), handle) == inputs.end()) continue;
    const AttrValue* attr = FindAttr(graph.node(id).attrs, "dtype");
    if (const DType* dtype = attr == nullptr ? nullptr : attr->Get<DType>()) return *dtype;
  }
  return DType::kFloat;
}

bool IsConstant(const Node& node) { return node.op_name() == "Const"; }

}  // namespace

FunctionWriter::FunctionWriter(const Graph& source) : source_(source), graph_(source.registry()) {
  graph_.library() = source.library();
}

OutputRef FunctionWriter::AddArg(const OutputInfo& info) {
  Result<NodeId> arg =
      graph_.AddNode({.op = "_Arg",
                      .name = "arg",
                      .attrs = {{"T", info.dtype}, {"index", static_cast<int64_t>(args_.size())}}});
  if (!arg.ok()) return {};  // no dtype: Copy of what reads it fails
  graph_.node(*arg).outputs[0].shape = info.shape;
  args_.push_back(*arg);
  return {*arg, 0};
}

void FunctionWriter::Substitute(OutputRef value, OutputRef instead) {
  substitutes_[{value.node, value.port}] = instead;
}

Result<std::vector<OutputRef>> FunctionWriter::Copy(const std::vector<OutputRef>& values,
                                                    bool controls,
                                                    const std::vector<NodeId>& effects) {
  std::set<NodeId> needed;
  std::vector<NodeId> open;
  auto need = [&](NodeId id) {
    if (!copies_.contains(id) && needed.insert(id).second) open.push_back(id);
  };
  auto need_value = [&](OutputRef ref) {
    if (!substitutes_.contains({ref.node, ref.port})) need(ref.node);
  };
  for (const OutputRef& value : values) need_value(value);
  if (controls) {
    for (const NodeId id : effects) need(id);
  }
  while (!open.empty()) {
    const Node& node = source_.node(open.back());
    open.pop_back();
    for (const OutputRef& input : node.inputs) need_value(input);
    if (!controls && !HoldsBack(node)) continue;
    for (const NodeId id : node.control_inputs) {
      if (FlowOf(*source_.node(id).op) == Flow::kNone) need(id);
    }
  }
  TRY_ASSIGN(const std::vector<NodeId> order, source_.TopologicalOrder());
  std::vector<NodeId> copied;
  for (const NodeId id : order) {
    if (!needed.contains(id)) continue;
    copies_[id] = graph_.AddCopy(source_.node(id));
    copied.push_back(id);
  }
  auto here = [&](OutputRef ref) {
    const auto substitute = substitutes_.find({ref.node, ref.port});
    return substitute != substitutes_.end() ? substitute->second
                                            : OutputRef{copies_.at(ref.node), ref.port};
  };
  for (const NodeId id : copied) {
    Node& copy = graph_.node(copies_.at(id));
    for (OutputRef& input : copy.inputs) input = here(input);
    copy.control_inputs.clear();
    if (controls || HoldsBack(copy)) {
      for (const NodeId control : source_.node(id).control_inputs) {
        if (const auto it = copies_.find(control); it != copies_.end())
          copy.control_inputs.push_back(it->second);
      }
    }
  }
  if (controls) {
    for (const NodeId id : effects) effects_.push_back(copies_.at(id));
  }
  std::vector<OutputRef> results;
  for (const OutputRef& value : values) results.push_back(here(value));
  return results;
}

Result<FunctionName> FunctionWriter::Finish(Graph& caller, const std::string& name,
                                            const std::vector<OutputRef>& results,
                                            bool* has_effects) {
  const TracedPart part{0, graph_.num_nodes(), args_, results, effects_};
  TRY_ASSIGN(FunctionDef function, ExtractFunction(graph_, part, {}, name));
  *has_effects |= function.signature.is_stateful;
  return FunctionName{AddToLibrary(caller, std::move(function)), {}};
}

Result<BodyDerivative> BodyDerivative::Make(Graph& caller, const FunctionName& function,
                                            const std::vector<OutputInfo>& args,
                                            const std::vector<int>& results) {
  BodyDerivative made;
  TRY_ASSIGN(made.body_, Instantiate(caller.library(), function, caller.registry()));
  Graph& graph = made.body_.graph;
  for (size_t i = 0; i < args.size(); ++i)
    graph.node(made.body_.args[i]).outputs[0].shape = args[i].shape;
  TRY_ASSIGN(const std::vector<NodeId> order, graph.TopologicalOrder());
  for (const NodeId id : order) TRY(graph.InferNode(id));

  const NodeId first = graph.num_nodes();
  const Scope scope(graph);
  GradientRequest request;
  request.xs = made.body_.Args();
  const std::vector<OutputRef> ys = made.body_.Results();
  for (const int result : results) {
    const OutputRef y = ys[static_cast<size_t>(result)];
    const OutputInfo& info = graph.output(y);
    // What arrives at the handle of a variable is of the variable's type.
    const DType dtype = info.dtype == DType::kResource ? VariableType(graph, y) : info.dtype;
    TRY_ASSIGN(const NodeId dy,
               scope.AddNode({.op = "_Arg",
                              .name = "dy",
                              .attrs = {{"T", dtype}, {"index", static_cast<int64_t>(0)}}}));
    if (dtype == graph.output(y).dtype) graph.node(dy).outputs[0].shape = graph.output(y).shape;
    made.dys_.push_back({dy, 0});
    request.ys.push_back(y);
    request.dys.push_back({dy, 0});
  }
  TRY_ASSIGN(made.dxs_, AddGradients(scope, request));
  AddNewFunctions(graph.library(), &caller.library());
  made.FindCaptures(first);
  return made;
}

void BodyDerivative::FindCaptures(NodeId first) {
  const Graph& graph = body_.graph;
  std::set<NodeId> seen;
  std::set<std::pair<NodeId, int32_t>> captured;
  std::vector<NodeId> open;
  auto read = [&](OutputRef ref) {
    const Node& node = graph.node(ref.node);
    const bool is_dy = std::find(dys_.begin(), dys_.end(), ref) != dys_.end();
    const bool kept = ref.node < first || (ReadsShapeOnly(node) && node.inputs[0].node < first);
    if (is_dy || IsConstant(node)) return;
    if (kept) {
      if (captured.insert({ref.node, ref.port}).second) captures_.push_back(ref);
    } else if (seen.insert(ref.node).second) {
      open.push_back(ref.node);
    }
  };
  for (const OutputRef& dx : dxs_) {
    if (dx.node != kNoNode) read(dx);
  }
  while (!open.empty()) {
    const Node& node = graph.node(open.back());
    open.pop_back();
    for (const OutputRef& input : node.inputs) read(input);
  }
}

int BodyDerivative::ArgNumber(OutputRef value) const {
  const auto it = std::find(body_.args.begin(), body_.args.end(), value.node);
  return it == body_.args.end() ? -1 : static_cast<int>(it - body_.args.begin());
}

int BodyDerivative::PassedOn(size_t result) const {
  OutputRef ref = body_.Results()[result];
  while (body_.graph.node(ref.node).op_name() == "Identity")
    ref = body_.graph.node(ref.node).inputs[0];
  return ArgNumber(ref);
}

}  // namespace penstock
