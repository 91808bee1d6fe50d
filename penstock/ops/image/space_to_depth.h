#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Blocks of block_size x block_size pixels become one pixel of as many times the channels, and
// back.

namespace penstock::ops {

struct SpaceToDepth {
  static constexpr auto kName = "SpaceToDepth";
  int64_t block_size = 0;
  std::string data_format = "NHWC";
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"block_size", &SpaceToDepth::block_size}.Required().Min(2),
      Field{"data_format", &SpaceToDepth::data_format}.OneOf("NHWC|NCHW|NCHW_VECT_C")};

  Result<Shape> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

struct DepthToSpace {
  static constexpr auto kName = "DepthToSpace";
  int64_t block_size = 0;
  std::string data_format = "NHWC";
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"block_size", &DepthToSpace::block_size}.Required().Min(2),
      Field{"data_format", &DepthToSpace::data_format}.OneOf("NHWC|NCHW|NCHW_VECT_C")};

  Result<Shape> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

}  // namespace penstock::ops
