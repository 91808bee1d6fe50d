#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Sums of rows that indices name, one for each segment of the indices: how embeddings are pooled.

namespace penstock::ops {

// What the sum over n rows is divided by: nothing, n or its square root.
enum class SegmentScale { kNone, kMean, kSqrtN };

Result<Shape> InferSparseSegment(const Shape& data, const Shape& indices, const Shape& segment_ids);
Result<Shape> InferSparseSegment(const Shape& data, const Shape& indices, const Shape& segment_ids,
                                 const Integers& num_segments);
Result<Shape> InferSparseSegmentGrad(const Shape& grad, const Shape& indices,
                                     const Shape& segment_ids, const Integers& output_rows);
// `num_segments` below 0: one more than the last segment id.
Status PoolSegments(CpuContext& context, SegmentScale scale, const Tensor& data,
                    const Tensor& indices, const Tensor& segment_ids, int64_t num_segments);
Status SpreadSegments(CpuContext& context, SegmentScale scale, const Tensor& grad,
                      const Tensor& indices, const Tensor& segment_ids, Tensor& output);
Status SpreadSegmentsToUnique(CpuContext& context, SegmentScale scale, const Tensor& grad,
                              const Tensor& indices, const Tensor& segment_ids, int64_t limit);
void SparseSegmentGradient(Gradients& g, SegmentScale scale);

// output[s, ...] sums data[indices[i], ...] over all i with segment_ids[i] = s. The ids are sorted;
// segments without an index are zero.
template <FixedString Name, SegmentScale Scale, class T>
struct SparseSegment {
  static constexpr const char* kName = Name.text;
  static constexpr double kCost = 4;
  bool sparse_gradient = false;
  using Sig = Signature<In<"data", T>, In<"indices", IndexTypeOr32<"Tidx">>,
                        In<"segment_ids", IndexTypeOr32<"Tsegmentids">>, Out<"output", T>>;
  static constexpr std::tuple kAttrs{Field{"sparse_gradient", &SparseSegment::sparse_gradient}};

  Result<Shape> InferShape(const Shape& data, const Shape& indices,
                           const Shape& segment_ids) const {
    return InferSparseSegment(data, indices, segment_ids);
  }
  void Gradient(Gradients& g) const { SparseSegmentGradient(g, Scale); }
  Status ComputeCpu(CpuContext& context, const Tensor& data, const Tensor& indices,
                    const Tensor& segment_ids) const {
    return PoolSegments(context, Scale, data, indices, segment_ids, -1);
  }
};

template <FixedString Name, SegmentScale Scale, class T>
struct SparseSegmentWithNumSegments {
  static constexpr const char* kName = Name.text;
  static constexpr double kCost = 4;
  bool sparse_gradient = false;
  using Sig = Signature<In<"data", T>, In<"indices", IndexTypeOr32<"Tidx">>,
                        In<"segment_ids", IndexTypeOr32<"Tsegmentids">>,
                        In<"num_segments", IndexTypeOr32<"Tnumsegments">>, Out<"output", T>>;
  static constexpr std::tuple kAttrs{
      Field{"sparse_gradient", &SparseSegmentWithNumSegments::sparse_gradient}};

  Result<Shape> InferShape(const Shape& data, const Shape& indices, const Shape& segment_ids,
                           const Integers& num_segments) const {
    return InferSparseSegment(data, indices, segment_ids, num_segments);
  }
  void Gradient(Gradients& g) const { SparseSegmentGradient(g, Scale); }
  Status ComputeCpu(CpuContext& context, const Tensor& data, const Tensor& indices,
                    const Tensor& segment_ids, const Integers& num_segments) const {
    return PoolSegments(context, Scale, data, indices, segment_ids, num_segments[0]);
  }
};

// The gradient: each segment's goes back to all rows that went into it.
template <FixedString Name, SegmentScale Scale>
struct SparseSegmentGrad {
  static constexpr const char* kName = Name.text;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 4;
  using Sig = Signature<In<"grad", FloatType<"T">>, In<"indices", IndexTypeOr32<"Tidx">>,
                        In<"segment_ids", IndexTypeOr32<"Tsegmentids">>, In<"output_dim0", int32_t>,
                        Out<"output", FloatType<"T">>>;

