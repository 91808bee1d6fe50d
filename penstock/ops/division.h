#pragma once

#include <array>
#include <concepts>

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/math.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// z = x / y and remainders, element by element with broadcasting. Integers are refused division by
// zero.

namespace penstock::ops {

// Of integers, rounded toward zero.
struct Div {
  static constexpr auto kName = "Div";
  static constexpr double kCost = 2;
  static constexpr bool kDivides = true;
  using Sig = BinarySignature<QuotientType<"T">>;
  using VectorTypes = Types<float, double>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return x / y; }
  PENSTOCK_SCALAR static auto Eval(std::integral auto x, std::integral auto y) {
    return math::TruncDiv(x, y);
  }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr, Expr dz) {
    const Expr divisor = Conj(y);
    return {dz / divisor, dz * ((-Conj(x) / divisor) / divisor)};
  }
};

struct RealDiv {
  static constexpr auto kName = "RealDiv";
  static constexpr double kCost = 2;
  using Sig = BinarySignature<QuotientType<"T">>;
  using CpuTypes = Types<bfloat16, half, float, double, complex64, complex128>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return x / y; }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr z, Expr dz) {
    return Div::Gradient(x, y, z, dz);
  }
};

// 0 where y is 0.
struct DivNoNan {
  static constexpr auto kName = "DivNoNan";
  static constexpr double kCost = 2;
  using Sig = BinarySignature<TypeVar<"T", half, float, bfloat16, double, complex64, complex128>>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) {
    using T = decltype(x);
    return math::Select(y == T(0), T(0), T(x / y));
  }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr, Expr dz) {
    const Expr divisor = Conj(y);
    return {Op("DivNoNan", dz, divisor),
            dz * Op("DivNoNan", Op("DivNoNan", -Conj(x), divisor), divisor)};
  }
};

// 0 where x is 0.
struct Xdivy {
  static constexpr auto kName = "Xdivy";
  static constexpr double kCost = 2;
  using Sig = BinarySignature<XlogyType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) {
    using T = decltype(x);
    return math::Select(x == T(0), T(0), T(x / y));
  }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr, Expr dz);
};

struct FloorDiv {
  static constexpr auto kName = "FloorDiv";
  static constexpr double kCost = 3;
  static constexpr bool kDivides = true;
  static constexpr bool kNoGradient = true;
  using Sig = BinarySignature<QuotientType<"T">>;
  using CpuTypes = RealTypes;
  using VectorTypes = Types<float, double>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return math::FloorDiv(x, y); }
};

// The remainder with the sign of y.
struct FloorMod {
  static constexpr auto kName = "FloorMod";
  static constexpr double kCost = 20;
  static constexpr bool kDivides = true;
  using Sig = BinarySignature<TypeVar<"T", int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
                                      uint32_t, uint64_t, bfloat16, half, float, double>>;
  using VectorTypes = Types<>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return math::FloorMod(x, y); }
  static std::array<Expr, 2> Gradient(Expr x, Expr y, Expr, Expr dz) {
    return {dz, dz * -Op("FloorDiv", x, y)};
  }
};

// The remainder with the sign of x, as is TruncateMod.
struct Mod {
  static constexpr auto kName = "Mod";
  static constexpr double kCost = 20;
  static constexpr bool kDivides = true;
  static constexpr bool kNoGradient = true;
  using Sig = BinarySignature<TypeVar<"T", int32_t, int64_t, half, half, bfloat16, float, double>>;
  using CpuTypes = Types<int32_t, int64_t, half, bfloat16, float, double>;
  using VectorTypes = Types<>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return math::TruncMod(x, y); }
};

struct TruncateMod {
  static constexpr auto kName = "TruncateMod";
  static constexpr double kCost = 20;
  static constexpr bool kDivides = true;
  static constexpr bool kNoGradient = true;
  using Sig = BinarySignature<TypeVar<"T", int32_t, int64_t, bfloat16, half, float, double>>;
  using VectorTypes = Types<>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return math::TruncMod(x, y); }
};

struct TruncateDiv {
  static constexpr auto kName = "TruncateDiv";
  static constexpr double kCost = 3;
  static constexpr bool kDivides = true;
  static constexpr bool kNoGradient = true;
  using Sig = BinarySignature<QuotientType<"T">>;
  using CpuTypes = RealTypes;
  using VectorTypes = Types<float, double>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return math::TruncDiv(x, y); }
};

using DivisionOps =
    OpList<Div, RealDiv, DivNoNan, Xdivy, FloorDiv, FloorMod, Mod, TruncateMod, TruncateDiv>;

}  // namespace penstock::ops
