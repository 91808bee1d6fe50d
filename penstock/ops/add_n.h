#pragma once

#include <span>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// The sum of a list of tensors of one shape.

namespace penstock::ops {

struct AddN {
  static constexpr auto kName = "AddN";
  static constexpr bool kCommutative = true;
  static constexpr bool kAggregate = true;
  static constexpr bool kInPlace = true;
  using Number = TypeVar<"T", float, double, int32_t, uint8_t, int16_t, int8_t, complex64, int64_t,
                         qint8, quint8, qint32, bfloat16, qint16, quint16, uint16_t, complex128,
                         half, uint32_t, uint64_t, Variant>;
  using Sig = Signature<In<"inputs", List<"N", Number>>, Out<"sum", Number>>;

  Result<Shape> InferShape(std::span<const Known> inputs) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> inputs, Tensor& sum) const;
};

// The same, told the shape beforehand.
struct AccumulateNV2 {
  static constexpr auto kName = "AccumulateNV2";
  static constexpr bool kCommutative = true;
  static constexpr bool kAggregate = true;
  static constexpr bool kInPlace = true;
  Shape shape;
  using Sig = Signature<In<"inputs", List<"N", NumberType<"T">>>, Out<"sum", NumberType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"shape", &AccumulateNV2::shape}.Required()};

  Result<Shape> InferShape(std::span<const Known> inputs) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> inputs, Tensor& sum) const;
};

}  // namespace penstock::ops
