#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/client/output.h"
#include "penstock/train/loop/feeds.h"

// Checks that find out, before hours are spent, whether a model can learn at all. Each leaves the
// variables and the random streams of the session as it found them. They throw when a step fails.

namespace penstock {

struct OverfitOptions {
  int64_t max_steps = 200;
  double fall_to = 0.1;  // of the first loss
};

struct OverfitReport {
  bool passed = false;
  std::vector<float> losses = {};
  // "the loss of one batch fell from 2.3 to 0.2 in 57 steps".
  std::string ToString() const;
};
// Trains on one batch over and over: a model that is put together right learns it by heart.
OverfitReport CheckOverfit(Session& session, Output<float> loss, Operation step,
                           const FeedList& batch, const OverfitOptions& options = {});

struct RateZeroReport {
  bool passed = false;
  std::vector<float> losses = {};
  std::vector<std::string> moved = {};  // trainable variables that changed all the same
  std::string ToString() const;
};
// Trains on one batch with a learning rate of zero, fed in place of `rate`: the loss must not move
// by a bit. Random nodes draw the same numbers in each step.
RateZeroReport CheckRateZero(Session& session, Output<float> loss, Operation step,
                             Output<float> rate, const FeedList& batch, int64_t num_steps = 5);

}  // namespace penstock
