#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"

// Examples as tensors: features of one shape, or of any number of values as sparse or ragged ones.

namespace penstock::ops {

// What the ops have in common.
struct ExampleTypes {
  static constexpr bool kNoGradient = true;
  static constexpr std::string_view kFeatureTypes = "float|int64|string";
  std::vector<DType> sparse_types;
  std::vector<DType> dense_types;
  std::vector<Shape> dense_shapes;
  static constexpr std::tuple kAttrs{
      Field{"sparse_types", &ExampleTypes::sparse_types}.Required().Min(0).OneOf(kFeatureTypes),
      Field{"Tdense", &ExampleTypes::dense_types}.Required().Min(0).OneOf(kFeatureTypes),
      Field{"dense_shapes", &ExampleTypes::dense_shapes}.Required().Min(0)};

  // That there are as many of each as there are keys.
  Status CheckCounts(size_t num_sparse, size_t num_dense) const;
  // The shapes of the sparse and dense outputs of a batch; of one example when `batch` is no shape
  // of rank 1. REQUIRES: `batch` has a rank.
  Result<std::vector<Shape>> OutputShapes(const Shape& batch) const;
};

struct ParseExample : ExampleTypes {
  static constexpr auto kName = "ParseExample";
  using Sig = Signature<In<"serialized", std::string>, In<"names", std::string>,
                        In<"sparse_keys", List<"Nsparse", std::string, 0>>,
                        In<"dense_keys", List<"Ndense", std::string, 0>>,
                        In<"dense_defaults", TypeList<"Tdense", 0>>,
                        Out<"sparse_indices", List<"Nsparse", int64_t, 0>>,
                        Out<"sparse_values", TypeList<"sparse_types", 0>>,
                        Out<"sparse_shapes", List<"Nsparse", int64_t, 0>>,
                        Out<"dense_values", TypeList<"Tdense", 0>>>;

  Result<std::vector<Shape>> InferShape(const Shape& serialized, const Shape& names,
                                        std::span<const Known> sparse_keys,
                                        std::span<const Known> dense_keys,
                                        std::span<const Known> dense_defaults) const;
  Status ComputeCpu(CpuContext& context, const Tensor& serialized, const Tensor& names,
                    std::span<Tensor* const> sparse_keys, std::span<Tensor* const> dense_keys,
                    std::span<Tensor* const> dense_defaults) const;
};

struct ParseExampleV2 : ExampleTypes {
  static constexpr auto kName = "ParseExampleV2";
  int64_t num_sparse = 0;
  std::vector<DType> ragged_value_types;
  std::vector<DType> ragged_split_types;
  using Sig = Signature<In<"serialized", std::string>, In<"names", std::string>,
                        In<"sparse_keys", std::string>, In<"dense_keys", std::string>,
                        In<"ragged_keys", std::string>, In<"dense_defaults", TypeList<"Tdense", 0>>,
                        Out<"sparse_indices", List<"num_sparse", int64_t, 0>>,
                        Out<"sparse_values", TypeList<"sparse_types", 0>>,
                        Out<"sparse_shapes", List<"num_sparse", int64_t, 0>>,
                        Out<"dense_values", TypeList<"Tdense", 0>>,
                        Out<"ragged_values", TypeList<"ragged_value_types", 0>>,
                        Out<"ragged_row_splits", TypeList<"ragged_split_types", 0>>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      ExampleTypes::kAttrs,
      std::tuple{
          Field{"num_sparse", &ParseExampleV2::num_sparse}.Required().Min(0),
          Field{"ragged_value_types", &ParseExampleV2::ragged_value_types}.Required().Min(0).OneOf(
              kFeatureTypes),
          Field{"ragged_split_types", &ParseExampleV2::ragged_split_types}.Required().Min(0).OneOf(
              "int32|int64")});

  Status CheckAttrs() const;
  Result<std::vector<Shape>> InferShape(const Shape& serialized, const Shape& names,
                                        const Shape& sparse_keys, const Shape& dense_keys,
                                        const Shape& ragged_keys,
                                        std::span<const Known> dense_defaults) const;
  Status ComputeCpu(CpuContext& context, const Tensor& serialized, const Tensor& names,
                    const Tensor& sparse_keys, const Tensor& dense_keys, const Tensor& ragged_keys,
                    std::span<Tensor* const> dense_defaults) const;
};

struct ParseSingleExample : ExampleTypes {
  static constexpr auto kName = "ParseSingleExample";
  int64_t num_sparse = 0;
  std::vector<std::string> sparse_keys;
  std::vector<std::string> dense_keys;
  using Sig = Signature<In<"serialized", std::string>, In<"dense_defaults", TypeList<"Tdense", 0>>,
                        Out<"sparse_indices", List<"num_sparse", int64_t, 0>>,
                        Out<"sparse_values", TypeList<"sparse_types", 0>>,
                        Out<"sparse_shapes", List<"num_sparse", int64_t, 0>>,
                        Out<"dense_values", TypeList<"Tdense", 0>>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      ExampleTypes::kAttrs,
      std::tuple{Field{"num_sparse", &ParseSingleExample::num_sparse}.Required().Min(0),
                 Field{"sparse_keys", &ParseSingleExample::sparse_keys}.Required().Min(0),
                 Field{"dense_keys", &ParseSingleExample::dense_keys}.Required().Min(0)});

  Status CheckAttrs() const;
  Result<std::vector<Shape>> InferShape(const Shape& serialized,
                                        std::span<const Known> dense_defaults) const;
  Status ComputeCpu(CpuContext& context, const Tensor& serialized,
                    std::span<Tensor* const> dense_defaults) const;
};

}  // namespace penstock::ops
