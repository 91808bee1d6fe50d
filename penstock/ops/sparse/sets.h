#pragma once

#include <array>
#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Sets: each row (the last axis) of a tensor is one, in which a value counts once. Results are
// sparse tensors whose rows are sorted.

namespace penstock::ops {

template <FixedString Name>
using SetType = TypeVar<Name, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, std::string>;

// The number of values in each set.
struct SetSize {
  static constexpr auto kName = "SetSize";
  static constexpr bool kNoGradient = true;
  bool validate_indices = true;
  using Sig = Signature<In<"set_indices", int64_t>, In<"set_values", SetType<"T">>,
                        In<"set_shape", int64_t>, Out<"size", int32_t>>;
  static constexpr std::tuple kAttrs{Field{"validate_indices", &SetSize::validate_indices}};

  Result<Shape> InferShape(const Shape& indices, const Shape& values,
                           const Integers& extents) const;
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                    const Tensor& extents, Tensor& size) const;
};

// "a-b", "b-a", "intersection" or "union" of the sets of two tensors whose other axes agree.
struct DenseToDenseSetOperation {
  static constexpr auto kName = "DenseToDenseSetOperation";
  static constexpr bool kNoGradient = true;
  std::string set_operation;
  bool validate_indices = true;
  using Sig =
      Signature<In<"set1", SetType<"T">>, In<"set2", SetType<"T">>, Out<"result_indices", int64_t>,
                Out<"result_values", SetType<"T">>, Out<"result_shape", int64_t>>;
  static constexpr std::tuple kAttrs{
      Field{"set_operation", &DenseToDenseSetOperation::set_operation}.Required(),
      Field{"validate_indices", &DenseToDenseSetOperation::validate_indices}};

  Status CheckAttrs() const;
  Result<std::array<Shape, 3>> InferShape(const Shape& set1, const Shape& set2) const;
  Status ComputeCpu(CpuContext& context, const Tensor& set1, const Tensor& set2) const;
};

struct DenseToSparseSetOperation {
  static constexpr auto kName = "DenseToSparseSetOperation";
  static constexpr bool kNoGradient = true;
  std::string set_operation;
  bool validate_indices = true;
  using Sig = Signature<In<"set1", SetType<"T">>, In<"set2_indices", int64_t>,
                        In<"set2_values", SetType<"T">>, In<"set2_shape", int64_t>,
                        Out<"result_indices", int64_t>, Out<"result_values", SetType<"T">>,
                        Out<"result_shape", int64_t>>;
  static constexpr std::tuple kAttrs{
      Field{"set_operation", &DenseToSparseSetOperation::set_operation}.Required(),
      Field{"validate_indices", &DenseToSparseSetOperation::validate_indices}};

  Status CheckAttrs() const;
  Result<std::array<Shape, 3>> InferShape(const Shape& set1, const Shape& indices,
                                          const Shape& values, const Shape& extents) const;
  Status ComputeCpu(CpuContext& context, const Tensor& set1, const Tensor& indices,
                    const Tensor& values, const Tensor& extents) const;
};

struct SparseToSparseSetOperation {
  static constexpr auto kName = "SparseToSparseSetOperation";
  static constexpr bool kNoGradient = true;
  std::string set_operation;
  bool validate_indices = true;
  using Sig = Signature<In<"set1_indices", int64_t>, In<"set1_values", SetType<"T">>,
                        In<"set1_shape", int64_t>, In<"set2_indices", int64_t>,
                        In<"set2_values", SetType<"T">>, In<"set2_shape", int64_t>,
                        Out<"result_indices", int64_t>, Out<"result_values", SetType<"T">>,
                        Out<"result_shape", int64_t>>;
  static constexpr std::tuple kAttrs{
      Field{"set_operation", &SparseToSparseSetOperation::set_operation}.Required(),
      Field{"validate_indices", &SparseToSparseSetOperation::validate_indices}};

  Status CheckAttrs() const;
  Result<std::array<Shape, 3>> InferShape(const Shape& indices1, const Shape& values1,
                                          const Shape& extents1, const Shape& indices2,
                                          const Shape& values2, const Shape& extents2) const;
  Status ComputeCpu(CpuContext& context, const Tensor& indices1, const Tensor& values1,
                    const Tensor& extents1, const Tensor& indices2, const Tensor& values2,
                    const Tensor& extents2) const;
};

}  // namespace penstock::ops
