#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Blocks of space moved into the batch, and back. Element o of each block of axis k goes to its own
// part of the batch; the axes beyond the blocks stay as they are.

namespace penstock::ops {

// Space [batch, space..., rest...] padded with zeros -> [blocks * batch, space / block...,
// rest...].
struct SpaceToBatchND {
  static constexpr auto kName = "SpaceToBatchND";
  using Sig = Signature<In<"input", AnyType<"T">>, In<"block_shape", IndexTypeOr32<"Tblock_shape">>,
                        In<"paddings", IndexTypeOr32<"Tpaddings">>, Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input, const Integers& block_shape,
                           const Integers& paddings) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& block_shape,
                    const Integers& paddings, Tensor& output) const;
};

// The inverse, with `crops` cut off space.
struct BatchToSpaceND {
  static constexpr auto kName = "BatchToSpaceND";
  using Sig = Signature<In<"input", AnyType<"T">>, In<"block_shape", IndexTypeOr32<"Tblock_shape">>,
                        In<"crops", IndexTypeOr32<"Tcrops">>, Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input, const Integers& block_shape,
                           const Integers& crops) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& block_shape,
                    const Integers& crops, Tensor& output) const;
};

// The same for images [batch, height, width, depth] and square blocks.
struct SpaceToBatch {
  static constexpr auto kName = "SpaceToBatch";
  int64_t block_size = 2;
  using Sig = Signature<In<"input", AnyType<"T">>, In<"paddings", IndexTypeOr32<"Tpaddings">>,
                        Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"block_size", &SpaceToBatch::block_size}.Required().Min(2)};

  Result<Shape> InferShape(const Shape& input, const Integers& paddings) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& paddings,
                    Tensor& output) const;
};

struct BatchToSpace {
  static constexpr auto kName = "BatchToSpace";
  int64_t block_size = 2;
  using Sig = Signature<In<"input", AnyType<"T">>, In<"crops", IndexTypeOr32<"Tidx">>,
                        Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"block_size", &BatchToSpace::block_size}.Required().Min(2)};

  Result<Shape> InferShape(const Shape& input, const Integers& crops) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& crops,
                    Tensor& output) const;
};

}  // namespace penstock::ops
