#pragma once

#include <cmath>
#include <concepts>
#include <tuple>

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/math_wrap.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/type_sets.h"

// z = x < y and its like, element by element with broadcasting.

namespace penstock::ops {

template <class T>
using ComparisonSignature = Signature<In<"x", T>, In<"y", T>, Out<"z", bool>>;

struct Less {
  static constexpr auto kName = "Less";
  static constexpr bool kNoGradient = true;
  using Sig = ComparisonSignature<RealNumberType<"T">>;
  using VectorTypes = Types<float, double, int32_t, int64_t>;
  PENSTOCK_SCALAR static bool Eval(auto x, auto y) { return x < y; }
};

struct LessEqual {
  static constexpr auto kName = "LessEqual";
  static constexpr bool kNoGradient = true;
  using Sig = ComparisonSignature<RealNumberType<"T">>;
  using VectorTypes = Types<float, double, int32_t, int64_t>;
  PENSTOCK_SCALAR static bool Eval(auto x, auto y) { return x <= y; }
};

struct Greater {
  static constexpr auto kName = "Greater";
  static constexpr bool kNoGradient = true;
  using Sig = ComparisonSignature<RealNumberType<"T">>;
  using VectorTypes = Types<float, double, int32_t, int64_t>;
  PENSTOCK_SCALAR static bool Eval(auto x, auto y) { return x > y; }
};

struct GreaterEqual {
  static constexpr auto kName = "GreaterEqual";
  static constexpr bool kNoGradient = true;
  using Sig = ComparisonSignature<RealNumberType<"T">>;
  using VectorTypes = Types<float, double, int32_t, int64_t>;
  PENSTOCK_SCALAR static bool Eval(auto x, auto y) { return x >= y; }
};

// Tensors whose shapes do not agree are refused or, without incompatible_shape_error, are unequal
// as wholes: the result is then a scalar.
struct Equal {
  static constexpr auto kName = "Equal";
  static constexpr bool kCommutative = true;
  static constexpr bool kNoGradient = true;
  static constexpr bool kIgnoresSign = true;
  bool incompatible_shape_error = true;
  using Sig = ComparisonSignature<AnyType<"T">>;
  using CpuTypes = PlainTypes;
  static constexpr std::tuple kAttrs{
      Field{"incompatible_shape_error", &Equal::incompatible_shape_error}};

  PENSTOCK_SCALAR static bool Eval(auto x, auto y) { return x == y; }
  Result<Shape> InferShape(const Shape& x, const Shape& y) const;
  static Result<std::unique_ptr<Kernel>> OtherCpuKernel(const ElementwiseTable& table,
                                                        const KernelRequest& request);
};

struct NotEqual {
  static constexpr auto kName = "NotEqual";
  static constexpr bool kCommutative = true;
  static constexpr bool kNoGradient = true;
  static constexpr bool kIgnoresSign = true;
  bool incompatible_shape_error = true;
  using Sig = ComparisonSignature<AnyType<"T">>;
  using CpuTypes = PlainTypes;
  static constexpr std::tuple kAttrs{
      Field{"incompatible_shape_error", &NotEqual::incompatible_shape_error}};

  PENSTOCK_SCALAR static bool Eval(auto x, auto y) { return x != y; }
  Result<Shape> InferShape(const Shape& x, const Shape& y) const;
  static Result<std::unique_ptr<Kernel>> OtherCpuKernel(const ElementwiseTable& table,
                                                        const KernelRequest& request);
};

// |x - y| < tolerance.
struct ApproximateEqual {
  static constexpr auto kName = "ApproximateEqual";
  static constexpr bool kCommutative = true;
  static constexpr bool kNoGradient = true;
  static constexpr bool kSameShapes = true;
  float tolerance = 1e-5f;
  using Sig = ComparisonSignature<NumberType<"T">>;
  using CpuTypes = RealTypes;
  using VectorTypes = Types<float>;
  static constexpr std::tuple kAttrs{Field{"tolerance", &ApproximateEqual::tolerance}};
  static constexpr auto kLastOperand = &ApproximateEqual::tolerance;

  PENSTOCK_SCALAR static bool Eval(auto x, auto y, float tolerance) {
    return std::fabs(x - y) < tolerance;
  }
  PENSTOCK_SCALAR static bool Eval(std::integral auto x, std::integral auto y, float tolerance) {
    return static_cast<float>(x > y ? math::Sub(x, y) : math::Sub(y, x)) < tolerance;
  }
};

using ComparisonOps =
    OpList<Less, LessEqual, Greater, GreaterEqual, Equal, NotEqual, ApproximateEqual>;

}  // namespace penstock::ops
