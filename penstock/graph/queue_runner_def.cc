#include "penstock/graph/queue_runner_def.h"

#include <limits>

#include "penstock/graph/wire.h"
#include "penstock/proto/meta_graph.pb.h"
#include "penstock/proto/queue_runner.pb.h"

namespace penstock {

Result<std::vector<QueueRunnerDef>> QueueRunnerDefs(const MetaGraph& meta) {
  tf::MetaGraphDef proto;
  TRY(FromWire(meta.rest, std::numeric_limits<int64_t>::max(), &proto));
  std::vector<QueueRunnerDef> defs;
  const auto found = proto.collection_def().find("queue_runners");
  if (found == proto.collection_def().end()) return defs;
  for (const std::string& bytes : found->second.bytes_list().value()) {
    tf::QueueRunnerDef read;
    if (!read.ParseFromString(bytes)) return DataLoss("a queue runner of the graph does not parse");
    QueueRunnerDef& def = defs.emplace_back();
    def.queue = read.queue_name();
    def.enqueue_ops.assign(read.enqueue_op_name().begin(), read.enqueue_op_name().end());
    def.close_op = read.close_op_name();
    def.cancel_op = read.cancel_op_name();
    for (const int32_t code : read.queue_closed_exception_types()) {
      if (code > 0 && code <= static_cast<int>(Code::kUnauthenticated))
        def.closed_codes.push_back(static_cast<Code>(code));
    }
    if (def.closed_codes.empty()) def.closed_codes.push_back(Code::kOutOfRange);
  }
  return defs;
}

}  // namespace penstock
