#pragma once

#include <span>

#include "penstock/ops/data/dataset.h"
#include "penstock/ops/data/element_spec.h"

// Datasets made of the datasets that a function returns for the elements of another.

namespace penstock::ops {

// What these ops share.
struct NestedDataset : NotedElementSpec {
  static constexpr bool kKeepsInputs = true;
  FunctionName f;
  static constexpr std::tuple kNestedAttrs =
      std::tuple_cat(kNotedAttrs, std::tuple{Field{"f", &NestedDataset::f}.Required()});
  static constexpr std::tuple kAttrs = kNestedAttrs;
};

// One after the other.
struct FlatMapDataset : NestedDataset {
  static constexpr auto kName = "FlatMapDataset";
  using Sig = Signature<In<"input_dataset", Variant>,
                        In<"other_arguments", TypeList<"Targuments", 0>>, Out<"handle", Variant>>;
  Result<Shape> InferShape(const Shape& input_dataset, std::span<const Known>) const {
    return DatasetOfScalars(input_dataset);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                    std::span<Tensor* const> other_arguments) const;
};

// block_length elements of each of cycle_length of them by turns.
struct InterleaveDataset : NestedDataset {
  static constexpr auto kName = "InterleaveDataset";
  using Sig =
      Signature<In<"input_dataset", Variant>, In<"other_arguments", TypeList<"Targuments", 0>>,
                In<"cycle_length", int64_t>, In<"block_length", int64_t>, Out<"handle", Variant>>;
  Result<Shape> InferShape(const Shape& input_dataset, std::span<const Known>,
                           const Shape& cycle_length, const Shape& block_length) const {
    return DatasetOfScalars(input_dataset, cycle_length, block_length);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                    std::span<Tensor* const> other_arguments, int64_t cycle_length,
                    int64_t block_length) const;
};

// The parallel forms give the same elements in the same order.

struct ParallelInterleaveDataset : NestedDataset {
  static constexpr auto kName = "ParallelInterleaveDataset";
  using Sig =
      Signature<In<"input_dataset", Variant>, In<"other_arguments", TypeList<"Targuments", 0>>,
                In<"cycle_length", int64_t>, In<"block_length", int64_t>, In<"sloppy", bool>,
                In<"buffer_output_elements", int64_t>, In<"prefetch_input_elements", int64_t>,
                Out<"handle", Variant>>;
  Result<Shape> InferShape(const Shape& input_dataset, std::span<const Known>,
                           const Shape& cycle_length, const Shape& block_length,
                           const Shape& sloppy, const Shape& buffer_output_elements,
                           const Shape& prefetch_input_elements) const {
    return DatasetOfScalars(input_dataset, cycle_length, block_length, sloppy,
                            buffer_output_elements, prefetch_input_elements);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                    std::span<Tensor* const> other_arguments, int64_t cycle_length,
                    int64_t block_length, bool, int64_t, int64_t) const;
};

struct ExperimentalParallelInterleaveDataset : ParallelInterleaveDataset {
  static constexpr auto kName = "ExperimentalParallelInterleaveDataset";
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kElementAttrs, std::tuple{Field{"f", &ParallelInterleaveDataset::f}.Required()});
  Result<Shape> InferShape(const Shape& input_dataset, std::span<const Known> other_arguments,
                           const Shape& cycle_length, const Shape& block_length,
                           const Shape& sloppy, const Shape& buffer_output_elements,
                           const Shape& prefetch_input_elements) const {
    return ParallelInterleaveDataset::InferShape(input_dataset, other_arguments, cycle_length,
                                                 block_length, sloppy, buffer_output_elements,
                                                 prefetch_input_elements);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                    std::span<Tensor* const> other_arguments, int64_t cycle_length,
                    int64_t block_length, bool, int64_t, int64_t) const;
};

struct ParallelInterleaveDatasetV2 : NestedDataset {
  static constexpr auto kName = "ParallelInterleaveDatasetV2";
  bool sloppy = false;
  using Sig =
      Signature<In<"input_dataset", Variant>, In<"other_arguments", TypeList<"Targuments", 0>>,
                In<"cycle_length", int64_t>, In<"block_length", int64_t>,
                In<"num_parallel_calls", int64_t>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNestedAttrs, std::tuple{Field{"sloppy", &ParallelInterleaveDatasetV2::sloppy}});
  Result<Shape> InferShape(const Shape& input_dataset, std::span<const Known>,
                           const Shape& cycle_length, const Shape& block_length,
                           const Shape& num_parallel_calls) const {
    return DatasetOfScalars(input_dataset, cycle_length, block_length, num_parallel_calls);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                    std::span<Tensor* const> other_arguments, int64_t cycle_length,
                    int64_t block_length, int64_t num_parallel_calls) const;
};

struct ParallelInterleaveDatasetV3 : NestedDataset {
  static constexpr auto kName = "ParallelInterleaveDatasetV3";
  std::string deterministic = "default";
  using Sig = ParallelInterleaveDatasetV2::Sig;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNestedAttrs,
      std::tuple{Field{"deterministic", &ParallelInterleaveDatasetV3::deterministic}});
  Result<Shape> InferShape(const Shape& input_dataset, std::span<const Known>,
                           const Shape& cycle_length, const Shape& block_length,
                           const Shape& num_parallel_calls) const {
    return DatasetOfScalars(input_dataset, cycle_length, block_length, num_parallel_calls);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                    std::span<Tensor* const> other_arguments, int64_t cycle_length,
                    int64_t block_length, int64_t num_parallel_calls) const;
};

struct ParallelInterleaveDatasetV4 : NestedDataset {
  static constexpr auto kName = "ParallelInterleaveDatasetV4";
  std::string deterministic = "default";
  using Sig =
      Signature<In<"input_dataset", Variant>, In<"other_arguments", TypeList<"Targuments", 0>>,
                In<"cycle_length", int64_t>, In<"block_length", int64_t>,
                In<"buffer_output_elements", int64_t>, In<"prefetch_input_elements", int64_t>,
                In<"num_parallel_calls", int64_t>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNestedAttrs,
      std::tuple{Field{"deterministic", &ParallelInterleaveDatasetV4::deterministic}});
  Result<Shape> InferShape(const Shape& input_dataset, std::span<const Known>,
                           const Shape& cycle_length, const Shape& block_length,
                           const Shape& buffer_output_elements,
                           const Shape& prefetch_input_elements,
                           const Shape& num_parallel_calls) const {
    return DatasetOfScalars(input_dataset, cycle_length, block_length, buffer_output_elements,
                            prefetch_input_elements, num_parallel_calls);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                    std::span<Tensor* const> other_arguments, int64_t cycle_length,
                    int64_t block_length, int64_t, int64_t, int64_t) const;
};

}  // namespace penstock::ops
