#include "penstock/ops/random/range_sampler.h"

#include <bit>
#include <cmath>
#include <new>
#include <numeric>

#include "penstock/core/checked.h"

namespace penstock::ops {
namespace {

using kernels::PhiloxWords;

class Uniform final : public RangeSampler {
 public:
  using RangeSampler::RangeSampler;
  int64_t Sample(PhiloxWords& words) const override {
    return static_cast<int64_t>(words.Below64(static_cast<uint64_t>(range())));
  }
  float Probability(int64_t value) const override {
    return InRange(value, range()) ? static_cast<float>(1.0 / static_cast<double>(range())) : 0;
  }
};

class LogUniform final : public RangeSampler {
 public:
  explicit LogUniform(int64_t range)
      : RangeSampler(range), log_range_(std::log1p(static_cast<double>(range))) {}
  int64_t Sample(PhiloxWords& words) const override {
    const auto value = static_cast<int64_t>(std::exp(words.NextDouble() * log_range_)) - 1;
    return value % range();  // rounding may have passed the end
  }
  // Of exp(u log_range) - 1 being cut off to it.
  float Probability(int64_t value) const override {
    if (!InRange(value, range())) return 0;
    const auto at = static_cast<double>(value);
    return static_cast<float>(std::log((at + 2) / (at + 1)) / log_range_);
  }

 private:
  const double log_range_;
};

// Counts in a tree of sums (Fenwick's), so that both drawing and learning take log(range) steps.
class Learned final : public RangeSampler {
 public:
  // `sums` has a number more than the range.
  Learned(int64_t range, std::unique_ptr<int64_t[]> sums)
      : RangeSampler(range),
        size_(static_cast<size_t>(range) + 1),
        sums_(std::move(sums)),
        total_(range) {
    sums_[0] = 0;
    for (size_t i = 1; i < size_; ++i) sums_[i] = static_cast<int64_t>(i & (~i + 1));
  }
  // The first value at which the counts up to and including it exceed a uniform number.
  int64_t Sample(PhiloxWords& words) const override {
    int64_t left = words.Below(static_cast<uint32_t>(total_));
    size_t at = 0;
    for (size_t step = std::bit_floor(size_ - 1); step > 0; step /= 2) {
      if (at + step < size_ && sums_[at + step] <= left) {
        at += step;
        left -= sums_[at];
      }
    }
    return static_cast<int64_t>(at);
  }
  float Probability(int64_t value) const override {
    if (!InRange(value, range())) return 0;
    return static_cast<float>(Count(static_cast<size_t>(value))) / static_cast<float>(total_);
  }
  void Learn(std::span<const int64_t> values) override {
    for (const int64_t value : values) {
      // The words that Sample takes reach this far.
      if (!InRange(value, range()) || total_ == UINT32_MAX) continue;
      ++total_;
      for (size_t i = static_cast<size_t>(value) + 1; i < size_; i += i & (~i + 1)) ++sums_[i];
    }
  }

 private:
  int64_t Count(size_t value) const { return SumBelow(value + 1) - SumBelow(value); }
  int64_t SumBelow(size_t end) const {
    int64_t sum = 0;
    for (; end > 0; end &= end - 1) sum += sums_[end];
    return sum;
  }

  const size_t size_;
  const std::unique_ptr<int64_t[]> sums_;  // sums_[i]: of the i & -i counts before i
  int64_t total_;
};

// The alias method: each value shares its slot with at most one other.
class Weighted final : public RangeSampler {
 public:
  explicit Weighted(std::vector<float> weights)
      : RangeSampler(static_cast<int64_t>(weights.size())),
        weights_(std::move(weights)),
        total_(std::accumulate(weights_.begin(), weights_.end(), 0.0f)),
        slots_(weights_.size()) {
    const double sum = std::accumulate(weights_.begin(), weights_.end(), 0.0);
    std::vector<double> share(weights_.size());
    std::vector<size_t> large, small;
    for (size_t i = 0; i < share.size(); ++i) {
      // Multiplied as floats, as whoever compares with TensorFlow needs it.
      share[i] = weights_[i] * static_cast<float>(share.size()) / sum;
      (share[i] < 1 ? small : large).push_back(i);
    }
    while (!large.empty() && !small.empty()) {
      const size_t low = small.back(), high = large.back();
      small.pop_back();
      large.pop_back();
      slots_[low] = {static_cast<float>(share[low]), high};
      share[high] -= 1 - share[low];
      (share[high] < 1 ? small : large).push_back(high);
    }
    for (const auto* rest : {&large, &small})
      for (const size_t i : *rest) slots_[i] = {1.0f, i};
  }
  int64_t Sample(PhiloxWords& words) const override {
    const float share = words.NextFloat();
    const size_t slot = words.Below(static_cast<uint32_t>(slots_.size()));
    return static_cast<int64_t>(share < slots_[slot].first ? slot : slots_[slot].second);
  }
  float Probability(int64_t value) const override {
    return InRange(value, range()) ? weights_[static_cast<size_t>(value)] / total_ : 0;
  }

 private:
  const std::vector<float> weights_;
  const float total_;
  std::vector<std::pair<float, size_t>> slots_;  // its own share of a slot, and who has the rest
};

}  // namespace

std::unique_ptr<RangeSampler> UniformRangeSampler(int64_t range) {
  return std::make_unique<Uniform>(range);
}
std::unique_ptr<RangeSampler> LogUniformRangeSampler(int64_t range) {
  return std::make_unique<LogUniform>(range);
}
Result<std::unique_ptr<RangeSampler>> LearnedRangeSampler(int64_t range) {
  std::unique_ptr<int64_t[]> sums(new (std::nothrow) int64_t[static_cast<size_t>(range) + 1]);
  if (sums == nullptr) return ResourceExhausted("no memory to count {} classes", range);
  return std::unique_ptr<RangeSampler>(std::make_unique<Learned>(range, std::move(sums)));
}
std::unique_ptr<RangeSampler> WeightedRangeSampler(std::vector<float> weights) {
  return std::make_unique<Weighted>(std::move(weights));
}

}  // namespace penstock::ops
