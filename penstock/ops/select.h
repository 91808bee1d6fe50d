#pragma once

#include <memory>

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/math_rounding.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// Of two tensors, the element that a condition names; and values kept within bounds.

namespace penstock::ops {

template <class T>
using SelectSignature = Signature<In<"condition", bool>, In<"t", T>, In<"e", T>, Out<"output", T>>;

// With broadcasting.
struct SelectV2 {
  static constexpr auto kName = "SelectV2";
  static constexpr bool kByBits = true;
  using Sig = SelectSignature<AnyType<"T">>;
  using CpuTypes = PlainTypes;
  PENSTOCK_SCALAR static auto Eval(bool condition, auto t, auto e) {
    return math::Select(condition, t, e);
  }
  void Gradient(Gradients& g) const;
  static Result<std::unique_ptr<Kernel>> OtherCpuKernel(const ElementwiseTable&,
                                                        const KernelRequest& request);
};

// Without: t and e have the same shape, and the condition has it too, or is a scalar, or a vector
// that chooses among their rows.
struct Select {
  static constexpr auto kName = "Select";
  using Sig = SelectSignature<AnyType<"T">>;
  Result<Shape> InferShape(const Shape& condition, const Shape& t, const Shape& e) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& condition, const Tensor& t, const Tensor& e,
                    Tensor& output) const;
};

// max(min(t, clip_value_max), clip_value_min); each bound has the shape of t or is a scalar.
struct ClipByValue {
  static constexpr auto kName = "ClipByValue";
  static constexpr double kCost = 2;
  using T = NumberType<"T">;
  using Sig =
      Signature<In<"t", T>, In<"clip_value_min", T>, In<"clip_value_max", T>, Out<"output", T>>;
  using CpuTypes = RealTypes;
  using VectorTypes = Types<float, double, int32_t, int64_t>;
  PENSTOCK_SCALAR static auto Eval(auto t, auto least, auto most) {
    const auto below = math::Select(t > most, most, t);
    return math::Select(below < least, least, below);
  }
  Result<Shape> InferShape(const Shape& t, const Shape& least, const Shape& most) const;
  void Gradient(Gradients& g) const;
};

using SelectOps = OpList<SelectV2, ClipByValue>;

}  // namespace penstock::ops
