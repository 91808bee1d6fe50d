#include <string>
#include <unordered_map>

#include "penstock/compile/passes.h"
#include "penstock/graph/function.h"

namespace penstock {
namespace {

struct RefHash {
  size_t operator()(const OutputRef& ref) const {
    return std::hash<int64_t>()(int64_t{ref.node} << 32 | static_cast<uint32_t>(ref.port));
  }
};
using ArgOf = std::unordered_map<OutputRef, int, RefHash>;

// The nodes that must run, in the order of their ids.
std::vector<NodeId> NeededNodes(const Graph& graph, const CompileRequest& request,
                                const ArgOf& fed) {
  std::vector<uint8_t> needed(graph.num_nodes(), 0);
  std::vector<NodeId> stack;
  auto visit = [&](NodeId id) {
    if (needed[id]) return;
    needed[id] = 1;
    stack.push_back(id);
  };
  for (const OutputRef& fetch : request.fetches) {
    if (!fed.contains(fetch)) visit(fetch.node);
  }
  for (const NodeId target : request.targets) visit(target);
  while (!stack.empty()) {
    const Node& node = graph.node(stack.back());
    stack.pop_back();
    for (const OutputRef& input : node.inputs) {
      if (!fed.contains(input)) visit(input.node);
    }
    for (const NodeId control : node.control_inputs) visit(control);
  }
  std::vector<NodeId> out;
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (needed[id]) out.push_back(id);
  }
  return out;
}

}  // namespace

Result<Graph> Prune(const Graph& graph, const CompileRequest& request) {
  if (request.fetches.empty() && request.targets.empty()) {
    return InvalidArgument("Must specify at least one target to fetch or execute.");
  }
  ArgOf fed;
  for (size_t i = 0; i < request.feeds.size(); ++i) {
    if (!fed.emplace(request.feeds[i], static_cast<int>(i)).second) {
      return InvalidArgument("{} is fed twice", graph.NameOf(request.feeds[i]));
    }
  }
  Graph out(graph.registry());
  out.versions() = graph.versions();
  if (!graph.library().functions.empty()) out.library() = graph.library();

  const std::vector<NodeId> needed = NeededNodes(graph, request, fed);
  std::vector<NodeId> moved(graph.num_nodes(), kNoNode);
  for (const NodeId id : needed) moved[id] = out.AddCopy(graph.node(id));

  std::vector<NodeId> args;
  for (size_t i = 0; i < request.feeds.size(); ++i) {
    const OutputInfo& info = graph.output(request.feeds[i]);
    TRY_ASSIGN(const NodeId arg,
               out.AddNode({.op = "_Arg",
                            .name = "_arg_" + graph.node(request.feeds[i].node).name,
                            .attrs = {{"T", info.dtype}, {"index", static_cast<int64_t>(i)}},
                            .site = graph.node(request.feeds[i].node).site}));
    out.node(arg).outputs[0].shape = info.shape;
    args.push_back(arg);
  }
  auto source = [&](OutputRef ref) -> OutputRef {
    if (const auto it = fed.find(ref); it != fed.end()) return {args[it->second], 0};
    return {moved[ref.node], ref.port};
  };
  for (const NodeId id : needed) {
    Node& node = out.node(moved[id]);
    for (OutputRef& input : node.inputs) input = source(input);
    for (NodeId& control : node.control_inputs) control = moved[control];
  }
  for (const NodeId target : request.targets) out.collections["targets"].push_back(moved[target]);
  for (size_t i = 0; i < request.fetches.size(); ++i) {
    const OutputRef from = source(request.fetches[i]);
    TRY(out.AddNode({.op = "_Retval",
                     .name = "_retval_" + graph.node(request.fetches[i].node).name,
                     .inputs = {from},
                     .attrs = {{"index", static_cast<int64_t>(i)}}}));
  }
  return out;
}

}  // namespace penstock
