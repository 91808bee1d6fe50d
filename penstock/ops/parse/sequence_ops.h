#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"

// SequenceExamples as tensors: features of the whole sequence (the context), and lists with a
// feature for each step.

namespace penstock::ops {

// What the ops have in common. Attributes that are lists of keys stand in those that have them.
struct SequenceTypes {
  static constexpr bool kNoGradient = true;
  static constexpr std::string_view kFeatureTypes = "float|int64|string";
  int64_t num_context_sparse = 0;
  int64_t num_list_sparse = 0;
  int64_t num_list_dense = 0;
  std::vector<DType> context_sparse_types;
  std::vector<DType> context_dense_types;
  std::vector<Shape> context_dense_shapes;
  std::vector<DType> list_sparse_types;
  std::vector<DType> list_dense_types;
  std::vector<Shape> list_dense_shapes;
  static constexpr std::tuple kAttrs{
      Field{"Ncontext_sparse", &SequenceTypes::num_context_sparse}.Min(0),
      Field{"Nfeature_list_sparse", &SequenceTypes::num_list_sparse}.Min(0),
      Field{"Nfeature_list_dense", &SequenceTypes::num_list_dense}.Min(0),
      Field{"context_sparse_types", &SequenceTypes::context_sparse_types}.Min(0).OneOf(
          kFeatureTypes),
      Field{"Tcontext_dense", &SequenceTypes::context_dense_types}.Min(0).OneOf(kFeatureTypes),
      Field{"context_dense_shapes", &SequenceTypes::context_dense_shapes}.Min(0),
      Field{"feature_list_sparse_types", &SequenceTypes::list_sparse_types}.Min(0).OneOf(
          kFeatureTypes),
      Field{"feature_list_dense_types", &SequenceTypes::list_dense_types}.Min(0).OneOf(
          kFeatureTypes),
      Field{"feature_list_dense_shapes", &SequenceTypes::list_dense_shapes}.Min(0)};

  // That the lists agree in length and the shapes are known.
  Status CheckAttrs() const;
};

struct ParseSingleSequenceExample : SequenceTypes {
  static constexpr auto kName = "ParseSingleSequenceExample";
  int64_t num_context_dense = 0;
  using Sig = Signature<
      In<"serialized", std::string>, In<"feature_list_dense_missing_assumed_empty", std::string>,
      In<"context_sparse_keys", List<"Ncontext_sparse", std::string, 0>>,
      In<"context_dense_keys", List<"Ncontext_dense", std::string, 0>>,
      In<"feature_list_sparse_keys", List<"Nfeature_list_sparse", std::string, 0>>,
      In<"feature_list_dense_keys", List<"Nfeature_list_dense", std::string, 0>>,
      In<"context_dense_defaults", TypeList<"Tcontext_dense", 0>>, In<"debug_name", std::string>,
      Out<"context_sparse_indices", List<"Ncontext_sparse", int64_t, 0>>,
      Out<"context_sparse_values", TypeList<"context_sparse_types", 0>>,
      Out<"context_sparse_shapes", List<"Ncontext_sparse", int64_t, 0>>,
      Out<"context_dense_values", TypeList<"Tcontext_dense", 0>>,
      Out<"feature_list_sparse_indices", List<"Nfeature_list_sparse", int64_t, 0>>,
      Out<"feature_list_sparse_values", TypeList<"feature_list_sparse_types", 0>>,
      Out<"feature_list_sparse_shapes", List<"Nfeature_list_sparse", int64_t, 0>>,
      Out<"feature_list_dense_values", TypeList<"feature_list_dense_types", 0>>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      SequenceTypes::kAttrs,
      std::tuple{Field{"Ncontext_dense", &ParseSingleSequenceExample::num_context_dense}.Min(0)});

  Result<std::vector<Shape>> InferShape(const Shape& serialized, const Shape& missing,
                                        std::span<const Known> context_sparse_keys,
                                        std::span<const Known> context_dense_keys,
                                        std::span<const Known> list_sparse_keys,
                                        std::span<const Known> list_dense_keys,
                                        std::span<const Known> defaults,
                                        const Shape& debug_name) const;
  Status ComputeCpu(CpuContext& context, const Tensor& serialized, const Tensor& missing,
                    std::span<Tensor* const> context_sparse_keys,
                    std::span<Tensor* const> context_dense_keys,
                    std::span<Tensor* const> list_sparse_keys,
                    std::span<Tensor* const> list_dense_keys, std::span<Tensor* const> defaults,
                    const Tensor& debug_name) const;
};

