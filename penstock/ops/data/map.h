#pragma once

#include <span>

#include "penstock/ops/data/dataset.h"
#include "penstock/ops/data/element_spec.h"

// Datasets that pass each element through a function.

namespace penstock::ops {

struct MapDataset : NotedElementSpec {
  static constexpr auto kName = "MapDataset";
  static constexpr bool kKeepsInputs = true;
  FunctionName f;
  bool use_inter_op_parallelism = true;
  bool preserve_cardinality = false;
  bool force_synchronous = false;
  using Sig = Signature<In<"input_dataset", Variant>,
                        In<"other_arguments", TypeList<"Targuments", 0>>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNotedAttrs,
      std::tuple{Field{"f", &MapDataset::f}.Required(),
                 Field{"use_inter_op_parallelism", &MapDataset::use_inter_op_parallelism},
                 Field{"preserve_cardinality", &MapDataset::preserve_cardinality},
                 Field{"force_synchronous", &MapDataset::force_synchronous}});
  Result<Shape> InferShape(const Shape& input_dataset, std::span<const Known>) const {
    return DatasetOfScalars(input_dataset);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                    std::span<Tensor* const> other_arguments) const;
};

// The same with several calls at a time; the order of elements is kept.
struct ParallelMapDataset : NotedElementSpec {
  static constexpr auto kName = "ParallelMapDataset";
  static constexpr bool kKeepsInputs = true;
  FunctionName f;
  bool use_inter_op_parallelism = true;
  bool sloppy = false;
  bool preserve_cardinality = false;
  using Sig =
      Signature<In<"input_dataset", Variant>, In<"other_arguments", TypeList<"Targuments", 0>>,
                In<"num_parallel_calls", int32_t>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNotedAttrs,
      std::tuple{Field{"f", &ParallelMapDataset::f}.Required(),
                 Field{"use_inter_op_parallelism", &ParallelMapDataset::use_inter_op_parallelism},
                 Field{"sloppy", &ParallelMapDataset::sloppy},
                 Field{"preserve_cardinality", &ParallelMapDataset::preserve_cardinality}});
  Result<Shape> InferShape(const Shape& input_dataset, std::span<const Known>,
                           const Shape& num_parallel_calls) const {
    return DatasetOfScalars(input_dataset, num_parallel_calls);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                    std::span<Tensor* const> other_arguments, int32_t num_parallel_calls) const;
};

struct ParallelMapDatasetV2 : NotedElementSpec {
  static constexpr auto kName = "ParallelMapDatasetV2";
  static constexpr bool kKeepsInputs = true;
  FunctionName f;
  bool use_inter_op_parallelism = true;
  std::string deterministic = "default";
  bool preserve_cardinality = false;
  bool use_unbounded_threadpool = false;
  using Sig =
      Signature<In<"input_dataset", Variant>, In<"other_arguments", TypeList<"Targuments", 0>>,
                In<"num_parallel_calls", int64_t>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNotedAttrs,
      std::tuple{
          Field{"f", &ParallelMapDatasetV2::f}.Required(),
          Field{"use_inter_op_parallelism", &ParallelMapDatasetV2::use_inter_op_parallelism},
          Field{"deterministic", &ParallelMapDatasetV2::deterministic},
          Field{"preserve_cardinality", &ParallelMapDatasetV2::preserve_cardinality},
          Field{"use_unbounded_threadpool", &ParallelMapDatasetV2::use_unbounded_threadpool}});
  Result<Shape> InferShape(const Shape& input_dataset, std::span<const Known>,
                           const Shape& num_parallel_calls) const {
    return DatasetOfScalars(input_dataset, num_parallel_calls);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                    std::span<Tensor* const> other_arguments, int64_t num_parallel_calls) const;
};

// The elements for which a function says true.
struct FilterDataset : NotedElementSpec {
  static constexpr auto kName = "FilterDataset";
  static constexpr bool kKeepsInputs = true;
  FunctionName predicate;
  using Sig = Signature<In<"input_dataset", Variant>,
                        In<"other_arguments", TypeList<"Targuments", 0>>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNotedAttrs, std::tuple{Field{"predicate", &FilterDataset::predicate}.Required()});
  Result<Shape> InferShape(const Shape& input_dataset, std::span<const Known>) const {
    return DatasetOfScalars(input_dataset);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                    std::span<Tensor* const> other_arguments) const;
};

}  // namespace penstock::ops
