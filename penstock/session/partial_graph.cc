#include "penstock/session/partial_graph.h"

#include "penstock/compile/passes.h"
#include "penstock/graph/flow.h"
#include "penstock/transport/rendezvous.h"

namespace penstock {
namespace {

// What an edge of the session's graph is to the step; one edge may be all three.
constexpr std::string_view kFeed = "feed";
constexpr std::string_view kFetch = "fetch";
constexpr std::string_view kSettled = "settled";

int IndexOf(const Node& node) {
  return static_cast<int>(*FindAttr(node.attrs, "index")->Get<int64_t>());
}

// The arguments that `from` cannot run without.
std::vector<int> ArgumentsOf(const Graph& graph, NodeId from) {
  std::vector<int> arguments;
  std::vector<uint8_t> seen(graph.num_nodes(), 0);
  std::vector<NodeId> stack{from};
  seen[from] = 1;
  auto visit = [&](NodeId id) {
    if (seen[id] != 0) return;
    seen[id] = 1;
    stack.push_back(id);
  };
  while (!stack.empty()) {
    const Node& node = graph.node(stack.back());
    stack.pop_back();
    if (node.op_name() == "_Arg") arguments.push_back(IndexOf(node));
    for (const OutputRef& input : node.inputs) visit(input.node);
    for (const NodeId control : node.control_inputs) visit(control);
  }
  return arguments;
}

std::string KeyOf(const std::string& name, std::string_view direction, const std::string& device) {
  return RendezvousKey(device, 0, device, Format("{} {}", direction, name));
}

PartialGraph::Edge MakeEdge(const Graph& graph, OutputRef ref, std::string_view direction,
                            const std::string& device) {
  const std::string name = graph.NameOf(ref);
  return {ref, name, KeyOf(name, direction, device), graph.output(ref)};
}

AttrMap EndOfEdge(const PartialGraph::Edge& edge, std::string_view direction,
                  const std::string& device) {
  return {{"tensor_name", Format("{} {}", direction, edge.name)},
          {"send_device", device},
          {"send_device_incarnation", int64_t{0}},
          {"recv_device", device},
          {"client_terminated", true}};
}

bool HasBranches(const Graph& graph) {
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (graph.IsLive(id) && FlowOf(*graph.node(id).op) == Flow::kSwitch) return true;
  }
  return false;
}

// A dead value is not sent. What waits for it learns of it by a message that follows `send` whether
// it ran or not: a ControlTrigger runs in either case.
Result<NodeId> AddSettledMessage(Graph& graph, NodeId send, const PartialGraph::Edge& fetch,
                                 const std::string& device) {
  TRY_ASSIGN(const NodeId trigger, graph.AddNode({.op = "ControlTrigger",
                                                  .name = graph.node(send).name + "_settled",
                                                  .control_inputs = {send}}));
  TRY_ASSIGN(const NodeId message,
             graph.AddNode({.op = "Const",
                            .name = graph.node(send).name + "_message",
                            .attrs = {{"dtype", DType::kBool}, {"value", Tensor::Scalar(true)}}}));
  return graph.AddNode({.op = "_Send",
                        .name = graph.node(send).name + "_tell",
                        .inputs = {{message, 0}},
                        .control_inputs = {trigger},
                        .attrs = EndOfEdge(fetch, kSettled, device)});
}

}  // namespace

Result<PartialGraph> MakePartialGraph(const Graph& graph, const CompileRequest& request,
                                      const std::string& device) {
  PartialGraph out;
  TRY_ASSIGN(out.graph, Prune(graph, request));
  Graph& pruned = out.graph;
  out.targets = pruned.collections["targets"];
  for (const OutputRef& ref : request.feeds)
    out.feeds.push_back(MakeEdge(graph, ref, kFeed, device));
  for (const OutputRef& ref : request.fetches)
    out.fetches.push_back(MakeEdge(graph, ref, kFetch, device));
  out.needs.resize(request.fetches.size());
  const bool branches = HasBranches(pruned);
  const int num_nodes = pruned.num_nodes();  // without those that are added below
  for (NodeId id = 0; id < num_nodes; ++id) {
    if (!pruned.IsLive(id) || pruned.node(id).op_name() != "_Retval") continue;
    const int index = IndexOf(pruned.node(id));
    out.needs[index] = ArgumentsOf(pruned, id);
    TRY_ASSIGN(const NodeId send,
               pruned.AddNode({.op = "_Send",
                               .name = "_send_" + graph.node(request.fetches[index].node).name,
                               .inputs = pruned.node(id).inputs,
                               .attrs = EndOfEdge(out.fetches[index], kFetch, device)}));
    out.targets.push_back(send);
    if (!branches) continue;
    PartialGraph::Edge& fetch = out.fetches[index];
    TRY_ASSIGN(const NodeId told, AddSettledMessage(pruned, send, fetch, device));
    fetch.settled_key = KeyOf(fetch.name, kSettled, device);
    out.targets.push_back(told);
  }
  for (NodeId id = 0; id < num_nodes; ++id) {
    if (!pruned.IsLive(id)) continue;
    const std::string op = pruned.node(id).op_name();
    if (op == "_Retval") pruned.RemoveNode(id);
    if (op != "_Arg") continue;
    const PartialGraph::Edge& feed = out.feeds[IndexOf(pruned.node(id))];
    AttrMap attrs = EndOfEdge(feed, kFeed, device);
    SetAttr(attrs, "tensor_type", feed.info.dtype);
    TRY_ASSIGN(const NodeId recv, pruned.AddNode({.op = "_Recv",
                                                  .name = "_recv_" + graph.node(feed.ref.node).name,
                                                  .attrs = std::move(attrs),
                                                  .site = pruned.node(id).site}));
    pruned.node(recv).outputs[0].shape = feed.info.shape;  // each value is held against it
    pruned.ReplaceUses({id, 0}, {recv, 0});
    pruned.RemoveNode(id);
  }
  return out;
}

}  // namespace penstock
