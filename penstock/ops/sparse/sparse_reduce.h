#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// The values of a sparse tensor made into one along some axes. What is not there does not count.

namespace penstock::ops {

enum class SparseFold { kSum, kMax };

Result<Shape> InferSparseReduce(const Shape& indices, const Shape& values, const Integers& extents,
                                const Integers& axes, bool keep_dims);
Status ReduceToDense(CpuContext& context, SparseFold fold, const Tensor& indices,
                     const Tensor& values, const Tensor& extents, const Integers& axes,
                     Tensor& output);
Result<std::array<Shape, 3>> InferSparseReduceSparse(const Shape& indices, const Shape& values,
                                                     const Shape& extents, const Integers& axes,
                                                     bool keep_dims);
Status ReduceToSparse(CpuContext& context, SparseFold fold, const Tensor& indices,
                      const Tensor& values, const Tensor& extents, const Integers& axes,
                      bool keep_dims);
void SparseReduceSumGradient(Gradients& g);

// Dense, and zero where there was no value.
struct SparseReduceSum {
  static constexpr auto kName = "SparseReduceSum";
  bool keep_dims = false;
  using T = NumberType<"T">;
  using Sig =
      Signature<In<"input_indices", int64_t>, In<"input_values", T>, In<"input_shape", int64_t>,
                In<"reduction_axes", int32_t>, Out<"output", T>>;
  static constexpr std::tuple kAttrs{Field{"keep_dims", &SparseReduceSum::keep_dims}};

  Result<Shape> InferShape(const Shape& indices, const Shape& values, const Integers& extents,
                           const Integers& axes) const {
    return InferSparseReduce(indices, values, extents, axes, keep_dims);
  }
  void Gradient(Gradients& g) const { SparseReduceSumGradient(g); }
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                    const Tensor& extents, const Integers& axes, Tensor& output) const {
    return ReduceToDense(context, SparseFold::kSum, indices, values, extents, axes, output);
  }
};

struct SparseReduceMax {
  static constexpr auto kName = "SparseReduceMax";
  static constexpr bool kNoGradient = true;
  bool keep_dims = false;
  using T = RealNumberType<"T">;
  using Sig =
      Signature<In<"input_indices", int64_t>, In<"input_values", T>, In<"input_shape", int64_t>,
                In<"reduction_axes", int32_t>, Out<"output", T>>;
  static constexpr std::tuple kAttrs{Field{"keep_dims", &SparseReduceMax::keep_dims}};

  Result<Shape> InferShape(const Shape& indices, const Shape& values, const Integers& extents,
                           const Integers& axes) const {
    return InferSparseReduce(indices, values, extents, axes, keep_dims);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                    const Tensor& extents, const Integers& axes, Tensor& output) const {
    return ReduceToDense(context, SparseFold::kMax, indices, values, extents, axes, output);
  }
};

// Sparse, with sorted indices.
template <FixedString Name, SparseFold Fold, class T>
struct SparseReduceSparse {
  static constexpr const char* kName = Name.text;
  static constexpr bool kNoGradient = true;
  bool keep_dims = false;
  using Sig =
      Signature<In<"input_indices", int64_t>, In<"input_values", T>, In<"input_shape", int64_t>,
                In<"reduction_axes", int32_t>, Out<"output_indices", int64_t>,
                Out<"output_values", T>, Out<"output_shape", int64_t>>;
  static constexpr std::tuple kAttrs{Field{"keep_dims", &SparseReduceSparse::keep_dims}};

  Result<std::array<Shape, 3>> InferShape(const Shape& indices, const Shape& values,
                                          const Shape& extents, const Integers& axes) const {
    return InferSparseReduceSparse(indices, values, extents, axes, keep_dims);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                    const Tensor& extents, const Integers& axes) const {
    return ReduceToSparse(context, Fold, indices, values, extents, axes, keep_dims);
  }
};
using SparseReduceSumSparse =
    SparseReduceSparse<"SparseReduceSumSparse", SparseFold::kSum, NumberType<"T">>;
using SparseReduceMaxSparse =
    SparseReduceSparse<"SparseReduceMaxSparse", SparseFold::kMax, RealNumberType<"T">>;

// The softmax over the values of each row (the last axis).
struct SparseSoftmax {
  static constexpr auto kName = "SparseSoftmax";
  static constexpr double kCost = 20;
  using Number = TypeVar<"T", half, float, double>;
  using Sig = Signature<In<"sp_indices", int64_t>, In<"sp_values", Number>, In<"sp_shape", int64_t>,
                        Out<"output", Number>>;

  Result<Shape> InferShape(const Shape& indices, const Shape& values, const Shape& extents) const;
  void Gradient(Gradients& g) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                    const Tensor& extents, Tensor& output) const;
};

}  // namespace penstock::ops