struct ParseSequenceExample : SequenceTypes {
  static constexpr auto kName = "ParseSequenceExample";
  int64_t num_context_dense = 0;
  std::vector<std::string> missing_assumed_empty;
  std::vector<std::string> context_sparse_keys;
  std::vector<std::string> context_dense_keys;
  std::vector<std::string> list_sparse_keys;
  std::vector<std::string> list_dense_keys;
  using Sig =
      Signature<In<"serialized", std::string>, In<"debug_name", std::string>,
                In<"context_dense_defaults", TypeList<"Tcontext_dense", 0>>,
                Out<"context_sparse_indices", List<"Ncontext_sparse", int64_t, 0>>,
                Out<"context_sparse_values", TypeList<"context_sparse_types", 0>>,
                Out<"context_sparse_shapes", List<"Ncontext_sparse", int64_t, 0>>,
                Out<"context_dense_values", TypeList<"Tcontext_dense", 0>>,
                Out<"feature_list_sparse_indices", List<"Nfeature_list_sparse", int64_t, 0>>,
                Out<"feature_list_sparse_values", TypeList<"feature_list_sparse_types", 0>>,
                Out<"feature_list_sparse_shapes", List<"Nfeature_list_sparse", int64_t, 0>>,
                Out<"feature_list_dense_values", TypeList<"feature_list_dense_types", 0>>,
                Out<"feature_list_dense_lengths", List<"Nfeature_list_dense", int64_t, 0>>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      SequenceTypes::kAttrs,
      std::tuple{
          Field{"Ncontext_dense", &ParseSequenceExample::num_context_dense}.Min(0),
          Field{"feature_list_dense_missing_assumed_empty",
                &ParseSequenceExample::missing_assumed_empty}
              .Required()
              .Min(0),
          Field{"context_sparse_keys", &ParseSequenceExample::context_sparse_keys}.Required().Min(
              0),
          Field{"context_dense_keys", &ParseSequenceExample::context_dense_keys}.Required().Min(0),
          Field{"feature_list_sparse_keys", &ParseSequenceExample::list_sparse_keys}.Required().Min(
              0),
          Field{"feature_list_dense_keys", &ParseSequenceExample::list_dense_keys}.Required().Min(
              0)});

  Status CheckAttrs() const;
  Result<std::vector<Shape>> InferShape(const Shape& serialized, const Shape& debug_name,
                                        std::span<const Known> defaults) const;
  Status ComputeCpu(CpuContext& context, const Tensor& serialized, const Tensor& debug_name,
                    std::span<Tensor* const> defaults) const;
};

struct ParseSequenceExampleV2 : SequenceTypes {
  static constexpr auto kName = "ParseSequenceExampleV2";
  std::vector<DType> context_ragged_value_types;
  std::vector<DType> context_ragged_split_types;
  std::vector<DType> list_ragged_value_types;
  std::vector<DType> list_ragged_split_types;
  using Sig = Signature<
      In<"serialized", std::string>, In<"debug_name", std::string>,
      In<"context_sparse_keys", std::string>, In<"context_dense_keys", std::string>,
      In<"context_ragged_keys", std::string>, In<"feature_list_sparse_keys", std::string>,
      In<"feature_list_dense_keys", std::string>, In<"feature_list_ragged_keys", std::string>,
      In<"feature_list_dense_missing_assumed_empty", bool>,
      In<"context_dense_defaults", TypeList<"Tcontext_dense", 0>>,
      Out<"context_sparse_indices", List<"Ncontext_sparse", int64_t, 0>>,
      Out<"context_sparse_values", TypeList<"context_sparse_types", 0>>,
      Out<"context_sparse_shapes", List<"Ncontext_sparse", int64_t, 0>>,
      Out<"context_dense_values", TypeList<"Tcontext_dense", 0>>,
      Out<"context_ragged_values", TypeList<"context_ragged_value_types", 0>>,
      Out<"context_ragged_row_splits", TypeList<"context_ragged_split_types", 0>>,
      Out<"feature_list_sparse_indices", List<"Nfeature_list_sparse", int64_t, 0>>,
      Out<"feature_list_sparse_values", TypeList<"feature_list_sparse_types", 0>>,
      Out<"feature_list_sparse_shapes", List<"Nfeature_list_sparse", int64_t, 0>>,
      Out<"feature_list_dense_values", TypeList<"feature_list_dense_types", 0>>,
      Out<"feature_list_dense_lengths", List<"Nfeature_list_dense", int64_t, 0>>,
      Out<"feature_list_ragged_values", TypeList<"feature_list_ragged_value_types", 0>>,
      Out<"feature_list_ragged_outer_splits", TypeList<"feature_list_ragged_split_types", 0>>,
      Out<"feature_list_ragged_inner_splits", TypeList<"feature_list_ragged_split_types", 0>>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      SequenceTypes::kAttrs,
      std::tuple{
          Field{"context_ragged_value_types", &ParseSequenceExampleV2::context_ragged_value_types}
              .Min(0)
              .OneOf(kFeatureTypes),
          Field{"context_ragged_split_types", &ParseSequenceExampleV2::context_ragged_split_types}
              .Min(0)
              .OneOf("int32|int64"),
          Field{"feature_list_ragged_value_types", &ParseSequenceExampleV2::list_ragged_value_types}
              .Min(0)
              .OneOf(kFeatureTypes),
          Field{"feature_list_ragged_split_types", &ParseSequenceExampleV2::list_ragged_split_types}
              .Min(0)
              .OneOf("int32|int64")});

  Status CheckAttrs() const;
  Result<std::vector<Shape>> InferShape(const Shape& serialized, const Shape& debug_name,
                                        const Shape& context_sparse_keys,
                                        const Shape& context_dense_keys,
                                        const Shape& context_ragged_keys,
                                        const Shape& list_sparse_keys, const Shape& list_dense_keys,
                                        const Shape& list_ragged_keys, const Shape& missing,
                                        std::span<const Known> defaults) const;
  Status ComputeCpu(CpuContext& context, const Tensor& serialized, const Tensor& debug_name,
                    const Tensor& context_sparse_keys, const Tensor& context_dense_keys,
                    const Tensor& context_ragged_keys, const Tensor& list_sparse_keys,
                    const Tensor& list_dense_keys, const Tensor& list_ragged_keys,
                    const Tensor& missing, std::span<Tensor* const> defaults) const;
};

}  // namespace penstock::ops
