#pragma once

#include <array>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Broadcasting as an op of its own, and what gradients need to undo it.

namespace penstock::ops {

struct BroadcastTo {
  static constexpr auto kName = "BroadcastTo";
  using Sig = Signature<In<"input", AnyType<"T">>, In<"shape", IndexTypeOr32<"Tidx">>,
                        Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input, const Integers& shape) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& shape,
                    Tensor& output) const;
};

// The shape that two shapes, given as vectors, broadcast to.
struct BroadcastArgs {
  static constexpr auto kName = "BroadcastArgs";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Index = IndexTypeOr32<"T">;
  using Sig = Signature<In<"s0", Index>, In<"s1", Index>, Out<"r0", Index>>;

  Result<Shape> InferShape(const Integers& s0, const Integers& s1) const;
  Status ComputeCpu(CpuContext& context, const Integers& s0, const Integers& s1, Tensor& r0) const;
};

// The axes over which the gradient of each of two broadcast operands is summed.
struct BroadcastGradientArgs {
  static constexpr auto kName = "BroadcastGradientArgs";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Index = IndexTypeOr32<"T">;
  using Sig = Signature<In<"s0", Index>, In<"s1", Index>, Out<"r0", Index>, Out<"r1", Index>>;

  Result<std::array<Shape, 2>> InferShape(const Integers& s0, const Integers& s1) const;
  Status ComputeCpu(CpuContext& context, const Integers& s0, const Integers& s1, Tensor& r0,
                    Tensor& r1) const;
};

// Repeats the input along each axis.
struct Tile {
  static constexpr auto kName = "Tile";
  using Sig = Signature<In<"input", AnyType<"T">>, In<"multiples", IndexTypeOr32<"Tmultiples">>,
                        Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input, const Integers& multiples) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& multiples,
                    Tensor& output) const;
};

}  // namespace penstock::ops
