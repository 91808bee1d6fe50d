#pragma once

#include "penstock/core/scalar_function.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// Logic on booleans and on the bits of integers, element by element with broadcasting.

namespace penstock::ops {

struct LogicalNot {
  static constexpr auto kName = "LogicalNot";
  static constexpr bool kNoGradient = true;
  using Sig = UnarySignature<bool>;
  PENSTOCK_SCALAR static bool Eval(bool x) { return !x; }
};

struct LogicalAnd {
  static constexpr auto kName = "LogicalAnd";
  static constexpr bool kCommutative = true;
  static constexpr bool kNoGradient = true;
  using Sig = BinarySignature<bool>;
  PENSTOCK_SCALAR static bool Eval(bool x, bool y) { return (x & y) != 0; }
};

struct LogicalOr {
  static constexpr auto kName = "LogicalOr";
  static constexpr bool kCommutative = true;
  static constexpr bool kNoGradient = true;
  using Sig = BinarySignature<bool>;
  PENSTOCK_SCALAR static bool Eval(bool x, bool y) { return (x | y) != 0; }
};

struct Invert {
  static constexpr auto kName = "Invert";
  static constexpr bool kNoGradient = true;
  static constexpr bool kIgnoresSign = true;
  using Sig = UnarySignature<IntegerType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x) { return static_cast<decltype(x)>(~x); }
};

struct BitwiseAnd {
  static constexpr auto kName = "BitwiseAnd";
  static constexpr bool kCommutative = true;
  static constexpr bool kNoGradient = true;
  static constexpr bool kIgnoresSign = true;
  using Sig = BinarySignature<IntegerType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return static_cast<decltype(x)>(x & y); }
};

struct BitwiseOr {
  static constexpr auto kName = "BitwiseOr";
  static constexpr bool kCommutative = true;
  static constexpr bool kNoGradient = true;
  static constexpr bool kIgnoresSign = true;
  using Sig = BinarySignature<IntegerType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return static_cast<decltype(x)>(x | y); }
};

struct BitwiseXor {
  static constexpr auto kName = "BitwiseXor";
  static constexpr bool kCommutative = true;
  static constexpr bool kNoGradient = true;
  static constexpr bool kIgnoresSign = true;
  using Sig = BinarySignature<IntegerType<"T">>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) { return static_cast<decltype(x)>(x ^ y); }
};

// The distance of a shift, kept within the bits of T.
template <class T>
PENSTOCK_SCALAR T ShiftBy(T y) {
  constexpr T kMost = static_cast<T>(sizeof(T) * 8 - 1);
  const T least = y < T(0) ? T(0) : y;
  return least > kMost ? kMost : least;
}

struct LeftShift {
  static constexpr auto kName = "LeftShift";
  static constexpr bool kNoGradient = true;
  using Sig = BinarySignature<IntegerType<"T">>;
  using VectorTypes = Types<int32_t, int64_t>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) {
    return static_cast<decltype(x)>(static_cast<uint64_t>(x) << ShiftBy(y));
  }
};

// Signed integers keep their sign.
struct RightShift {
  static constexpr auto kName = "RightShift";
  static constexpr bool kNoGradient = true;
  using Sig = BinarySignature<IntegerType<"T">>;
  using VectorTypes = Types<int32_t, int64_t>;
  PENSTOCK_SCALAR static auto Eval(auto x, auto y) {
    return static_cast<decltype(x)>(x >> ShiftBy(y));
  }
};

using LogicalOps = OpList<LogicalNot, LogicalAnd, LogicalOr, Invert, BitwiseAnd, BitwiseOr,
                          BitwiseXor, LeftShift, RightShift>;

}  // namespace penstock::ops
