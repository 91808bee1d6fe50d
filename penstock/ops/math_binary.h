#pragma once

#include <array>
#include <cmath>

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/math.h"
#include "penstock/kernels/math_wrap.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// z = f(x, y), element by element with broadcasting: sums, products, powers, the lesser and the
// greater. Division is in division.h.

namespace penstock::ops {

// The gradient dz goes to x where `to_x`, else to y.
std::array<Expr, 2> SplitGradient(const Expr& to_x, const Expr& dz);

// Numbers add, strings are joined.
struct Add {
  static constexpr auto kName = "Add";
  static constexpr bool kIgnoresSign = true;
  using Sig = BinarySignature<TypeVar<"T", bfloat16, half, float, double, uint8_t, int8_t, int16_t,
                                      int32_t, int64_t, complex64, complex128, std::string>>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return math::Add(x, y); }
  static std::array<Expr, 2> Gradient(Expr, Expr, Expr, Expr dz) { return {dz, dz}; }
  static Result<std::unique_ptr<Kernel>> OtherCpuKernel(const ElementwiseTable&,
                                                        const KernelRequest& request);
};

struct AddV2 {
  static constexpr auto kName = "AddV2";
  static constexpr bool kCommutative = true;
  static constexpr bool kAggregate = true;
  static constexpr bool kIgnoresSign = true;
  using Sig =
      BinarySignature<TypeVar<"T", bfloat16, half, float, double, uint8_t, uint16_t, uint32_t,
                              uint64_t, int8_t, int16_t, int32_t, int64_t, complex64, complex128>>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return math::Add(x, y); }
  static std::array<Expr, 2> Gradient(Expr, Expr, Expr, Expr dz) { return {dz, dz}; }
};

struct Sub {
  static constexpr auto kName = "Sub";
  static constexpr bool kIgnoresSign = true;
  using Sig = BinarySignature<
      TypeVar<"T", bfloat16, half, float, double, uint8_t, int8_t, uint16_t, int16_t, int32_t,
              int64_t, complex64, complex128, uint32_t, uint64_t>>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return math::Sub(x, y); }
  static std::array<Expr, 2> Gradient(Expr, Expr, Expr, Expr dz) { return {dz, -dz}; }
};

struct Mul {
  static constexpr auto kName = "Mul";
  static constexpr bool kCommutative = true;
  static constexpr bool kIgnoresSign = true;
  using Sig = BinarySignature<QuotientType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return math::Mul(x, y); }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr, Expr dz) {
    return {dz * Conj(y), Conj(x) * dz};
  }
};

// 0 where y is 0, even if x is infinite or not a number.
struct MulNoNan {
  static constexpr auto kName = "MulNoNan";
  using Sig = BinarySignature<FloatOrComplexType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) {
    using T = decltype(x);
    return math::Select(y == T(0), T(0), T(x * y));
  }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr, Expr dz) {
    return {Op("MulNoNan", dz, Conj(y)), Op("MulNoNan", Conj(x), dz)};
  }
};

// (x - y) times its conjugate.
struct SquaredDifference {
  static constexpr auto kName = "SquaredDifference";
  static constexpr bool kCommutative = true;
  using Sig = BinarySignature<
      TypeVar<"T", bfloat16, half, float, double, int32_t, int64_t, complex64, complex128>>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) {
    const auto difference = math::Sub(x, y);
    if constexpr (math::Complex<decltype(x)>) {
      return difference * std::conj(difference);
    } else {
      return math::Mul(difference, difference);
    }
  }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr, Expr dz) {
    const Expr dx = (2.0 * dz) * (x - y);
    return {dx, -dx};
  }
};

struct Maximum {
  static constexpr auto kName = "Maximum";
  using Sig = BinarySignature<OrderedType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return math::Max(x, y); }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr, Expr dz) {
    return SplitGradient(Op("GreaterEqual", x, y), dz);
  }
};

struct Minimum {
  static constexpr auto kName = "Minimum";
  using Sig = BinarySignature<OrderedType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return math::Min(x, y); }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr, Expr dz) {
    return SplitGradient(Op("LessEqual", x, y), dz);
  }
};

// Integers wrap around; their negative powers are refused.
struct Pow {
  static constexpr auto kName = "Pow";
  static constexpr double kCost = 12;
  static constexpr bool kRaises = true;
  using Sig = BinarySignature<TypeVar<"T", bfloat16, float, half, double, int8_t, int16_t, int32_t,
                                      int64_t, complex64, complex128>>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return math::Pow(x, y); }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr z, Expr dz);
};

// 0 where x is 0.
struct Xlogy {
  static constexpr auto kName = "Xlogy";
  static constexpr double kCost = 9;
  using Sig = BinarySignature<XlogyType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) {
    using T = decltype(x);
    return math::Select(x == T(0), T(0), T(x * math::Log(y)));
  }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr, Expr dz);
};

struct Xlog1py {
  static constexpr auto kName = "Xlog1py";
  static constexpr double kCost = 9;
  using Sig = BinarySignature<XlogyType<"T">>;
  using VectorTypes = Types<float>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) {
    using T = decltype(x);
    return math::Select(x == T(0), T(0), T(x * math::Log1p(y)));
  }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr, Expr dz);
};

struct Atan2 {
  static constexpr auto kName = "Atan2";
  static constexpr double kCost = 40;
  using Sig = Signature<In<"y", FloatType<"T">>, In<"x", FloatType<"T">>, Out<"z", FloatType<"T">>>;
  using VectorTypes = Types<>;
  PENSTOCK_SCALAR static auto Eval(auto y, auto x) { return std::atan2(y, x); }
  static std::array<Expr, 2> Gradient(Expr y, Expr x, Expr, Expr dz) {
    const Expr scaled = dz / (Op("Square", x) + Op("Square", y));
    return {x * scaled, -y * scaled};
  }
};

// The number after x1 in the direction of x2.
struct NextAfter {
  static constexpr auto kName = "NextAfter";
  static constexpr double kCost = 10;
  using T = TypeVarOr<"T", float, double, float>;
  using Sig = Signature<In<"x1", T>, In<"x2", T>, Out<"output", T>>;
  using VectorTypes = Types<>;
  PENSTOCK_SCALAR static auto Eval(auto x1, auto x2) { return std::nextafter(x1, x2); }
  static std::array<Expr, 2> Gradient(Expr, Expr, Expr, Expr dz) { return {dz, dz * 0.0}; }
};

using MathBinaryOps = OpList<Add, AddV2, Sub, Mul, MulNoNan, SquaredDifference, Maximum, Minimum,
                             Pow, Xlogy, Xlog1py, Atan2, NextAfter>;

}  // namespace penstock::ops
