#include <algorithm>

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

}  // namespace

// Nodes run beside each other only where that pays: when dear nodes that do not wait for one
// another make up more than the hand-overs cost. A chain, or a graph of cheap nodes, is one
// sequence; a dear node uses the threads inside itself.
Result<Schedule> MakeSchedule(const Graph& graph, int threads) {
  Schedule schedule;
  TRY_ASSIGN(schedule.order, graph.TopologicalOrder());
  std::vector<double> finish(graph.num_nodes(), 0);  // along the dearest path
  WaitingNodes waiting(graph);
  double total = 0;
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
    if (cost > kHandOverCycles) total += cost;
  }
  if (threads > 1 && total > 2 * kHandOverCycles && total > 1.5 * longest)
    schedule.sequential = false;
  return schedule;
}

}  // namespace penstock
