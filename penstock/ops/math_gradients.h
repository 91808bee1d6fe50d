#pragma once

#include <array>
#include <complex>

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/math.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// z = dy times the derivative of a function, written in terms of the function's output y.

namespace penstock::ops {

template <class T>
using OutputDerivative = Signature<In<"y", T>, In<"dy", T>, Out<"z", T>>;

// Conjugates what is complex.
template <class T>
PENSTOCK_SCALAR T Conjugated(T x) {
  if constexpr (math::Complex<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}

struct TanhGrad {
  static constexpr auto kName = "TanhGrad";
  static constexpr bool kSameShapes = true;
  using Sig = OutputDerivative<FloatOrComplexType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto y, auto dy) { return dy * (decltype(y)(1) - y * y); }
  static std::array<Expr, 2> Gradient(Expr y, Expr dy, Expr, Expr dz) {
    const Expr a = Conj(y);
    return {dz * -2.0 * Conj(dy) * a, Op("TanhGrad", a, dz)};
  }
};

struct SigmoidGrad {
  static constexpr auto kName = "SigmoidGrad";
  static constexpr bool kSameShapes = true;
  using Sig = OutputDerivative<FloatOrComplexType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto y, auto dy) { return dy * y * (decltype(y)(1) - y); }
  static std::array<Expr, 2> Gradient(Expr y, Expr dy, Expr, Expr dz) {
    const Expr a = Conj(y), product = dz * Conj(dy);
    return {product - 2.0 * product * a, Op("SigmoidGrad", a, dz)};
  }
};

// 0 where dy is 0, even if y is 0.
struct SqrtGrad {
  static constexpr auto kName = "SqrtGrad";
  static constexpr double kCost = 3;
  static constexpr bool kSameShapes = true;
  using Sig = OutputDerivative<FloatOrComplexType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto y, auto dy) {
    using T = decltype(y);
    return math::Select(dy == T(0), T(0), T(T(0.5f) * dy / Conjugated(y)));
  }
  static std::array<Expr, 2> Gradient(Expr y, Expr, Expr z, Expr dz) {
    const Expr quotient = dz / y;
    return {-Conj(quotient) * z, 0.5 * quotient};
  }
};

struct RsqrtGrad {
  static constexpr auto kName = "RsqrtGrad";
  static constexpr bool kSameShapes = true;
  using Sig = OutputDerivative<FloatOrComplexType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto y, auto dy) {
    using T = decltype(y);
    const T conjugate = Conjugated(y);
    const T cube = (dy * conjugate) * (conjugate * conjugate);
    return math::Select(dy == T(0), T(0), T(T(-0.5f) * cube));
  }
  static std::array<Expr, 2> Gradient(Expr y, Expr dy, Expr, Expr dz) {
    const Expr a = Conj(y);
    return {-1.5 * Conj(dz) * dy * Op("Square", a), Op("RsqrtGrad", a, dz)};
  }
};

struct ReciprocalGrad {
  static constexpr auto kName = "ReciprocalGrad";
  static constexpr bool kSameShapes = true;
  using Sig = OutputDerivative<FloatOrComplexType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto y, auto dy) {
    const auto conjugate = Conjugated(y);
    return -conjugate * dy * conjugate;
  }
  static std::array<Expr, 2> Gradient(Expr y, Expr dy, Expr, Expr dz) {
    const Expr a = Conj(y);
    return {Conj(dz) * -2.0 * dy * a, Op("ReciprocalGrad", a, dz)};
  }
};

// The old name of ReciprocalGrad.
struct InvGrad {
  static constexpr auto kName = "InvGrad";
  static constexpr bool kSameShapes = true;
  using Sig = OutputDerivative<FloatOrComplexType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto y, auto dy) { return ReciprocalGrad::Eval(y, dy); }
  static std::array<Expr, 2> Gradient(Expr y, Expr dy, Expr z, Expr dz) {
    return ReciprocalGrad::Gradient(y, dy, z, dz);
  }
};

using MathGradientOps = OpList<TanhGrad, SigmoidGrad, SqrtGrad, RsqrtGrad, ReciprocalGrad, InvGrad>;

}  // namespace penstock::ops
