#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/kernels/philox.h"

// Distributions over the classes [0, range), to sample candidates from.

namespace penstock::ops {

// Threads: const methods may be called concurrently; Learn needs the sampler alone.
class RangeSampler {
 public:
  explicit RangeSampler(int64_t range) : range_(range) {}
  virtual ~RangeSampler() = default;

  int64_t range() const { return range_; }
  // In [0, range()).
  virtual int64_t Sample(kernels::PhiloxWords& words) const = 0;
  // 0 outside of the range.
  virtual float Probability(int64_t value) const = 0;
  // Takes in what came up, where the distribution is learnt. Values outside of the range are passed
  // over.
  virtual void Learn(std::span<const int64_t> values) { (void)values; }

 private:
  const int64_t range_;
};

std::unique_ptr<RangeSampler> UniformRangeSampler(int64_t range);
// Probabilities that fall as those of words by rank do.
std::unique_ptr<RangeSampler> LogUniformRangeSampler(int64_t range);
// One more than how often each was learnt. ResourceExhausted when there is no memory for the
// counts.
Result<std::unique_ptr<RangeSampler>> LearnedRangeSampler(int64_t range);
// Given weights. REQUIRES: not empty, with a positive sum.
std::unique_ptr<RangeSampler> WeightedRangeSampler(std::vector<float> weights);

}  // namespace penstock::ops
