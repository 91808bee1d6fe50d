#include "penstock/graph/step_stats.h"

#include "penstock/proto/step_stats.pb.h"

namespace penstock {

std::string SerializeStepStats(std::string_view device, std::span<const NodeStat> rows) {
  tf::StepStats stats;
  tf::DeviceStepStats* per_device = stats.add_dev_stats();
  per_device->set_device(std::string(device));
  for (const NodeStat& row : rows) {
    const int64_t took = row.ended - row.started;
    tf::NodeExecStats* out = per_device->add_node_stats();
    out->set_node_name(row.name);
    out->set_timeline_label(row.label);
    out->set_thread_id(static_cast<uint32_t>(row.thread));
    out->set_scheduled_nanos(row.queued);
    out->set_scheduled_micros(row.queued / 1000);
    out->set_all_start_nanos(row.started);
    out->set_all_start_micros(row.started / 1000);
    out->set_op_end_rel_nanos(took);
    out->set_op_end_rel_micros(took / 1000);
    out->set_all_end_rel_nanos(took);
    out->set_all_end_rel_micros(took / 1000);
    out->add_memory()->set_total_bytes(row.bytes);
  }
  return stats.SerializeAsString();
}

}  // namespace penstock
