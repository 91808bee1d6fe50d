#include "penstock/execute/trace.h"

#include <atomic>
#include <chrono>

#include "penstock/graph/step_stats.h"

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
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int32_t Trace::ThreadNumber() {
  static std::atomic<int32_t> next{0};
  thread_local const int32_t number = next.fetch_add(1, std::memory_order_relaxed);
  return number;
}

std::string Trace::ToChromeJson(const Graph& graph, std::string_view device) const {
  std::string out = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  out += Format("{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"{}\"}}",
                JsonEscape(device));
  for (const TraceEvent& event : events_) {
    const Node& node = graph.node(event.node);
    out += ",\n{\"ph\":\"X\",\"cat\":\"Op\",\"pid\":0,\"tid\":" + std::to_string(event.thread) +
           ",\"name\":\"" + JsonEscape(node.op_name()) +
           "\",\"ts\":" + Microseconds(event.started) +
           ",\"dur\":" + Microseconds(event.ended - event.started) + ",\"args\":{\"name\":\"" +
           JsonEscape(node.name) + "\",\"op\":\"" + JsonEscape(node.op_name()) +
           "\",\"queued_us\":" + Microseconds(event.started - event.queued) +
           ",\"bytes\":" + std::to_string(event.bytes);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      out += ",\"input" + std::to_string(i) + "\":\"" + JsonEscape(graph.NameOf(node.inputs[i])) +
             "\"";
    }
    out += "}}";
  }
  return out + "\n]}\n";
}

std::string Trace::ToStepStats(const Graph& graph, std::string_view device) const {
  std::vector<NodeStat> rows;
  for (const TraceEvent& event : events_) {
    const Node& node = graph.node(event.node);
    rows.push_back({node.name, Label(graph, node), event.thread, event.queued, event.started,
                    event.ended, event.bytes});
  }
  return SerializeStepStats(device, rows);
}

}  // namespace penstock
