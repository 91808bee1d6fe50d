#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/update_lamb.cc"
#include "hwy/foreach_target.h"
//
#include <algorithm>
#include <cmath>
#include <vector>

#include "hwy/highway.h"
#include "penstock/kernels/update_lamb.h"

#ifndef PENSTOCK_KERNELS_UPDATE_LAMB_ONCE_
#define PENSTOCK_KERNELS_UPDATE_LAMB_ONCE_
namespace penstock::kernels {

template <class V>
struct LambNumbers {
  V beta1, beta2, epsilon, decay;
  V unbias1, unbias2;  // of the means, which begin at 0
};
// Sums of squares over one block.
struct LambNorms {
  double weights = 0;
  double step = 0;
};
template <class V>
struct LambPart {
  V *weights, *means, *squares;
  const V* gradient;  // null in the second pass
  int64_t n;
};

}  // namespace penstock::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

template <class V>
HWY_INLINE V StepOf(const LambNumbers<V>& k, V w, V m, V v) {
  return m * k.unbias1 / (std::sqrt(v * k.unbias2) + k.epsilon) + k.decay * w;
}

// Moves the means, and adds up what the norms need in lanes, so that the compiler may use vectors.
template <class V>
LambNorms Measure(const LambNumbers<V>& k, const LambPart<V>& part) {
  constexpr int64_t kLanes = 16;
  V weights[kLanes] = {}, steps[kLanes] = {};
  for (int64_t i = 0; i < part.n; i += kLanes) {
    const int64_t lanes = std::min(kLanes, part.n - i);
    const auto element = [&](int64_t lane) HWY_ATTR {
      const int64_t at = i + lane;
      const V g = part.gradient[at], w = part.weights[at];
      const V m = part.means[at] += (g - part.means[at]) * (1 - k.beta1);
      const V v = part.squares[at] += (g * g - part.squares[at]) * (1 - k.beta2);
      const V step = StepOf(k, w, m, v);
      weights[lane] += w * w;
      steps[lane] += step * step;
    };
    if (lanes == kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) element(lane);
    } else {
      for (int64_t lane = 0; lane < lanes; ++lane) element(lane);
    }
  }
  LambNorms norms;
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    norms.weights += static_cast<double>(weights[lane]);
    norms.step += static_cast<double>(steps[lane]);
  }
  return norms;
}

template <class V>
void Move(const LambNumbers<V>& k, V rate, const LambPart<V>& part) {
  for (int64_t i = 0; i < part.n; ++i)
    part.weights[i] -= rate * StepOf(k, part.weights[i], part.means[i], part.squares[i]);
}

}  // namespace

LambNorms MeasureFloat(const LambNumbers<float>& k, const LambPart<float>& part) {
  return Measure(k, part);
}
LambNorms MeasureDouble(const LambNumbers<double>& k, const LambPart<double>& part) {
  return Measure(k, part);
}
void MoveFloat(const LambNumbers<float>& k, float rate, const LambPart<float>& part) {
  Move(k, rate, part);
}
void MoveDouble(const LambNumbers<double>& k, double rate, const LambPart<double>& part) {
  Move(k, rate, part);
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {
namespace {

HWY_EXPORT(MeasureFloat);
HWY_EXPORT(MeasureDouble);
HWY_EXPORT(MoveFloat);
HWY_EXPORT(MoveDouble);

LambNorms MeasureBlock(const LambNumbers<float>& k, const LambPart<float>& part) {
  return HWY_DYNAMIC_DISPATCH(MeasureFloat)(k, part);
}
LambNorms MeasureBlock(const LambNumbers<double>& k, const LambPart<double>& part) {
  return HWY_DYNAMIC_DISPATCH(MeasureDouble)(k, part);
}
void MoveBlock(const LambNumbers<float>& k, float rate, const LambPart<float>& part) {
  HWY_DYNAMIC_DISPATCH(MoveFloat)(k, rate, part);
}
void MoveBlock(const LambNumbers<double>& k, double rate, const LambPart<double>& part) {
  HWY_DYNAMIC_DISPATCH(MoveDouble)(k, rate, part);
}

constexpr int64_t kBlock = 4096;
constexpr double kCost = 10;  // cycles an element

template <class V>
void UpdateOf(const Update& update, int64_t n, const ParallelFor& each) {
  const auto& values = update.parameters.values;
  const auto at = [&](size_t i) { return static_cast<V>(values[i]); };
  const LambNumbers<V> k{at(3), at(4), at(5), at(6), 1 / (1 - at(0)), 1 / (1 - at(1))};
  const auto part_of = [&](int64_t block) {
    const int64_t begin = block * kBlock;
    const auto slot = [&](size_t i) { return static_cast<V*>(update.slots[i]) + begin; };
    return LambPart<V>{slot(0), slot(1), slot(2), static_cast<const V*>(update.gradient) + begin,
                       std::min(kBlock, n - begin)};
  };
  const int64_t blocks = (n + kBlock - 1) / kBlock;
  std::vector<LambNorms> norms(static_cast<size_t>(blocks));
  each(blocks, kCost * kBlock, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      norms[static_cast<size_t>(i)] = MeasureBlock(k, part_of(i));
  });
  LambNorms sum;  // in the order of the blocks, whoever made them
  for (const LambNorms& block : norms) {
    sum.weights += block.weights;
    sum.step += block.step;
  }
  double ratio = 1;
  if (update.parameters.flag && sum.weights > 0 && sum.step > 0)
    ratio = std::sqrt(sum.weights) / std::sqrt(sum.step);
  const V rate = static_cast<V>(values[2] * ratio);
  each(blocks, kCost * kBlock, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) MoveBlock(k, rate, part_of(i));
  });
}

}  // namespace

void UpdateLamb(const Update& update, int64_t n, const ParallelFor& each) {
  if (update.dtype == DType::kDouble) return UpdateOf<double>(update, n, each);
  UpdateOf<float>(update, n, each);
}

}  // namespace penstock::kernels
#endif
