#pragma once

#include <string_view>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Rows of `data` that share a segment id, made into one. Rows of a segment follow each other in
// order, so that the result has the same bits for any number of threads.

namespace penstock::ops {

enum class SegmentFold { kSum, kMean, kProd, kMin, kMax };

Result<Shape> InferSortedSegments(const Shape& data, const Shape& segment_ids);
Result<Shape> InferSegments(const Shape& data, const Shape& segment_ids,
                            const Integers& num_segments);
Status FoldSortedSegments(CpuContext& context, SegmentFold fold, const Tensor& data,
                          const Tensor& segment_ids);
Status FoldSegments(CpuContext& context, SegmentFold fold, const Tensor& data,
                    const Tensor& segment_ids, int64_t num_segments, Tensor& output);
void SegmentGradient(Gradients& g, SegmentFold fold);

// The ids are sorted, and the last one says how many segments there are. A segment without rows is
// 1 for products and 0 for all else.
template <FixedString Name, SegmentFold Fold, class T>
struct SortedSegment {
  static constexpr const char* kName = Name.text;
  static constexpr double kCost = 2;
  using Sig = Signature<In<"data", T>, In<"segment_ids", IndexType<"Tindices">>, Out<"output", T>>;

  Result<Shape> InferShape(const Shape& data, const Shape& segment_ids) const {
    return InferSortedSegments(data, segment_ids);
  }
  void Gradient(Gradients& g) const { SegmentGradient(g, Fold); }
  Status ComputeCpu(CpuContext& context, const Tensor& data, const Tensor& segment_ids) const {
    return FoldSortedSegments(context, Fold, data, segment_ids);
  }
};

using SegmentSum = SortedSegment<"SegmentSum", SegmentFold::kSum, NumberType<"T">>;
using SegmentMean = SortedSegment<"SegmentMean", SegmentFold::kMean, NumberType<"T">>;
using SegmentProd = SortedSegment<"SegmentProd", SegmentFold::kProd, NumberType<"T">>;
using SegmentMin = SortedSegment<"SegmentMin", SegmentFold::kMin, RealNumberType<"T">>;
using SegmentMax = SortedSegment<"SegmentMax", SegmentFold::kMax, RealNumberType<"T">>;

// The ids come in any order and may be of several axes, and the number of segments is told. Rows
// with a negative id are left out. A segment without rows is 0 or 1 for sums and products, the
// highest or lowest number for a minimum or maximum.
template <FixedString Name, SegmentFold Fold, class T, class Index>
struct NumberedSegment {
  static constexpr const char* kName = Name.text;
  static constexpr double kCost = 2;
  using Sig = Signature<In<"data", T>, In<"segment_ids", Index>,
                        In<"num_segments", IndexTypeOr32<"Tnumsegments">>, Out<"output", T>>;

  Result<Shape> InferShape(const Shape& data, const Shape& segment_ids,
                           const Integers& num_segments) const {
    return InferSegments(data, segment_ids, num_segments);
  }
  void Gradient(Gradients& g) const { SegmentGradient(g, Fold); }
  Status ComputeCpu(CpuContext& context, const Tensor& data, const Tensor& segment_ids,
                    const Integers& num_segments, Tensor& output) const {
    return FoldSegments(context, Fold, data, segment_ids, num_segments[0], output);
  }
};

using UnsortedSegmentSum = NumberedSegment<"UnsortedSegmentSum", SegmentFold::kSum, NumberType<"T">,
                                           TypeVar<"Tindices", int16_t, int32_t, int64_t>>;
using UnsortedSegmentProd = NumberedSegment<"UnsortedSegmentProd", SegmentFold::kProd,
                                            NumberType<"T">, IndexType<"Tindices">>;
using UnsortedSegmentMin = NumberedSegment<"UnsortedSegmentMin", SegmentFold::kMin,
                                           RealNumberType<"T">, IndexType<"Tindices">>;
using UnsortedSegmentMax = NumberedSegment<"UnsortedSegmentMax", SegmentFold::kMax,
                                           RealNumberType<"T">, IndexType<"Tindices">>;
using SegmentSumV2 =
    NumberedSegment<"SegmentSumV2", SegmentFold::kSum, NumberType<"T">, IndexType<"Tindices">>;
using SegmentProdV2 =
    NumberedSegment<"SegmentProdV2", SegmentFold::kProd, NumberType<"T">, IndexType<"Tindices">>;
using SegmentMinV2 =
    NumberedSegment<"SegmentMinV2", SegmentFold::kMin, RealNumberType<"T">, IndexType<"Tindices">>;
using SegmentMaxV2 =
    NumberedSegment<"SegmentMaxV2", SegmentFold::kMax, RealNumberType<"T">, IndexType<"Tindices">>;

}  // namespace penstock::ops
