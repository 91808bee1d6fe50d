#pragma once

#include <span>

#include "penstock/ops/data/dataset.h"
#include "penstock/ops/data/element_spec.h"

// Datasets whose elements are several of another, stacked.

namespace penstock::ops {

struct BatchDataset : NotedElementSpec {
  static constexpr auto kName = "BatchDataset";
  using Sig =
      Signature<In<"input_dataset", Variant>, In<"batch_size", int64_t>, Out<"handle", Variant>>;
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& batch_size) const {
    return DatasetOfScalars(input_dataset, batch_size);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, int64_t batch_size) const;
};

struct BatchDatasetV2 : NotedElementSpec {
  static constexpr auto kName = "BatchDatasetV2";
  bool parallel_copy = false;
  using Sig = Signature<In<"input_dataset", Variant>, In<"batch_size", int64_t>,
                        In<"drop_remainder", bool>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNotedAttrs, std::tuple{Field{"parallel_copy", &BatchDatasetV2::parallel_copy}});
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& batch_size,
                           const Shape& drop_remainder) const {
    return DatasetOfScalars(input_dataset, batch_size, drop_remainder);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, int64_t batch_size,
                    bool drop_remainder) const;
};

struct ParallelBatchDataset : NotedElementSpec {
  static constexpr auto kName = "ParallelBatchDataset";
  bool parallel_copy = false;
  std::string deterministic = "default";
  using Sig = Signature<In<"input_dataset", Variant>, In<"batch_size", int64_t>,
                        In<"num_parallel_calls", int64_t>, In<"drop_remainder", bool>,
                        Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNotedAttrs, std::tuple{Field{"parallel_copy", &ParallelBatchDataset::parallel_copy},
                              Field{"deterministic", &ParallelBatchDataset::deterministic}});
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& batch_size,
                           const Shape& num_parallel_calls, const Shape& drop_remainder) const {
    return DatasetOfScalars(input_dataset, batch_size, num_parallel_calls, drop_remainder);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, int64_t batch_size, int64_t,
                    bool drop_remainder) const;
};

// Elements of different shapes, each padded to what padded_shapes says; -1 stands for the longest
// in the batch.
struct PaddedBatchDataset {
  static constexpr auto kName = "PaddedBatchDataset";
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kNoGradient = true;
  std::vector<Shape> output_shapes;
  std::string metadata;
  using Sig = Signature<In<"input_dataset", Variant>, In<"batch_size", int64_t>,
                        In<"padded_shapes", List<"N", int64_t>>,
                        In<"padding_values", TypeList<"Toutput_types">>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs{
      Field{"output_shapes", &PaddedBatchDataset::output_shapes}.Required().Min(1),
      Field{"metadata", &PaddedBatchDataset::metadata}};
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& batch_size,
                           std::span<const Known> padded_shapes,
                           std::span<const Known> padding_values) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, int64_t batch_size,
                    std::span<Tensor* const> padded_shapes,
                    std::span<Tensor* const> padding_values) const;
};

struct PaddedBatchDatasetV2 {
  static constexpr auto kName = "PaddedBatchDatasetV2";
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kNoGradient = true;
  std::vector<Shape> output_shapes;
  bool parallel_copy = false;
  std::string metadata;
  using Sig = Signature<In<"input_dataset", Variant>, In<"batch_size", int64_t>,
                        In<"padded_shapes", List<"N", int64_t>>,
                        In<"padding_values", TypeList<"Toutput_types">>, In<"drop_remainder", bool>,
                        Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs{
      Field{"output_shapes", &PaddedBatchDatasetV2::output_shapes}.Required().Min(1),
      Field{"parallel_copy", &PaddedBatchDatasetV2::parallel_copy},
      Field{"metadata", &PaddedBatchDatasetV2::metadata}};
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& batch_size,
                           std::span<const Known> padded_shapes,
                           std::span<const Known> padding_values,
                           const Shape& drop_remainder) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, int64_t batch_size,
                    std::span<Tensor* const> padded_shapes, std::span<Tensor* const> padding_values,
                    bool drop_remainder) const;
};

}  // namespace penstock::ops
