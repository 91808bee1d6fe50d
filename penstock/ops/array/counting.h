#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// How often each number below `size` is there, or the sum of the weights where it is. Larger
// numbers do not count. Weights without elements are all 1; with binary_output a number counts at
// most once.

namespace penstock::ops {

template <FixedString Name>
using CountType = TypeVar<Name, int32_t, int64_t, float, double>;

struct Bincount {
  static constexpr auto kName = "Bincount";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"arr", int32_t>, In<"size", int32_t>, In<"weights", CountType<"T">>,
                        Out<"bins", CountType<"T">>>;

  Result<Shape> InferShape(const Shape& arr, const Integers& size, const Shape& weights) const;
  Status ComputeCpu(CpuContext& context, const Tensor& arr, const Integers& size,
                    const Tensor& weights, Tensor& bins) const;
};

// Of a vector, or of each row of a matrix.
struct DenseBincount {
  static constexpr auto kName = "DenseBincount";
  static constexpr bool kNoGradient = true;
  bool binary_output = false;
  using Sig = Signature<In<"input", IndexType<"Tidx">>, In<"size", IndexType<"Tidx">>,
                        In<"weights", CountType<"T">>, Out<"output", CountType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"binary_output", &DenseBincount::binary_output}};

  Result<Shape> InferShape(const Shape& input, const Integers& size, const Shape& weights) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& size,
                    const Tensor& weights, Tensor& output) const;
};

// Of a sparse vector, or of each row of a sparse matrix.
struct SparseBincount {
  static constexpr auto kName = "SparseBincount";
  static constexpr bool kNoGradient = true;
  bool binary_output = false;
  using Sig = Signature<In<"indices", int64_t>, In<"values", IndexType<"Tidx">>,
                        In<"dense_shape", int64_t>, In<"size", IndexType<"Tidx">>,
                        In<"weights", CountType<"T">>, Out<"output", CountType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"binary_output", &SparseBincount::binary_output}};

  Result<Shape> InferShape(const Shape& indices, const Shape& values, const Integers& dense_shape,
                           const Integers& size, const Shape& weights) const;
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                    const Tensor& dense_shape, const Integers& size, const Tensor& weights,
                    Tensor& output) const;
};

// Of each row of a ragged matrix.
struct RaggedBincount {
  static constexpr auto kName = "RaggedBincount";
  static constexpr bool kNoGradient = true;
  bool binary_output = false;
  using Sig = Signature<In<"splits", int64_t>, In<"values", IndexType<"Tidx">>,
                        In<"size", IndexType<"Tidx">>, In<"weights", CountType<"T">>,
                        Out<"output", CountType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"binary_output", &RaggedBincount::binary_output}};

  Result<Shape> InferShape(const Shape& splits, const Shape& values, const Integers& size,
                           const Shape& weights) const;
  Status ComputeCpu(CpuContext& context, const Tensor& splits, const Tensor& values,
                    const Integers& size, const Tensor& weights, Tensor& output) const;
};

}  // namespace penstock::ops
