#pragma once

#include <array>

#include "penstock/kernels/math_gamma.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// The gamma function and its relatives, element by element.

namespace penstock::ops {

struct Lgamma {
  static constexpr auto kName = "Lgamma";
  static constexpr double kCost = 60;
  using Sig = UnarySignature<FloatType<"T">>;
  using VectorTypes = Types<>;
  static double Eval(double x) { return math::Lgamma(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) { return dy * Op("Digamma", x); }
};

struct Digamma {
  static constexpr auto kName = "Digamma";
  static constexpr double kCost = 100;
  using Sig = UnarySignature<FloatType<"T">>;
  using VectorTypes = Types<>;
  static double Eval(double x) { return math::Digamma(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) {
    return dy * Op("Polygamma", x.scope().Like(x, 1), x);
  }
};

// The a-th derivative of Digamma.
struct Polygamma {
  static constexpr auto kName = "Polygamma";
  static constexpr double kCost = 400;
  using T = TypeVar<"T", float, double>;
  using Sig = Signature<In<"a", T>, In<"x", T>, Out<"z", T>>;
  using VectorTypes = Types<>;
  static double Eval(double a, double x) { return math::Polygamma(a, x); }
  static std::array<Expr, 2> Gradient(Expr a, Expr x, Expr, Expr dz) {
    return {Expr(), Op("Polygamma", a + 1.0, x) * dz};
  }
};

struct Zeta {
  static constexpr auto kName = "Zeta";
  static constexpr double kCost = 400;
  using T = TypeVar<"T", float, double>;
  using Sig = Signature<In<"x", T>, In<"q", T>, Out<"z", T>>;
  using VectorTypes = Types<>;
  static double Eval(double x, double q) { return math::Zeta(x, q); }
  static std::array<Expr, 2> Gradient(Expr x, Expr q, Expr, Expr dz) {
    return {Expr(), -x * Op("Zeta", x + 1.0, q) * dz};
  }
};

using SpecialOps = OpList<Lgamma, Digamma, Polygamma, Zeta>;

}  // namespace penstock::ops
