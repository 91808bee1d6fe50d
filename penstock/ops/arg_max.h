#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/reduction.h"
#include "penstock/ops/type_sets.h"

// The place of the largest and of the smallest element along an axis, the first of equals.

namespace penstock::ops {

// The input's shape without the axis, which is checked.
Result<Shape> ShapeWithoutAxis(const Shape& input, const Integers& axis);

template <FixedString Name>
using OrderedOrBoolType =
    TypeVar<Name, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, bfloat16, uint16_t,
            half, uint32_t, uint64_t, qint8, quint8, qint32, qint16, quint16, bool>;

struct ArgMax {
  static constexpr auto kName = "ArgMax";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<
      In<"input", OrderedOrBoolType<"T">>,
      In<"dimension", TypeVarOr<"Tidx", int32_t, int16_t, int32_t, int64_t>>,
      Out<"output", TypeVarOr<"output_type", int64_t, int16_t, uint16_t, int32_t, int64_t>>>;

  Result<Shape> InferShape(const Shape& input, const Integers& axis) const {
    return ShapeWithoutAxis(input, axis);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axis,
                    Tensor& output) const;
};

struct ArgMin {
  static constexpr auto kName = "ArgMin";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input", OrderedOrBoolType<"T">>, In<"dimension", IndexTypeOr32<"Tidx">>,
                        Out<"output", TypeVarOr<"output_type", int64_t, int32_t, int64_t>>>;

  Result<Shape> InferShape(const Shape& input, const Integers& axis) const {
    return ShapeWithoutAxis(input, axis);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& axis,
                    Tensor& output) const;
};

}  // namespace penstock::ops
