#include "penstock/ops/random/parameterized.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "penstock/kernels/random.h"
#include "penstock/ops/dtype_switch.h"

namespace penstock::ops {
namespace {

using kernels::Philox;

// A sample that was refused this often is taken as it is.
constexpr int kMostTries = 1000;
// Where all parameters are scalars, the numbers are drawn in batches of this size.
constexpr int64_t kBatch = 100;

// The numbers of one block, in the precision they are computed in.
template <class V>
constexpr int kPerBlock = sizeof(V) == 8 ? 2 : 4;
template <class T, class V>
void UniformBlock(Philox& stream, V* to) {
  T numbers[4];
  kernels::FillUniform(stream, numbers, kPerBlock<T>, ParallelFor());
  stream.Skip(1);
  std::copy_n(numbers, kPerBlock<T>, to);
}
template <class T, class V>
void NormalBlock(Philox& stream, V* to) {
  T numbers[4];
  kernels::FillNormal(stream, numbers, kPerBlock<T>, ParallelFor());
  stream.Skip(1);
  std::copy_n(numbers, kPerBlock<T>, to);
}

// A normal distribution between bounds, both in units of the deviation from the mean.
template <class T>
class Truncated {
 public:
  using V = ComputeType<T>;
  Truncated(V mean, V deviation, V low, V high) : mean_(mean), deviation_(deviation) {
    // An open end comes last, and a range is above the mean where it can be.
    if ((std::isinf(low) && low < 0) || high < mean) {
      std::swap(low, high);
      deviation_ = -deviation_;
    }
    min_ = (low - mean) / deviation_;
    max_ = (high - mean) / deviation_;
  }

  // By the method that refuses least.
  Status Fill(Philox& stream, std::span<T> out) const {
    constexpr V kWide = V(1.3);
    if ((min_ < -kWide && max_ >= 0) || (max_ > kWide && min_ <= 0)) return ByNormal(stream, out);
    const V root = std::sqrt(min_ * min_ + 4);
    const V cutoff = V(2) * std::exp(V(0.5) + min_ * (min_ - root) / V(4)) / (min_ + root);
    if (max_ - min_ < cutoff) {
      ByUniform(stream, out);
    } else {
      ByExponential(stream, out);
    }
    return OkStatus();
  }

 private:
  T Scaled(V z) const { return T(z * deviation_ + mean_); }

  Status ByNormal(Philox& stream, std::span<T> out) const {
    int tries = 0;
    for (size_t filled = 0; filled < out.size();) {
      V block[4];
      NormalBlock<T>(stream, block);
      for (int i = 0; i < kPerBlock<T> && filled < out.size(); ++i) {
        if (block[i] >= min_ && block[i] <= max_) {
          out[filled++] = Scaled(block[i]);
          tries = 0;
        } else if (++tries > kMostTries) {
          return Internal("no normal number of {} fell between {} and {}", tries, min_, max_);
        }
      }
    }
    return OkStatus();
  }

  void ByUniform(Philox& stream, std::span<T> out) const {
    const V highest = min_ < 0 ? V(0) : min_ * min_;
    int tries = 0;
    for (size_t filled = 0; filled < out.size();) {
      V place[4], chance[4];
      UniformBlock<T>(stream, place);
      UniformBlock<T>(stream, chance);
      for (int i = 0; i < kPerBlock<T> && filled < out.size(); ++i) {
        const V z = place[i] * (max_ - min_) + min_;
        if (chance[i] <= std::exp((highest - z * z) / V(2)) || ++tries >= kMostTries) {
          out[filled++] = Scaled(z);
          tries = 0;
        }
      }
    }
  }

  // From an exponential distribution that begins at the lower bound.
  void ByExponential(Philox& stream, std::span<T> out) const {
    const V alpha = (min_ + std::sqrt(min_ * min_ + 4)) / V(2);
    int tries = 0;
    for (size_t filled = 0; filled < out.size();) {
      V block[4];
      UniformBlock<T>(stream, block);
      for (int i = 0; i + 1 < kPerBlock<T> && filled < out.size(); i += 2) {
        const V z = -std::log(block[i]) / alpha + min_;
        const V x = min_ < alpha ? alpha - z : min_ - alpha;
        if ((block[i + 1] <= std::exp(-x * x / V(2)) && z < max_) || ++tries >= kMostTries) {
          out[filled++] = Scaled(z);
          tries = 0;
        }
      }
    }
  }

  const V mean_;
  V deviation_, min_, max_;
};

}  // namespace

Result<Shape> ParameterizedTruncatedNormal::InferShape(const Integers& shape, const Shape& means,
                                                       const Shape& stdevs, const Shape& minvals,
                                                       const Shape& maxvals) const {
  TRY_ASSIGN(Shape drawn, DrawnShape(shape));
  TRY(CheckRankAtLeast(drawn, 1, "the shape drawn"));
  const std::pair<const Shape*, std::string_view> parameters[] = {
      {&means, "means"}, {&stdevs, "stdevs"}, {&minvals, "minvals"}, {&maxvals, "maxvals"}};
  for (const auto& [parameter, what] : parameters) {
    if (!parameter->has_rank() || parameter->IsScalar()) continue;
    TRY(CheckVector(*parameter, what));
    const int64_t count = (*parameter)[0], rows = drawn.has_rank() ? drawn[0] : -1;
    if (count >= 0 && rows >= 0 && count != 1 && count != rows)
      return InvalidArgument("{} must hold one number or {}, got {}", what, rows, count);
  }
  return drawn;
}

Status ParameterizedTruncatedNormal::Draw(CpuContext& context, NodeStream& node) const {
  Tensor& out = context.output(0);
  const int64_t n = out.num_elements();
  if (n == 0) return OkStatus();
  bool one_for_all = true;
  for (int i = 1; i < 5; ++i) one_for_all &= context.input(i).shape().IsScalar();
  const int64_t per_batch = one_for_all ? std::min(kBatch, n) : n / out.shape()[0];
  const int64_t batches = (n + per_batch - 1) / per_batch;
  TRY_ASSIGN(Philox stream,
             node.ReserveBlocks(context, static_cast<uint64_t>(batches) * 2 * kMostTries *
                                             static_cast<uint64_t>((per_batch + 3) / 4)));
  return ForDType(out.dtype(), Types<float, double, half, bfloat16>(), [&]<class T>() {
    using V = ComputeType<T>;
    const auto at = [&](int input, int64_t batch) {
      const Tensor& values = context.input(input);
      return static_cast<V>(values.data<T>()[values.num_elements() == 1 ? 0 : batch]);
    };
    for (int64_t b = 0; b < batches; ++b) {
      const V mean = at(1, b), deviation = at(2, b), low = at(3, b), high = at(4, b);
      if (!(deviation > 0 && low < high && (std::isfinite(low) || std::isfinite(high))))
        return InvalidArgument(
            "stdevs must be positive and minvals below maxvals, one of them finite, got {}, {}, {}",
            deviation, low, high);
      const int64_t begin = b * per_batch;
      const auto batch = out.mutable_values<T>().subspan(
          static_cast<size_t>(begin), static_cast<size_t>(std::min(per_batch, n - begin)));
      TRY(Truncated<T>(mean, deviation, low, high).Fill(stream, batch));
    }
    return OkStatus();
  });
}

void RegisterParameterizedNormal(Registrar& registrar) {
  registrar.Add<ParameterizedTruncatedNormal>();
}

}  // namespace penstock::ops
