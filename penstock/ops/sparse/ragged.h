#pragma once

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Ragged tensors: dense values, and for each ragged axis a vector of splits: row i of an axis is
// [splits[i], splits[i + 1]) of the next, or of the values.

namespace penstock::ops {

// Whether splits are such: they begin with 0, do not decrease and end at most at `limit`.
Status CheckSplits(std::span<const int64_t> splits, int64_t limit);

// A range for each row: starts[i], starts[i] + deltas[i], ..., before limits[i].
struct RaggedRange {
  static constexpr auto kName = "RaggedRange";
  static constexpr bool kNoGradient = true;
  DType Tsplits = DType::kInt64;
  using Number = TypeVarOr<"T", int32_t, bfloat16, float, double, int32_t, int64_t>;
  using Splits = TypeVarOr<"Tsplits", int64_t, int32_t, int64_t>;
  using Sig = Signature<In<"starts", Number>, In<"limits", Number>, In<"deltas", Number>,
                        Out<"rt_nested_splits", Splits>, Out<"rt_dense_values", Number>>;
  static constexpr std::tuple kAttrs{Field{"Tsplits", &RaggedRange::Tsplits}};

  Result<std::array<Shape, 2>> InferShape(const Shape& starts, const Shape& limits,
                                          const Shape& deltas) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& starts, const Tensor& limits,
                    const Tensor& deltas) const;
};

// The rows of a ragged tensor that `indices` name. Axes of the indices after the first become
// ragged ones.
struct RaggedGather {
  static constexpr auto kName = "RaggedGather";
  int64_t PARAMS_RAGGED_RANK = 1;
  int64_t OUTPUT_RAGGED_RANK = 0;
  using Splits = TypeVarOr<"Tsplits", int64_t, int32_t, int64_t>;
  using Sig =
      Signature<In<"params_nested_splits", List<"PARAMS_RAGGED_RANK", Splits>>,
                In<"params_dense_values", AnyType<"Tvalues">>, In<"indices", IndexType<"Tindices">>,
                Out<"output_nested_splits", List<"OUTPUT_RAGGED_RANK", Splits, 0>>,
                Out<"output_dense_values", AnyType<"Tvalues">>>;
  static constexpr std::tuple kAttrs{
      Field{"PARAMS_RAGGED_RANK", &RaggedGather::PARAMS_RAGGED_RANK}.Required().Min(1),
      Field{"OUTPUT_RAGGED_RANK", &RaggedGather::OUTPUT_RAGGED_RANK}.Required().Min(0)};

  Result<std::vector<Shape>> InferShape(std::span<const Known> splits, const Shape& values,
                                        const Shape& indices) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> splits, const Tensor& values,
                    const Tensor& indices) const;
};

// The same as a sparse tensor.
struct RaggedTensorToSparse {
  static constexpr auto kName = "RaggedTensorToSparse";
  using Splits = TypeVarOr<"Tsplits", int64_t, int32_t, int64_t>;
  using Sig = Signature<In<"rt_nested_splits", List<"RAGGED_RANK", Splits>>,
                        In<"rt_dense_values", AnyType<"T">>, Out<"sparse_indices", int64_t>,
                        Out<"sparse_values", AnyType<"T">>, Out<"sparse_dense_shape", int64_t>>;

  Result<std::array<Shape, 3>> InferShape(std::span<const Known> splits, const Shape& values) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> splits,
                    const Tensor& values) const;
};

// The same as a dense tensor, whose rows are cut off or filled up with default_value to `shape`;
// extents of -1 are those of the longest row. The partitions of the ragged axes are splits, or the
// row of each value, with the number of rows in front.
struct RaggedTensorToTensor {
  static constexpr auto kName = "RaggedTensorToTensor";
  std::vector<std::string> row_partition_types;
  using Index = TypeVar<"Tindex", int64_t, int32_t>;
  using Sig = Signature<In<"shape", TypeVar<"Tshape", int64_t, int32_t>>,
                        In<"values", AnyType<"T">>, In<"default_value", AnyType<"T">>,
                        In<"row_partition_tensors", List<"num_row_partition_tensors", Index>>,
                        Out<"result", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"row_partition_types", &RaggedTensorToTensor::row_partition_types}.Required()};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Integers& shape, const Shape& values, const Shape& default_value,
                           std::span<const Known> partitions) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Integers& shape, const Tensor& values,
                    const Tensor& default_value, std::span<Tensor* const> partitions) const;
};

}  // namespace penstock::ops
