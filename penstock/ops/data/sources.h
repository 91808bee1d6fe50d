#pragma once

#include <span>

#include "penstock/ops/data/dataset.h"
#include "penstock/ops/data/element_spec.h"

// Datasets that stand on no other: tensors, their slices, numbers.

namespace penstock::ops {

// One element: the components.
struct TensorDataset {
  static constexpr auto kName = "TensorDataset";
  static constexpr bool kStateful = true;
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kNoGradient = true;
  std::vector<Shape> output_shapes;
  std::string metadata;
  using Sig = Signature<In<"components", TypeList<"Toutput_types">>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs{
      Field{"output_shapes", &TensorDataset::output_shapes}.Required().Min(1),
      Field{"metadata", &TensorDataset::metadata}};

  Result<Shape> InferShape(std::span<const Known>) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> components) const;
};

// An element for each row of the components.
struct TensorSliceDataset {
  static constexpr auto kName = "TensorSliceDataset";
  static constexpr bool kStateful = true;
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kNoGradient = true;
  std::vector<Shape> output_shapes;
  bool is_files = false;
  std::string metadata;
  bool replicate_on_split = false;
  using Sig = Signature<In<"components", TypeList<"Toutput_types">>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs{
      Field{"output_shapes", &TensorSliceDataset::output_shapes}.Required().Min(1),
      Field{"is_files", &TensorSliceDataset::is_files},
      Field{"metadata", &TensorSliceDataset::metadata},
      Field{"replicate_on_split", &TensorSliceDataset::replicate_on_split}};

  Result<Shape> InferShape(std::span<const Known> components) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> components) const;
};

struct RangeDataset : NotedElementSpec {
  static constexpr auto kName = "RangeDataset";
  static constexpr bool kStateful = true;
  bool replicate_on_split = false;
  using Sig = Signature<In<"start", int64_t>, In<"stop", int64_t>, In<"step", int64_t>,
                        Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs = std::tuple_cat(
      kNotedAttrs, std::tuple{Field{"replicate_on_split", &RangeDataset::replicate_on_split}});

  Result<Shape> InferShape(const Shape& start, const Shape& stop, const Shape& step) const {
    return DatasetOfScalars(start, stop, step);
  }
  Status ComputeCpu(CpuContext& context, int64_t start, int64_t stop, int64_t step) const;
};

}  // namespace penstock::ops
