#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <type_traits>

#include "penstock/kernels/math_gamma.h"
#include "penstock/kernels/math_incomplete.h"
#include "penstock/kernels/math_inverse_erf.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// The gamma function and its relatives, and inverses of the error function, element by element.

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

struct Erfinv {
  static constexpr auto kName = "Erfinv";
  static constexpr double kCost = 200;
  using Sig = UnarySignature<FloatType<"T">>;
  using VectorTypes = Types<>;
  static double Eval(double x) { return math::Erfinv(x); }
  static Expr Gradient(Expr, Expr y, Expr dy) {
    return dy * (Op("Exp", Op("Square", y)) * (std::sqrt(M_PI) / 2));
  }
};

// The inverse of the normal distribution.
struct Ndtri {
  static constexpr auto kName = "Ndtri";
  static constexpr double kCost = 200;
  using Sig = UnarySignature<FloatType<"T">>;
  using VectorTypes = Types<>;
  static double Eval(double x) { return math::Ndtri(x); }
  static Expr Gradient(Expr, Expr y, Expr dy) {
    return dy * (Op("Exp", Op("Square", y) / 2.0) * std::sqrt(2 * M_PI));
  }
};

// The density of the gamma distribution, which is the derivative of Igamma by x.
inline Expr GammaDensity(Expr a, Expr x) {
  return Op("Exp", (a - 1.0) * Op("Log", x) - x - Op("Lgamma", a));
}

struct Igamma {
  static constexpr auto kName = "Igamma";
  static constexpr double kCost = 500;
  using Sig = Signature<In<"a", FloatType<"T">>, In<"x", FloatType<"T">>, Out<"z", FloatType<"T">>>;
  using VectorTypes = Types<>;
  static double Eval(double a, double x) { return math::Igamma(a, x); }
  static std::array<Expr, 2> Gradient(Expr a, Expr x, Expr, Expr dz) {
    return {Op("IgammaGradA", a, x) * dz, GammaDensity(a, x) * dz};
  }
};

struct Igammac {
  static constexpr auto kName = "Igammac";
  static constexpr double kCost = 500;
  using Sig = Signature<In<"a", FloatType<"T">>, In<"x", FloatType<"T">>, Out<"z", FloatType<"T">>>;
  using VectorTypes = Types<>;
  static double Eval(double a, double x) { return math::Igammac(a, x); }
  static std::array<Expr, 2> Gradient(Expr a, Expr x, Expr, Expr dz) {
    return {-Op("IgammaGradA", a, x) * dz, -GammaDensity(a, x) * dz};
  }
};

struct IgammaGradA {
  static constexpr auto kName = "IgammaGradA";
  static constexpr double kCost = 800;
  static constexpr bool kNoGradient = true;
  using T = TypeVar<"T", float, double>;
  using Sig = Signature<In<"a", T>, In<"x", T>, Out<"z", T>>;
  using VectorTypes = Types<>;
  static double Eval(double a, double x) { return math::IgammaGradA(a, x); }
};

struct RandomGammaGrad {
  static constexpr auto kName = "RandomGammaGrad";
  static constexpr double kCost = 800;
  static constexpr bool kNoGradient = true;
  using T = TypeVar<"T", float, double>;
  using Sig = Signature<In<"alpha", T>, In<"sample", T>, Out<"output", T>>;
  using VectorTypes = Types<>;
  static double Eval(double alpha, double sample) { return math::RandomGammaGrad(alpha, sample); }
};

// The incomplete beta function. The operands have one shape, but for scalars.
struct Betainc {
  static constexpr auto kName = "Betainc";
  static constexpr double kCost = 500;
  using T = TypeVar<"T", float, double>;
  using Sig = Signature<In<"a", T>, In<"b", T>, In<"x", T>, Out<"z", T>>;
  using VectorTypes = Types<>;
  static double Eval(double a, double b, double x) { return math::Betainc(a, b, x); }
  Result<Shape> InferShape(const Shape& a, const Shape& b, const Shape& x) const;
  void Gradient(Gradients& g) const;
};

// The number of bits that are set.
struct PopulationCount {
  static constexpr auto kName = "PopulationCount";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"x", IntegerType<"T">>, Out<"y", uint8_t>>;
  using VectorTypes = Types<>;
  template <std::integral V>
  PENSTOCK_SCALAR static uint8_t Eval(V x) {
    return static_cast<uint8_t>(std::popcount(static_cast<std::make_unsigned_t<V>>(x)));
  }
};

using SpecialOps = OpList<Lgamma, Digamma, Polygamma, Zeta, Erfinv, Ndtri, Igamma, Igammac,
                          IgammaGradA, RandomGammaGrad, Betainc, PopulationCount>;

}  // namespace penstock::ops
