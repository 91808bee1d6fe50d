#pragma once

#include <cmath>

#include "penstock/kernels/math_bessel.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// Bessel functions of order 0 and 1, element by element: J and Y, and the modified I and K, these
// also scaled by exp(-|x|) and exp(x).

namespace penstock::ops {

namespace bessel_internal {

// `elsewhere`, but 1/2 at 0: the derivative of J1 and I1, whose formula divides by x.
inline Expr HalfAtZero(Expr x, Expr elsewhere) {
  const Expr zero = x.scope().Like(x, 0);
  return Op("SelectV2", Op("Equal", x, zero), x.scope().Like(x, 0.5), elsewhere);
}

}  // namespace bessel_internal

#define PENSTOCK_BESSEL(Name, Function, Derivative)                                   \
  struct Name {                                                                       \
    static constexpr auto kName = #Name;                                              \
    static constexpr double kCost = 200;                                              \
    using Sig = UnarySignature<FloatType<"T">>;                                       \
    using VectorTypes = Types<>;                                                      \
    static double Eval(double x) { return Function(x); }                              \
    static Expr Gradient([[maybe_unused]] Expr x, [[maybe_unused]] Expr y, Expr dy) { \
      return dy * (Derivative);                                                       \
    }                                                                                 \
  };

PENSTOCK_BESSEL(BesselJ0, ::j0, -Op("BesselJ1", x))
PENSTOCK_BESSEL(BesselJ1, ::j1, bessel_internal::HalfAtZero(x, Op("BesselJ0", x) - y / x))
PENSTOCK_BESSEL(BesselY0, math::BesselY0, -Op("BesselY1", x))
PENSTOCK_BESSEL(BesselY1, math::BesselY1, Op("BesselY0", x) - y / x)
PENSTOCK_BESSEL(BesselI0, math::BesselI0, Op("BesselI1", x))
PENSTOCK_BESSEL(BesselI1, math::BesselI1, bessel_internal::HalfAtZero(x, Op("BesselI0", x) - y / x))
PENSTOCK_BESSEL(BesselI0e, math::BesselI0e, Op("BesselI1e", x) - Op("Sign", x) * y)
PENSTOCK_BESSEL(BesselI1e, math::BesselI1e,
                bessel_internal::HalfAtZero(x, Op("BesselI0e", x) -
                                                   y * (Op("Sign", x) + Op("Reciprocal", x))))
PENSTOCK_BESSEL(BesselK0, math::BesselK0, -Op("BesselK1", x))
PENSTOCK_BESSEL(BesselK1, math::BesselK1, -Op("BesselK0", x) - y / x)
PENSTOCK_BESSEL(BesselK0e, math::BesselK0e, y - Op("BesselK1e", x))
PENSTOCK_BESSEL(BesselK1e, math::BesselK1e, y*(1.0 - Op("Reciprocal", x)) - Op("BesselK0e", x))
#undef PENSTOCK_BESSEL

using BesselOps = OpList<BesselJ0, BesselJ1, BesselY0, BesselY1, BesselI0, BesselI1, BesselI0e,
                         BesselI1e, BesselK0, BesselK1, BesselK0e, BesselK1e>;

}  // namespace penstock::ops
