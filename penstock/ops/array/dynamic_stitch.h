#pragma once

#include <span>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Rows dealt out to several tensors, and joined from several.

namespace penstock::ops {

Result<Shape> InferStitch(std::span<const Known> indices, std::span<const Known> data);
Status Stitch(CpuContext& context, std::span<Tensor* const> indices, std::span<Tensor* const> data);
void StitchGradient(Gradients& g);

// merged[indices[m][i], ...] = data[m][i, ...]; the last of equal indices wins, and rows that no
// index names are zero.
template <FixedString Name>
struct DynamicStitchOf {
  static constexpr const char* kName = Name.text;
  using Sig = Signature<In<"indices", List<"N", int32_t>>, In<"data", List<"N", AnyType<"T">>>,
                        Out<"merged", AnyType<"T">>>;

  Result<Shape> InferShape(std::span<const Known> indices, std::span<const Known> data) const {
    return InferStitch(indices, data);
  }
  void Gradient(Gradients& g) const { StitchGradient(g); }
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> indices,
                    std::span<Tensor* const> data) const {
    return Stitch(context, indices, data);
  }
};
using DynamicStitch = DynamicStitchOf<"DynamicStitch">;
// The same: here all of it runs in parallel, and equal indices still have one meaning.
using ParallelDynamicStitch = DynamicStitchOf<"ParallelDynamicStitch">;

// outputs[p] are the rows of `data` whose partition is p, in order.
struct DynamicPartition {
  static constexpr auto kName = "DynamicPartition";
  int64_t num_partitions = 1;
  using Sig = Signature<In<"data", AnyType<"T">>, In<"partitions", int32_t>,
                        Out<"outputs", List<"num_partitions", AnyType<"T">>>>;
  static constexpr std::tuple kAttrs{
      Field{"num_partitions", &DynamicPartition::num_partitions}.Required().Min(1)};

  Result<Shape> InferShape(const Shape& data, const Shape& partitions) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& data, const Tensor& partitions) const;
};

}  // namespace penstock::ops
