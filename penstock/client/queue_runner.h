#pragma once

#include <string>
#include <vector>

#include "penstock/client/coordinator.h"
#include "penstock/client/session.h"
#include "penstock/graph/meta_graph.h"

namespace penstock {

// Keeps a queue filled: one thread for each enqueue op, which runs it again and again. Nodes are
// named, as in TensorFlow's QueueRunnerDef.
struct QueueRunner {
  std::string queue;
  std::vector<std::string> enqueue_ops;
  std::string close_op;   // run when the input of all threads has ended
  std::string cancel_op;  // run when the coordinator stops: also cancels enqueues that wait
  // Errors of an enqueue op that mean that its input has ended.
  std::vector<Code> closed_codes = {Code::kOutOfRange, Code::kCancelled};

  // Starts the threads. An error that does not mean the end of input stops the coordinator. The
  // session must outlive the coordinator's threads. Throws NotFound when a node is not in `graph`.
  void Start(const Graph& graph, Session& session, Coordinator& coordinator) const;
};

// Keeps `runner` in the graph's collection "queue_runners". Throws NotFound when a node is missing.
void AddQueueRunner(Graph& graph, const QueueRunner& runner);
// Those that AddQueueRunner has kept.
std::vector<QueueRunner> QueueRunners(const Graph& graph);
// Adds the queue runners that the writer of a MetaGraph kept in it to the collection of its graph.
void AddQueueRunners(MetaGraph& meta);
// Starts all queue runners of the graph; returns how many threads that are.
int StartQueueRunners(const Graph& graph, Session& session, Coordinator& coordinator);

}  // namespace penstock
