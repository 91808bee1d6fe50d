#pragma once

#include <cmath>
#include <concepts>

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/math.h"
#include "penstock/kernels/math_wrap.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// y = f(x), element by element: arithmetic, rounding, tests. An op is a struct here and its name in
// the list at the foot.

namespace penstock::ops {

struct Abs {
  static constexpr auto kName = "Abs";
  using Sig = UnarySignature<
      TypeVar<"T", bfloat16, half, float, double, int8_t, int16_t, int32_t, int64_t>>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Abs(x); }
  static Expr Gradient(Expr x, Expr, Expr dy) { return dy * Op("Sign", x); }
};

struct Neg {
  static constexpr auto kName = "Neg";
  using Sig = UnarySignature<SignedNumberType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Neg(x); }
  static Expr Gradient(Expr, Expr, Expr dy) { return -dy; }
};

struct Sign {
  static constexpr auto kName = "Sign";
  using Sig = UnarySignature<SignedNumberType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Sign(x); }
  static Expr Gradient(Expr x, Expr, Expr) { return Op("ZerosLike", x); }
};

struct Square {
  static constexpr auto kName = "Square";
  static constexpr bool kIgnoresSign = true;
  using Sig =
      UnarySignature<TypeVar<"T", bfloat16, half, float, double, int8_t, int16_t, int32_t, int64_t,
                             uint8_t, uint16_t, uint32_t, uint64_t, complex64, complex128>>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Mul(x, x); }
  static Expr Gradient(Expr x, Expr, Expr dy) { return dy * (Conj(x) * 2.0); }
};

struct Sqrt {
  static constexpr auto kName = "Sqrt";
  static constexpr double kCost = 3;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Sqrt(x); }
  static Expr Gradient(Expr, Expr y, Expr dy) { return Op("SqrtGrad", y, dy); }
};

struct Rsqrt {
  static constexpr auto kName = "Rsqrt";
  static constexpr double kCost = 4;
  using Sig = UnarySignature<FloatOrComplexType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Rsqrt(x); }
  static Expr Gradient(Expr, Expr y, Expr dy) { return Op("RsqrtGrad", y, dy); }
};

struct Reciprocal {
  static constexpr auto kName = "Reciprocal";
  static constexpr double kCost = 2;
  using Sig = UnarySignature<SignedNumberType<"T">>;
  using CpuTypes = Types<bfloat16, half, float, double, complex64, complex128>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return decltype(x)(1) / x; }
  static Expr Gradient(Expr, Expr y, Expr dy) { return Op("ReciprocalGrad", y, dy); }
};

// The old name of Reciprocal.
struct Inv {
  static constexpr auto kName = "Inv";
  static constexpr double kCost = 2;
  using Sig = UnarySignature<SignedNumberType<"T">>;
  using CpuTypes = Reciprocal::CpuTypes;
  PENSTOCK_SCALAR static auto Eval(auto x) { return decltype(x)(1) / x; }
  static Expr Gradient(Expr, Expr y, Expr dy) { return Op("ReciprocalGrad", y, dy); }
};

struct Floor {
  static constexpr auto kName = "Floor";
  static constexpr bool kNoGradient = true;
  using Sig = UnarySignature<FloatType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Floor(x); }
};

struct Ceil {
  static constexpr auto kName = "Ceil";
  static constexpr bool kNoGradient = true;
  using Sig = UnarySignature<FloatType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Ceil(x); }
};

struct Rint {
  static constexpr auto kName = "Rint";
  static constexpr bool kNoGradient = true;
  using Sig = UnarySignature<FloatType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Rint(x); }
};

// Halves go to the even neighbour. Integers give 0, which is no rounding but what TensorFlow's
// kernel answers: the recorded cases hold us to it.
struct Round {
  static constexpr auto kName = "Round";
  static constexpr bool kNoGradient = true;
  using Sig = UnarySignature<SignedNumberType<"T">>;
  using CpuTypes = Types<bfloat16, half, float, double, int8_t, int16_t, int32_t, int64_t>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return math::Round(x); }
  PENSTOCK_SCALAR static auto Eval(std::integral auto x) { return decltype(x)(0); }
};

struct IsNan {
  static constexpr auto kName = "IsNan";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"x", FloatType<"T">>, Out<"y", bool>>;
  PENSTOCK_SCALAR static bool Eval(auto x) { return x != x; }
};

struct IsInf {
  static constexpr auto kName = "IsInf";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"x", FloatType<"T">>, Out<"y", bool>>;
  PENSTOCK_SCALAR static bool Eval(auto x) { return std::fabs(x) == decltype(x)(INFINITY); }
};

struct IsFinite {
  static constexpr auto kName = "IsFinite";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"x", FloatType<"T">>, Out<"y", bool>>;
  PENSTOCK_SCALAR static bool Eval(auto x) { return std::fabs(x) < decltype(x)(INFINITY); }
};

struct ZerosLike {
  static constexpr auto kName = "ZerosLike";
  static constexpr bool kNoGradient = true;
  static constexpr bool kByBits = true;
  using Sig = UnarySignature<AnyType<"T">>;
  using CpuTypes = PlainTypes;
  PENSTOCK_SCALAR static auto Eval(auto x) { return decltype(x)(); }
  static Result<std::unique_ptr<Kernel>> OtherCpuKernel(const ElementwiseTable&,
                                                        const KernelRequest& request);
};

struct OnesLike {
  static constexpr auto kName = "OnesLike";
  static constexpr bool kNoGradient = true;
  static constexpr bool kIgnoresSign = true;
  using Sig =
      UnarySignature<TypeVar<"T", bfloat16, half, float, double, int8_t, uint8_t, int16_t, uint16_t,
                             int32_t, uint32_t, int64_t, uint64_t, complex64, complex128, bool>>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return decltype(x)(1); }
};

using MathUnaryOps = OpList<Abs, Neg, Sign, Square, Sqrt, Rsqrt, Reciprocal, Inv, Floor, Ceil, Rint,
                            Round, IsNan, IsInf, IsFinite, ZerosLike, OnesLike>;

}  // namespace penstock::ops
