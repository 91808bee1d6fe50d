#pragma once

#include <array>

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/math.h"
#include "penstock/kernels/math_wrap.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// z = f(x, y), element by element with broadcasting.

namespace penstock {

struct AddV2 {
  static constexpr auto kName = "AddV2";
  static constexpr bool kCommutative = true;
  static constexpr bool kAggregate = true;
  using Sig = BinarySignature<TypeVar<"T", bfloat16, half, float, double, uint8_t, uint16_t, uint32_t, uint64_t, int8_t, int16_t,
                                      int32_t, int64_t, complex64, complex128>>;
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x, V y) {
    return math::Add(x, y);
  }
  static std::array<Expr, 2> Gradient(Expr, Expr, Expr, Expr dz) { return {dz, dz}; }
};

struct Mul {
  static constexpr auto kName = "Mul";
  static constexpr bool kCommutative = true;
  using Sig = BinarySignature<TypeVar<"T", bfloat16, half, float, double, uint8_t, int8_t, uint16_t, int16_t, int32_t, uint32_t,
                                      uint64_t, int64_t, complex64, complex128>>;
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x, V y) {
    return math::Mul(x, y);
  }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr, Expr dz) { return {dz * Conj(y), dz * Conj(x)}; }
};

using MathBinaryOps = OpList<AddV2, Mul>;

}  // namespace penstock
