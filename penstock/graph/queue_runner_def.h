#pragma once

#include <string>
#include <vector>

#include "penstock/graph/meta_graph.h"

namespace penstock {

// A queue and the nodes that fill and close it, by name, as a MetaGraph keeps them.
struct QueueRunnerDef {
  std::string queue;
  std::vector<std::string> enqueue_ops;
  std::string close_op;
  std::string cancel_op;
  std::vector<Code> closed_codes;  // what an enqueue op says when its input has ended
};

// The collection "queue_runners"; none when there is none. DataLoss when it cannot be read.
Result<std::vector<QueueRunnerDef>> QueueRunnerDefs(const MetaGraph& meta);

}  // namespace penstock