  Result<Shape> InferShape(const Shape& grad, const Shape& indices, const Shape& segment_ids,
                           const Integers& output_dim0) const {
    return InferSparseSegmentGrad(grad, indices, segment_ids, output_dim0);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& grad, const Tensor& indices,
                    const Tensor& segment_ids, const Tensor&, Tensor& output) const {
    return SpreadSegments(context, Scale, grad, indices, segment_ids, output);
  }
};

// The same, of only those rows that an index names.
template <FixedString Name, SegmentScale Scale>
struct SparseSegmentGradV2 {
  static constexpr const char* kName = Name.text;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 4;
  using Sig =
      Signature<In<"grad", FloatType<"T">>, In<"indices", IndexTypeOr32<"Tidx">>,
                In<"segment_ids", IndexTypeOr32<"Tsegmentids">>, In<"dense_output_dim0", int32_t>,
                Out<"output", FloatType<"T">>, Out<"sorted_unique_indices", IndexTypeOr32<"Tidx">>>;

  Result<std::array<Shape, 2>> InferShape(const Shape& grad, const Shape& indices,
                                          const Shape& segment_ids,
                                          const Integers& dense_output_dim0) const {
    TRY_ASSIGN(Shape rows, InferSparseSegmentGrad(grad, indices, segment_ids, dense_output_dim0));
    if (rows.has_rank()) rows.set_dim(0, Shape::kUnknownDim);
    return std::array<Shape, 2>{rows, Shape{Shape::kUnknownDim}};
  }
  Status ComputeCpu(CpuContext& context, const Tensor& grad, const Tensor& indices,
                    const Tensor& segment_ids, const Integers& dense_output_dim0) const {
    return SpreadSegmentsToUnique(context, Scale, grad, indices, segment_ids, dense_output_dim0[0]);
  }
};

using SparseSegmentSum =
    SparseSegment<"SparseSegmentSum", SegmentScale::kNone, RealNumberType<"T">>;
using SparseSegmentMean = SparseSegment<"SparseSegmentMean", SegmentScale::kMean, FloatType<"T">>;
using SparseSegmentSqrtN =
    SparseSegment<"SparseSegmentSqrtN", SegmentScale::kSqrtN, FloatType<"T">>;
using SparseSegmentSumWithNumSegments =
    SparseSegmentWithNumSegments<"SparseSegmentSumWithNumSegments", SegmentScale::kNone,
                                 RealNumberType<"T">>;
using SparseSegmentMeanWithNumSegments =
    SparseSegmentWithNumSegments<"SparseSegmentMeanWithNumSegments", SegmentScale::kMean,
                                 FloatType<"T">>;
using SparseSegmentSqrtNWithNumSegments =
    SparseSegmentWithNumSegments<"SparseSegmentSqrtNWithNumSegments", SegmentScale::kSqrtN,
                                 FloatType<"T">>;
using SparseSegmentSumGrad = SparseSegmentGrad<"SparseSegmentSumGrad", SegmentScale::kNone>;
using SparseSegmentMeanGrad = SparseSegmentGrad<"SparseSegmentMeanGrad", SegmentScale::kMean>;
using SparseSegmentSqrtNGrad = SparseSegmentGrad<"SparseSegmentSqrtNGrad", SegmentScale::kSqrtN>;
using SparseSegmentSumGradV2 = SparseSegmentGradV2<"SparseSegmentSumGradV2", SegmentScale::kNone>;
using SparseSegmentMeanGradV2 = SparseSegmentGradV2<"SparseSegmentMeanGradV2", SegmentScale::kMean>;
using SparseSegmentSqrtNGradV2 =
    SparseSegmentGradV2<"SparseSegmentSqrtNGradV2", SegmentScale::kSqrtN>;

}  // namespace penstock::ops
