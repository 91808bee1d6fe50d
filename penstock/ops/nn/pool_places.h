#pragma once

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/nn/pool_window.h"

// Max pooling that hands its derivative what it found. Made by the compiler where a program has
// both; each keeps the bits of the op that it was.

namespace penstock::ops {

// MaxPool, and of each window the place that the derivative goes to, counted within the window.
struct MaxPoolPlaces {
  static constexpr auto kName = "_MaxPoolPlaces";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 10;
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  using Sig = Signature<In<"input", float>, Out<"output", float>, Out<"places", uint8_t>>;
  static constexpr std::tuple kAttrs{
      Field{"ksize", &MaxPoolPlaces::ksize}.Required().Min(4),
      Field{"strides", &MaxPoolPlaces::strides}.Required().Min(4),
      Field{"padding", &MaxPoolPlaces::padding}.Required().OneOf("SAME|VALID|EXPLICIT"),
      Field{"explicit_paddings", &MaxPoolPlaces::explicit_paddings},
      Field{"data_format", &MaxPoolPlaces::data_format}.OneOf("NHWC|NCHW")};

  PoolWindow window() const { return {2, ksize, strides, padding, explicit_paddings, data_format}; }
  Result<std::array<Shape, 2>> InferShape(const Shape& input) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output, Tensor& places) const;
};

// MaxPoolGrad from these places. Of the input of the pooling it needs the shape alone.
struct MaxPoolPlacesGrad {
  static constexpr auto kName = "_MaxPoolPlacesGrad";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 4;
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  using Sig = Signature<In<"orig_input_shape", int64_t>, In<"places", uint8_t>, In<"grad", float>,
                        Out<"output", float>>;
  static constexpr std::tuple kAttrs{
      Field{"ksize", &MaxPoolPlacesGrad::ksize}.Required().Min(4),
      Field{"strides", &MaxPoolPlacesGrad::strides}.Required().Min(4),
      Field{"padding", &MaxPoolPlacesGrad::padding}.Required().OneOf("SAME|VALID|EXPLICIT"),
      Field{"explicit_paddings", &MaxPoolPlacesGrad::explicit_paddings},
      Field{"data_format", &MaxPoolPlacesGrad::data_format}.OneOf("NHWC|NCHW")};

  PoolWindow window() const { return {2, ksize, strides, padding, explicit_paddings, data_format}; }
  Result<Shape> InferShape(const Integers& orig_input_shape, const Shape& places,
                           const Shape& grad) const;
  Status ComputeCpu(CpuContext& context, const Integers& orig_input_shape, const Tensor& places,
                    const Tensor& grad, Tensor& output) const;
};

}  // namespace penstock::ops
