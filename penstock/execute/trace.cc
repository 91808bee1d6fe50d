#include "penstock/execute/trace.h"

#include <atomic>
#include <chrono>

#include "penstock/proto/step_stats.pb.h"

namespace penstock {
namespace {

std::string JsonEscape(std::string_view text) {
  std::string out;
  for (const char c : Printable(text, 1000)) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

std::string Microseconds(int64_t nanoseconds) {
  std::string fraction = std::to_string(nanoseconds % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return std::to_string(nanoseconds / 1000) + "." + fraction;
}

std::string Label(const Graph& graph, const Node& node) {
  std::string label = node.name + " = " + node.op_name() + "(";
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (i > 0) label += ", ";
    label += graph.node(node.inputs[i].node).name;
  }
  return label + ")";
}

}  // namespace

int64_t Trace::Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int32_t Trace::ThreadNumber() {
  static std::atomic<int32_t> next{0};
  thread_local const int32_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

std::string Trace::ToChromeJson(const Graph& graph, std::string_view device) const {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  out += Format("{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"{}\"}}", JsonEscape(device));
  for (const TraceEvent& event : events_) {
    const Node& node = graph.node(event.node);
    out += ",\n{\"ph\":\"X\",\"cat\":\"Op\",\"pid\":0,\"tid\":" + std::to_string(event.thread) + ",\"name\":\"" +
           JsonEscape(node.op_name()) + "\",\"ts\":" + Microseconds(event.started) +
           ",\"dur\":" + Microseconds(event.ended - event.started) + ",\"args\":{\"name\":\"" + JsonEscape(node.name) +
           "\",\"op\":\"" + JsonEscape(node.op_name()) + "\",\"queued_us\":" + Microseconds(event.started - event.queued) +
           ",\"bytes\":" + std::to_string(event.bytes);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      out += ",\"input" + std::to_string(i) + "\":\"" + JsonEscape(graph.NameOf(node.inputs[i])) + "\"";
    }
    out += "}}";
  }
  return out + "\n]}\n";
}

std::string Trace::ToStepStats(const Graph& graph, std::string_view device) const {
  tf::StepStats stats;
  tf::DeviceStepStats* per_device = stats.add_dev_stats();
  per_device->set_device(std::string(device));
  for (const TraceEvent& event : events_) {
    const Node& node = graph.node(event.node);
    tf::NodeExecStats* row = per_device->add_node_stats();
    row->set_node_name(node.name);
    row->set_timeline_label(Label(graph, node));
    row->set_thread_id(static_cast<uint32_t>(event.thread));
    row->set_scheduled_nanos(event.queued);
    row->set_scheduled_micros(event.queued / 1000);
    row->set_all_start_nanos(event.started);
    row->set_all_start_micros(event.started / 1000);
    row->set_op_start_rel_nanos(0);
    row->set_op_end_rel_nanos(event.ended - event.started);
    row->set_op_end_rel_micros((event.ended - event.started) / 1000);
    row->set_all_end_rel_nanos(event.ended - event.started);
    row->set_all_end_rel_micros((event.ended - event.started) / 1000);
    row->add_memory()->set_total_bytes(event.bytes);
  }
  return stats.SerializeAsString();
}

}  // namespace penstock
