#pragma once

#include <cmath>
#include <concepts>

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/math.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// y = f(x), element by element: exponentials, logarithms, trigonometry. Those of float are
// vectorised where kernels/math.h has a form of its own; the others call the standard library.

namespace penstock::ops {

struct Exp {
  static constexpr auto kName = "Exp";
  static constexpr double kCost = 8;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Exp(x); }
  static Expr Gradient(Expr, Expr y, Expr dy) { return dy * Conj(y); }
};

struct Expm1 {
  static constexpr auto kName = "Expm1";
  static constexpr double kCost = 8;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Expm1(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) { return dy * Op("Exp", Conj(x)); }
};

struct Log {
  static constexpr auto kName = "Log";
  static constexpr double kCost = 8;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Log(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) { return dy * Op("Reciprocal", Conj(x)); }
};

struct Log1p {
  static constexpr auto kName = "Log1p";
  static constexpr double kCost = 8;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Log1p(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) { return dy * Op("Reciprocal", 1.0 + Conj(x)); }
};

struct Sigmoid {
  static constexpr auto kName = "Sigmoid";
  static constexpr double kCost = 10;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Sigmoid(x); }
  static Expr Gradient(Expr, Expr y, Expr dy) { return Op("SigmoidGrad", Conj(y), dy); }
};

struct Tanh {
  static constexpr auto kName = "Tanh";
  static constexpr double kCost = 10;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Tanh(x); }
  static Expr Gradient(Expr, Expr y, Expr dy) { return Op("TanhGrad", Conj(y), dy); }
};

struct Sinh {
  static constexpr auto kName = "Sinh";
  static constexpr double kCost = 10;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Sinh(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) { return dy * Op("Cosh", Conj(x)); }
};

struct Cosh {
  static constexpr auto kName = "Cosh";
  static constexpr double kCost = 10;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Cosh(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) { return dy * Op("Sinh", Conj(x)); }
};

struct Asinh {
  static constexpr auto kName = "Asinh";
  static constexpr double kCost = 40;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Asinh(x); }
  static Expr Gradient(Expr, Expr y, Expr dy) { return dy / Op("Cosh", Conj(y)); }
};

struct Acosh {
  static constexpr auto kName = "Acosh";
  static constexpr double kCost = 40;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Acosh(x); }
  static Expr Gradient(Expr, Expr y, Expr dy) { return dy / Op("Sinh", Conj(y)); }
};

struct Atanh {
  static constexpr auto kName = "Atanh";
  static constexpr double kCost = 12;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Atanh(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) {
    return dy * Op("Reciprocal", 1.0 - Op("Square", Conj(x)));
  }
};

// Float angles beyond the reach of the vectorised form go to the library.
struct Sin {
  static constexpr auto kName = "Sin";
  static constexpr double kCost = 8;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Sin(x); }
  PENSTOCK_SCALAR static float Eval(float x) { return math::FastSin(x); }
  PENSTOCK_SCALAR static bool IsHard(std::same_as<float> auto x) { return !math::IsFastAngle(x); }
  PENSTOCK_SCALAR static float EvalHard(float x) { return std::sin(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) { return dy * Op("Cos", Conj(x)); }
};

struct Cos {
  static constexpr auto kName = "Cos";
  static constexpr double kCost = 8;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Cos(x); }
  PENSTOCK_SCALAR static float Eval(float x) { return math::FastCos(x); }
  PENSTOCK_SCALAR static bool IsHard(std::same_as<float> auto x) { return !math::IsFastAngle(x); }
  PENSTOCK_SCALAR static float EvalHard(float x) { return std::cos(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) { return -dy * Op("Sin", Conj(x)); }
};

struct Tan {
  static constexpr auto kName = "Tan";
  static constexpr double kCost = 40;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Tan(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) {
    return Op("Square", Op("Reciprocal", Op("Cos", Conj(x)))) * dy;
  }
};

struct Asin {
  static constexpr auto kName = "Asin";
  static constexpr double kCost = 40;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Asin(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) {
    return dy * Op("Reciprocal", Op("Sqrt", 1.0 - Op("Square", Conj(x))));
  }
};

struct Acos {
  static constexpr auto kName = "Acos";
  static constexpr double kCost = 40;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Acos(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) {
    return -dy * Op("Reciprocal", Op("Sqrt", 1.0 - Op("Square", Conj(x))));
  }
};

struct Atan {
  static constexpr auto kName = "Atan";
  static constexpr double kCost = 40;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  using VectorTypes = Types<>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Atan(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) {
    return dy * Op("Reciprocal", 1.0 + Op("Square", Conj(x)));
  }
};

struct Erf {
  static constexpr auto kName = "Erf";
  static constexpr double kCost = 10;
  using Sig = UnarySignature<FloatType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Erf(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) {
    return dy * M_2_SQRTPI * Op("Exp", -Op("Square", x));
  }
};

struct Erfc {
  static constexpr auto kName = "Erfc";
  static constexpr double kCost = 40;
  using Sig = UnarySignature<FloatType<"T">>;
  using VectorTypes = Types<>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Erfc(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) {
    return dy * -M_2_SQRTPI * Op("Exp", -Op("Square", x));
  }
};

using MathFunctionOps = OpList<Exp, Expm1, Log, Log1p, Sigmoid, Tanh, Sinh, Cosh, Asinh, Acosh,
                               Atanh, Sin, Cos, Tan, Asin, Acos, Atan, Erf, Erfc>;

}  // namespace penstock::ops
