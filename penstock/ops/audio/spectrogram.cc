#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "penstock/ops/audio/spectrum.h"

namespace penstock::ops {
namespace {

constexpr int64_t kMaxWindow = int64_t{1} << 28;

int64_t TransformLength(int64_t window) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(window)));
}

// The discrete Fourier transform of a power of two of numbers, in place.
class Transform {
 public:
  using Number = std::complex<double>;

  explicit Transform(int64_t length) : turns_(static_cast<size_t>(length / 2)) {
    for (size_t i = 0; i < turns_.size(); ++i)
      turns_[i] = std::polar(
          1.0, -2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(length));
  }

  void operator()(std::vector<Number>& x) const {
    const size_t n = x.size();
    for (size_t i = 1, j = 0; i < n; ++i) {  // into the order of reversed bits
      size_t bit = n >> 1;
      for (; (j & bit) != 0; bit >>= 1) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(x[i], x[j]);
    }
    for (size_t half = 1; half < n; half *= 2) {
      const size_t step = n / (2 * half);
      for (size_t begin = 0; begin < n; begin += 2 * half) {
        for (size_t k = 0; k < half; ++k) {
          const Number a = x[begin + k], w = turns_[k * step], b = x[begin + k + half];
          const Number turned(b.real() * w.real() - b.imag() * w.imag(),
                              b.real() * w.imag() + b.imag() * w.real());
          x[begin + k] = a + turned;
          x[begin + k + half] = a - turned;
        }
      }
    }
  }

 private:
  std::vector<Number> turns_;
};

}  // namespace

Status AudioSpectrogram::CheckAttrs() const {
  if (window_size < 2 || window_size > kMaxWindow)
    return InvalidArgument("window_size must be in [2, {}], got {}", kMaxWindow, window_size);
  if (stride < 1) return InvalidArgument("stride must be positive, got {}", stride);
  return OkStatus();
}

Result<Shape> AudioSpectrogram::InferShape(const Shape& input) const {
  TRY(CheckRank(input, 2, "input"));
  const int64_t bins = 1 + TransformLength(window_size) / 2;
  if (!input.has_rank()) return Shape{Shape::kUnknownDim, Shape::kUnknownDim, bins};
  int64_t windows = input[0];
  if (windows >= 0) windows = windows < window_size ? 0 : 1 + (windows - window_size) / stride;
  return Shape::Make(std::array<int64_t, 3>{input[1], windows, bins});
}

Status AudioSpectrogram::ComputeCpu(CpuContext& context, const Tensor& input,
                                    Tensor& spectrogram) const {
  if (spectrogram.num_elements() == 0) return OkStatus();
  const int64_t channels = input.shape()[1];
  const int64_t windows = spectrogram.shape()[1], bins = spectrogram.shape()[2];
  const int64_t length = TransformLength(window_size);
  const Transform transform(length);
  std::vector<double> hann(static_cast<size_t>(window_size));
  for (int64_t i = 0; i < window_size; ++i)
    hann[i] = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) /
                                   static_cast<double>(window_size));
  const double cost = static_cast<double>(length) * 60;
  context.parallel()(channels * windows, cost, [&](int64_t begin, int64_t end) {
    std::vector<Transform::Number> numbers(static_cast<size_t>(length));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t channel = i / windows, first = i % windows * stride;
      std::ranges::fill(numbers, 0.0);
      for (int64_t k = 0; k < window_size; ++k)
        numbers[k] = input.data<float>()[(first + k) * channels + channel] * hann[k];
      transform(numbers);
      float* to = spectrogram.mutable_data<float>() + i * bins;
      for (int64_t k = 0; k < bins; ++k) {
        const auto power = static_cast<float>(std::norm(numbers[k]));
        to[k] = magnitude_squared ? power : std::sqrt(power);
      }
    }
  });
  return OkStatus();
}

}  // namespace penstock::ops
