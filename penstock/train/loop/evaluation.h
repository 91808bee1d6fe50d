#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/client/output.h"
#include "penstock/train/loop/hook.h"
#include "penstock/train/loop/training.h"
#include "penstock/train/loss/metric.h"

namespace penstock {

// Measures the model now and then. What it finds is in the run's metrics as "eval/accuracy" and so
// on, until the next time.
struct Evaluation {
  std::function<Metrics(Training&)> measure;  // see OverBatches
  int64_t every_steps = 0;                    // 0: not by steps
  int64_t every_epochs = 1;                   // 0: not by epochs
  bool at_end = true;                         // once more, unless it was just done
  std::string name = "eval";
};
std::unique_ptr<Hook> MakeHook(const Evaluation& settings);

// Means over batches, each weighted with its number of examples:
//
//   Evaluation{.measure = OverBatches(std::move(held_out), {{"accuracy", accuracy}})}
//
// The source is read from its beginning each time.
std::function<Metrics(Training&)> OverBatches(
    std::unique_ptr<FeedSource> source, std::vector<std::pair<std::string, Output<float>>> metrics);
// Metrics that the graph itself adds up (train/loss/metric.h): they are reset first and read at the
// end.
std::function<Metrics(Training&)> OverBatches(
    std::unique_ptr<FeedSource> source, std::vector<std::pair<std::string, Metric<float>>> metrics);

// Ends a run when a metric has not become better for a while.
struct EarlyStop {
  enum class Better { kLower, kHigher };

  std::string metric = "eval/loss";
  Better better = Better::kLower;
  int64_t patience = 3;      // this many values that are no better
  double min_delta = 0;      // less than this is no better
  bool restore_best = true;  // at the end, the variables of the best value
};
std::unique_ptr<Hook> MakeHook(const EarlyStop& settings);

}  // namespace penstock
