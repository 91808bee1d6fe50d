#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"

// Sound [samples, channels] in [-1, 1) from and to WAV files of 16 bits.

namespace penstock::ops {

// Channels that are wanted and not there repeat the last; samples are zero.
struct DecodeWav {
  static constexpr auto kName = "DecodeWav";
  static constexpr bool kNoGradient = true;
  int64_t desired_channels = -1;
  int64_t desired_samples = -1;
  using Sig =
      Signature<In<"contents", std::string>, Out<"audio", float>, Out<"sample_rate", int32_t>>;
  static constexpr std::tuple kAttrs{Field{"desired_channels", &DecodeWav::desired_channels},
                                     Field{"desired_samples", &DecodeWav::desired_samples}};

  Status CheckAttrs() const;
  Result<std::array<Shape, 2>> InferShape(const Shape& contents) const;
  Status ComputeCpu(CpuContext& context, const Tensor& contents) const;
};

struct EncodeWav {
  static constexpr auto kName = "EncodeWav";
  static constexpr bool kNoGradient = true;
  using Sig =
      Signature<In<"audio", float>, In<"sample_rate", int32_t>, Out<"contents", std::string>>;

  Result<Shape> InferShape(const Shape& audio, const Integers& sample_rate) const;
  Status ComputeCpu(CpuContext& context, const Tensor& audio, const Tensor& sample_rate,
                    Tensor& contents) const;
};

}  // namespace penstock::ops
