#include "penstock/session/step_table.h"

#include <algorithm>
#include <cstdio>

namespace penstock {
namespace {

// A dump is for a person: of thousands of waiting nodes the oldest tell the story.
constexpr size_t kWaitingShown = 20;

}  // namespace

std::string DurationText(std::chrono::steady_clock::duration duration) {
  const double ms = std::chrono::duration<double, std::milli>(duration).count();
  char text[32];
  std::snprintf(text, sizeof text, ms < 1000 ? "%.0f ms" : "%.1f s", ms < 1000 ? ms : ms / 1000);
  return text;
}

std::string DescribeStep(const ActiveStep& step, ActiveStep::Clock::time_point now) {
  std::string out =
      Format("step {} for {}: {}", step.id, DurationText(now - step.started), step.what);
  if (!step.counted) return out + Format("; {} nodes in sequence", step.plan->num_nodes());
  const int64_t ended = step.progress.ended();
  const int num_nodes = step.plan->num_nodes();
  // In a loop nodes run many times.
  out += ended > num_nodes ? Format("; {} runs of {} nodes ended", ended, num_nodes)
                           : Format("; {} of {} nodes ended", ended, num_nodes);
  const std::vector<StepProgress::Waiting> waiting = step.progress.WaitingNodes();
  const Graph& graph = step.plan->graph();
  for (size_t i = 0; i < std::min(waiting.size(), kWaitingShown); ++i) {
    const Node& node = graph.node(waiting[i].node);
    out += Format("{} {} = {} for {}", i == 0 ? "; waiting:" : ",", node.name, node.op_name(),
                  DurationText(now - waiting[i].since));
  }
  if (waiting.size() > kWaitingShown) out += Format(" and {} more", waiting.size() - kWaitingShown);
  if (const NodeId last = step.progress.last_started(); waiting.empty() && last != kNoNode) {
    out += Format("; last begun: {} = {}", graph.node(last).name, graph.node(last).op_name());
  }
  return out;
}

Status StepTable::Add(ActiveStep* step) {
  {
    MutexLock lock(mu_);
    if (closed_) return FailedPrecondition("the session is closed");
    steps_.push_back(step);
  }
  if (added_) added_();
  return OkStatus();
}

void StepTable::Remove(ActiveStep* step) {
  MutexLock lock(mu_);
  steps_.erase(std::find(steps_.begin(), steps_.end(), step));
  if (steps_.empty() && closed_) changed_.NotifyAll();
}

void StepTable::Close(const Status& why) {
  MutexLock lock(mu_);
  closed_ = true;
  for (ActiveStep* step : steps_) step->cancellation.Cancel(why);
}

void StepTable::WaitUntilEmpty() {
  MutexLock lock(mu_);
  while (!steps_.empty()) changed_.Wait(mu_);
}

bool StepTable::empty() const {
  MutexLock lock(mu_);
  return steps_.empty();
}

std::string StepTable::DebugString() const {
  const auto now = ActiveStep::Clock::now();
  std::string out;
  MutexLock lock(mu_);
  for (const ActiveStep* step : steps_) out += "  " + DescribeStep(*step, now) + "\n";
  return out;
}

bool StepTable::FindStalled(ActiveStep::Clock::time_point now, std::chrono::milliseconds limit) {
  bool found = false;
  MutexLock lock(mu_);
  for (ActiveStep* step : steps_) {
    const int64_t changes = step->progress.Changes();
    if (changes != step->seen_changes) {
      if (step->seen_changes >= 0 || changes > 0) step->seen_at = now;
      step->seen_changes = changes;
      step->reported = false;
    }
    if (step->reported || now - step->seen_at < limit) continue;
    step->reported = true;
    found = true;
  }
  return found;
}

}  // namespace penstock
