#include "penstock/train/loop/training.h"

#include <algorithm>

#include "penstock/client/error.h"
#include "penstock/client/variable.h"

namespace penstock {

std::string_view ToString(EndReason reason) {
  switch (reason) {
    case EndReason::kStepsDone:
      return "all steps done";
    case EndReason::kInputEnded:
      return "end of input";
    case EndReason::kStopped:
      return "stopped";
    case EndReason::kInterrupted:
      return "interrupted";
    case EndReason::kFailed:
      return "failed";
  }
  return "?";
}

Training::Training(Session& session, Output<float> loss, Operation step,
                   const RandomStreamState& streams)
    : session_(session), loss_(loss), step_operation_(step), streams_(streams) {}

const Tensor* Training::Fetched(OutputRef ref) const {
  const auto it = std::find(fetched_refs_.begin(), fetched_refs_.end(), ref);
  return it == fetched_refs_.end() ? nullptr : &fetched_[it - fetched_refs_.begin()];
}

void Training::SetMetric(const std::string& name, double value) {
  metrics_[name] = value;
  ++num_updates_[name];
}

int64_t Training::NumUpdates(const std::string& metric) const {
  const auto it = num_updates_.find(metric);
  return it == num_updates_.end() ? 0 : it->second;
}

void Training::Stop(std::string why) {
  if (!stop_) stop_ = std::move(why);
}

void Training::DropStep() {
  if (!dropped_) --step_;
  dropped_ = true;
}

TrainingPlace Training::Place() { return {step_, position_, streams_.Take(session_)}; }

void Training::GoTo(const TrainingPlace& place) {
  streams_.Put(session_, place.random_streams);
  step_ = first_step_ = place.step;
  position_ = place.position;
}

int64_t Training::CountedSteps() {
  const auto found = graph().collections.find("global_step");
  if (found == graph().collections.end() || found->second.empty()) return 0;
  const auto count = Variable<int64_t>::Of(graph(), found->second[0]);
  const Result<std::vector<Tensor>> value =
      penstock::RunStep(session_, {}, {count.Read().ref()}, {});
  // A variable that holds nothing yet is initialized later, or by a checkpoint.
  return value.ok() ? Array<int64_t>((*value)[0])[0] : 0;
}

void Training::RunStep(const StepRequest& request,
                       const std::vector<std::pair<std::string, OutputRef>>& metrics) {
  fetched_refs_ = {loss_.ref()};
  for (const auto& [name, ref] : metrics) fetched_refs_.push_back(ref);
  for (const OutputRef ref : request.fetches) fetched_refs_.push_back(ref);
  RunOptions options = session_.options();
  options.trace |= request.trace;
  trace_.reset();
  if (options.trace) trace_.emplace();
  fetched_ = OrThrow(penstock::RunStep(session_, feeds_, fetched_refs_, {step_operation_.node()},
                                       options, trace_ ? &*trace_ : nullptr));
  loss_value_ = Array<float>(fetched_[0]);
  SetMetric("loss", loss_value_);
  for (size_t i = 0; i < metrics.size(); ++i)
    SetMetric(metrics[i].first, Array<float>(fetched_[i + 1]));
  dropped_ = false;
  ++step_;
}

}  // namespace penstock
