#pragma once

#include "penstock/ops/data/dataset.h"
#include "penstock/ops/data/element_spec.h"

// Datasets that give elements in an order drawn from a buffer. Given seeds, the order is
// TensorFlow's.

namespace penstock::ops {

struct ShuffleDataset : NotedElementSpec {
  static constexpr auto kName = "ShuffleDataset";
  bool reshuffle_each_iteration = true;
  using Sig = Signature<In<"input_dataset", Variant>, In<"buffer_size", int64_t>,
                        In<"seed", int64_t>, In<"seed2", int64_t>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNotedAttrs,
      std::tuple{Field{"reshuffle_each_iteration", &ShuffleDataset::reshuffle_each_iteration}});
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& buffer_size, const Shape& seed,
                           const Shape& seed2) const {
    return DatasetOfScalars(input_dataset, buffer_size, seed, seed2);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, int64_t buffer_size,
                    int64_t seed, int64_t seed2) const;
};

// The same `count` times; without end when it is negative.
struct ShuffleAndRepeatDataset : NotedElementSpec {
  static constexpr auto kName = "ShuffleAndRepeatDataset";
  bool reshuffle_each_iteration = true;
  using Sig =
      Signature<In<"input_dataset", Variant>, In<"buffer_size", int64_t>, In<"seed", int64_t>,
                In<"seed2", int64_t>, In<"count", int64_t>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNotedAttrs, std::tuple{Field{"reshuffle_each_iteration",
                                    &ShuffleAndRepeatDataset::reshuffle_each_iteration}});
  Result<Shape> InferShape(const Shape& input_dataset, const Shape& buffer_size, const Shape& seed,
                           const Shape& seed2, const Shape& count) const {
    return DatasetOfScalars(input_dataset, buffer_size, seed, seed2, count);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_dataset, int64_t buffer_size,
                    int64_t seed, int64_t seed2, int64_t count) const;
};

}  // namespace penstock::ops
