#include <algorithm>
#include <iterator>
#include <string_view>

#include "penstock/compile/calls.h"
#include "penstock/compile/passes.h"
#include "penstock/graph/cost.h"
#include "penstock/graph/flow.h"

namespace penstock {
namespace {

// Handing a node to another thread and back costs about this many cycles.
constexpr double kHandOverCycles = 30'000;

// Nodes of unknown size count as dear.
constexpr double kUnknownElements = 100'000;

// From here on a kernel that can share its work keeps all threads busy.
constexpr double kSharedCycles = 500'000;

// Names of ops, or their beginnings, whose kernels share their work among the threads, besides
// those that work element by element. Only what can be dear in a large graph is worth a row.
constexpr std::string_view kSharing[] = {
    "MatMul",   "BatchMatMul", "Conv2D",  "Conv3D",       "DepthwiseConv2d", "_Epilogue",
    "_Fused",   "MaxPool",     "AvgPool", "_MaxPool",     "FusedBatchNorm",  "BiasAddGrad",
    "ConcatV2", "Transpose",   "Softmax", "SparseSoftmax"};

bool SharesItsWork(const Node& node) {
  return node.op->traits.elementwise ||
         std::any_of(std::begin(kSharing), std::end(kSharing),
                     [&](std::string_view name) { return node.op_name().starts_with(name); });
}

}  // namespace

// Nodes run beside each other only where that pays: when dear nodes that do not wait for one
// another, and do not use the threads inside themselves, make up more than the hand-overs cost. A
// chain, a graph of cheap nodes, or one of large products is one sequence: it has its memory
// planned, and each node has all threads and the cache.
Result<Schedule> MakeSchedule(const Graph& graph, int threads) {
  Schedule schedule;
  TRY_ASSIGN(schedule.order, graph.TopologicalOrder());
  std::vector<double> finish(graph.num_nodes(), 0);  // along the dearest path
  WaitingNodes waiting(graph);
  double total = 0;    // of dear nodes
  double in_turn = 0;  // what they take one after the other
  double longest = 0;
  for (const NodeId id : schedule.order) {
    const Node& node = graph.node(id);
    if (waiting.MayWait(node) || FlowOf(*node.op) != Flow::kNone) schedule.sequential = false;
    double start = 0;
    for (const OutputRef& input : node.inputs) start = std::max(start, finish[input.node]);
    for (const NodeId control : node.control_inputs) start = std::max(start, finish[control]);
    const double cost = EstimateCycles(graph, node, kUnknownElements);
    finish[id] = start + cost;
    longest = std::max(longest, finish[id]);
    if (cost <= kHandOverCycles) continue;
    total += cost;
    in_turn += cost > kSharedCycles && SharesItsWork(node) ? cost / threads : cost;
  }
  const double beside = std::max(longest, total / threads);
  if (threads > 1 && total > 2 * kHandOverCycles && total > 1.5 * longest && in_turn > 1.2 * beside)
    schedule.sequential = false;
  return schedule;
}

}  // namespace penstock
