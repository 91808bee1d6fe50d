#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

namespace penstock::ops {

// The Levenshtein distance between each row (the last axis) of two sparse tensors: how many values
// have to be put in, left out or replaced. Normalised, over the length of the truth.
struct EditDistance {
  static constexpr auto kName = "EditDistance";
  static constexpr bool kNoGradient = true;
  bool normalize = true;
  using Sig =
      Signature<In<"hypothesis_indices", int64_t>, In<"hypothesis_values", AnyType<"T">>,
                In<"hypothesis_shape", int64_t>, In<"truth_indices", int64_t>,
                In<"truth_values", AnyType<"T">>, In<"truth_shape", int64_t>, Out<"output", float>>;
  static constexpr std::tuple kAttrs{Field{"normalize", &EditDistance::normalize}};

  Result<Shape> InferShape(const Shape& hypothesis_indices, const Shape& hypothesis_values,
                           const Integers& hypothesis_shape, const Shape& truth_indices,
                           const Shape& truth_values, const Integers& truth_shape) const;
  Status ComputeCpu(CpuContext& context, const Tensor& hypothesis_indices,
                    const Tensor& hypothesis_values, const Tensor& hypothesis_shape,
                    const Tensor& truth_indices, const Tensor& truth_values,
                    const Tensor& truth_shape, Tensor& output) const;
};

}  // namespace penstock::ops
