#pragma once

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Sums over rows that share a segment id.

namespace penstock::ops {

// output[s, ...] is the sum of the rows of `data` whose id is s. Rows with a negative id are left
// out.
struct UnsortedSegmentSum {
  static constexpr auto kName = "UnsortedSegmentSum";
  static constexpr double kCost = 2;
  using Sig =
      Signature<In<"data", NumberType<"T">>,
                In<"segment_ids", TypeVar<"Tindices", int16_t, int32_t, int64_t>>,
                In<"num_segments", IndexTypeOr32<"Tnumsegments">>, Out<"output", NumberType<"T">>>;

  Result<Shape> InferShape(const Shape& data, const Shape& segment_ids,
                           const Integers& num_segments) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& data, const Tensor& segment_ids,
                    const Integers& num_segments, Tensor& output) const;
};

}  // namespace penstock::ops
