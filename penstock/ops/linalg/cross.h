#pragma once

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

namespace penstock::ops {

// The cross product of vectors of three, the last axis.
struct Cross {
  static constexpr auto kName = "Cross";
  using Sig = Signature<In<"a", RealNumberType<"T">>, In<"b", RealNumberType<"T">>,
                        Out<"product", RealNumberType<"T">>>;

  Result<Shape> InferShape(const Shape& a, const Shape& b) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& a, const Tensor& b, Tensor& product) const;
};

}  // namespace penstock::ops
