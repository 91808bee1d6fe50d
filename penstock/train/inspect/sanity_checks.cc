#include "penstock/train/inspect/sanity_checks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "penstock/client/error.h"
#include "penstock/train/loop/snapshot.h"

namespace penstock {
namespace {

// Puts everything back when it goes.
class StateGuard {
 public:
  StateGuard(Graph& graph, Session& session)
      : session_(session), snapshot_(graph, AllVariables(graph)) {
    snapshot_.Take(session);
  }
  // A session that refuses to run cannot be put back; what it failed with is on its way already.
  ~StateGuard() {
    try {
      snapshot_.Put(session_, /*with_streams=*/true);
    } catch (const Error&) {
    }
  }
  StateGuard(const StateGuard&) = delete;
  StateGuard& operator=(const StateGuard&) = delete;

 private:
  Session& session_;
  Snapshot snapshot_;
};

float LossOfStep(Session& session, Output<float> loss, Operation step, const FeedList& batch) {
  return Array<float>(OrThrow(RunStep(session, batch, {loss.ref()}, {step.node()}))[0]);
}

bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

FeedList WithZero(const FeedList& batch, const Output<float>& rate) {
  FeedList feeds;
  for (const Feed& feed : batch)
    if (feed.output() != rate.ref()) feeds.push_back(feed);
  feeds.push_back({rate, 0.f});
  return feeds;
}

}  // namespace

OverfitReport CheckOverfit(Session& session, Output<float> loss, Operation step,
                           const FeedList& batch, const OverfitOptions& options) {
  const StateGuard guard(loss.graph(), session);
  OverfitReport report;
  for (int64_t i = 0; i < options.max_steps && !report.passed; ++i) {
    report.losses.push_back(LossOfStep(session, loss, step, batch));
    const double first = report.losses.front(), last = report.losses.back();
    if (!std::isfinite(last)) break;
    report.passed = i > 0 && last <= options.fall_to * first;
  }
  return report;
}

std::string OverfitReport::ToString() const {
  if (losses.empty()) return "no step was done";
  return Format("the loss of one batch {} from {} to {} in {} steps",
                passed                            ? "fell"
                : losses.back() >= losses.front() ? "did not fall, but went"
                : std::isfinite(losses.back())    ? "fell too little,"
                                                  : "went",
                losses.front(), losses.back(), losses.size());
}

RateZeroReport CheckRateZero(Session& session, Output<float> loss, Operation step,
                             Output<float> rate, const FeedList& batch, int64_t num_steps) {
  Graph& graph = loss.graph();
  const StateGuard guard(graph, session);
  const FeedList feeds = WithZero(batch, rate);
  const RandomStreamState streams(graph);
  Snapshot before(graph, TrainableVariables(graph)), after(graph, TrainableVariables(graph));
  // Streams that no step has drawn from yet have no place to go back to.
  LossOfStep(session, loss, step, feeds);
  before.Take(session);
  const std::string place = streams.Take(session);
  RateZeroReport report;
  for (int64_t i = 0; i < num_steps; ++i) {
    streams.Put(session, place);
    report.losses.push_back(LossOfStep(session, loss, step, feeds));
  }
  after.Take(session);
  for (size_t i = 0; i < before.values().size(); ++i)
    if (!SameBytes(before.values()[i], after.values()[i]))
      report.moved.push_back(before.variables()[i].name);
  const bool same = std::all_of(report.losses.begin(), report.losses.end(),
                                [&](float value) { return value == report.losses[0]; });
  report.passed = same && report.moved.empty();
  return report;
}

std::string RateZeroReport::ToString() const {
  if (passed) return Format("at rate zero the loss stays {}", losses.empty() ? 0 : losses[0]);
  std::string text = "at rate zero";
  if (!losses.empty() && losses.front() != losses.back())
    text += Format(" the loss moves from {} to {}", losses.front(), losses.back());
  if (!moved.empty()) text += " these variables change:";
  for (const std::string& name : moved) text += " " + name;
  return text;
}

}  // namespace penstock
