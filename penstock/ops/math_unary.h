#pragma once

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/math.h"
#include "penstock/kernels/math_wrap.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// y = f(x), element by element. An op is a struct here and its name in the list at the foot.

namespace penstock {

struct Neg {
  static constexpr auto kName = "Neg";
  using Sig = UnarySignature<TypeVar<"T", bfloat16, half, float, double, int8_t, int16_t, int32_t, int64_t, complex64, complex128>>;
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x) {
    return math::Neg(x);
  }
  static Expr Gradient(Expr, Expr, Expr dy) { return -dy; }
};

struct Exp {
  static constexpr auto kName = "Exp";
  static constexpr double kCost = 8;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x) {
    return math::Exp(x);
  }
  static Expr Gradient(Expr, Expr y, Expr dy) { return dy * Conj(y); }
};

struct Tanh {
  static constexpr auto kName = "Tanh";
  static constexpr double kCost = 8;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x) {
    return math::Tanh(x);
  }
  static Expr Gradient(Expr, Expr y, Expr dy) { return Op("TanhGrad", Conj(y), dy); }
};

using MathUnaryOps = OpList<Neg, Exp, Tanh>;

}  // namespace penstock
