#pragma once

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

namespace penstock::ops {

// Moves the elements along axes by `shift` places; what goes beyond the end comes back at the
// beginning. An axis may be named several times.
struct Roll {
  static constexpr auto kName = "Roll";
  using Sig = Signature<In<"input", AnyType<"T">>, In<"shift", IndexType<"Tshift">>,
                        In<"axis", IndexType<"Taxis">>, Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input, const Integers& shift, const Integers& axis) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& shift,
                    const Integers& axis, Tensor& output) const;
};

}  // namespace penstock::ops
