#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"

// What frequencies sound is made of.

namespace penstock::ops {

// The magnitudes of the spectrum of each window of window_size samples, `stride` apart, under a
// periodic Hann window: [channels, windows, frequencies], up to half of the sample rate.
struct AudioSpectrogram {
  static constexpr auto kName = "AudioSpectrogram";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 100;
  int64_t window_size = 0;
  int64_t stride = 0;
  bool magnitude_squared = false;
  using Sig = Signature<In<"input", float>, Out<"spectrogram", float>>;
  static constexpr std::tuple kAttrs{
      Field{"window_size", &AudioSpectrogram::window_size}.Required(),
      Field{"stride", &AudioSpectrogram::stride}.Required(),
      Field{"magnitude_squared", &AudioSpectrogram::magnitude_squared}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& input) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& spectrogram) const;
};

// Mel-frequency cepstral coefficients of squared spectra: the cosine transform of the logarithms of
// bands that are of equal width to the ear.
struct Mfcc {
  static constexpr auto kName = "Mfcc";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 100;
  float upper_frequency_limit = 4000;
  float lower_frequency_limit = 20;
  int64_t filterbank_channel_count = 40;
  int64_t dct_coefficient_count = 13;
  using Sig = Signature<In<"spectrogram", float>, In<"sample_rate", int32_t>, Out<"output", float>>;
  static constexpr std::tuple kAttrs{
      Field{"upper_frequency_limit", &Mfcc::upper_frequency_limit},
      Field{"lower_frequency_limit", &Mfcc::lower_frequency_limit},
      Field{"filterbank_channel_count", &Mfcc::filterbank_channel_count},
      Field{"dct_coefficient_count", &Mfcc::dct_coefficient_count}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& spectrogram, const Integers& sample_rate) const;
  Status ComputeCpu(CpuContext& context, const Tensor& spectrogram, const Tensor& sample_rate,
                    Tensor& output) const;
};

}  // namespace penstock::ops
