#pragma once

#include <array>
#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Crossed columns: for each row of a batch every choice of one value out of each column, the last
// column changing fastest. Columns are sparse matrices, then dense ones, of integers or strings.

namespace penstock::ops {

// Choices are joined with "_X_", or hashed: into num_buckets of them, or all int64 that are not
// negative when it is 0.
struct SparseCross {
  static constexpr auto kName = "SparseCross";
  static constexpr bool kNoGradient = true;
  bool hashed_output = false;
  int64_t num_buckets = 0;
  int64_t hash_key = 0;
  DType internal_type = DType::kInt64;
  using Sig =
      Signature<In<"indices", List<"N", int64_t, 0>>, In<"values", TypeList<"sparse_types", 0>>,
                In<"shapes", List<"N", int64_t, 0>>, In<"dense_inputs", TypeList<"dense_types", 0>>,
                Out<"output_indices", int64_t>,
                Out<"output_values", TypeVar<"out_type", int64_t, std::string>>,
                Out<"output_shape", int64_t>>;
  static constexpr std::tuple kAttrs{
      Field{"hashed_output", &SparseCross::hashed_output}.Required(),
      Field{"num_buckets", &SparseCross::num_buckets}.Required().Min(0),
      Field{"hash_key", &SparseCross::hash_key}.Required(),
      Field{"internal_type", &SparseCross::internal_type}.Required()};

  Result<std::array<Shape, 3>> InferShape(std::span<const Known> indices,
                                          std::span<const Known> values,
                                          std::span<const Known> shapes,
                                          std::span<const Known> dense_inputs) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> indices,
                    std::span<Tensor* const> values, std::span<Tensor* const> shapes,
                    std::span<Tensor* const> dense_inputs) const;
};

// Choices are joined with `sep`.
struct SparseCrossV2 {
  static constexpr auto kName = "SparseCrossV2";
  static constexpr bool kNoGradient = true;
  using Sig =
      Signature<In<"indices", List<"N", int64_t, 0>>, In<"values", TypeList<"sparse_types", 0>>,
                In<"shapes", List<"N", int64_t, 0>>, In<"dense_inputs", TypeList<"dense_types", 0>>,
                In<"sep", std::string>, Out<"output_indices", int64_t>,
                Out<"output_values", std::string>, Out<"output_shape", int64_t>>;

  Result<std::array<Shape, 3>> InferShape(std::span<const Known> indices,
                                          std::span<const Known> values,
                                          std::span<const Known> shapes,
                                          std::span<const Known> dense_inputs,
                                          const Shape& sep) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> indices,
                    std::span<Tensor* const> values, std::span<Tensor* const> shapes,
                    std::span<Tensor* const> dense_inputs, const Tensor& sep) const;
};

}  // namespace penstock::ops
