#pragma once

#include <span>
#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Strings put together, with a separator between them.

namespace penstock::ops {

// Strings of one place in all inputs; scalars stand for every place.
struct StringJoin {
  static constexpr auto kName = "StringJoin";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 100;
  std::string separator;
  using Sig = Signature<In<"inputs", List<"N", std::string, 0>>, Out<"output", std::string>>;
  static constexpr std::tuple kAttrs{Field{"separator", &StringJoin::separator}};

  Result<Shape> InferShape(std::span<const Known> inputs) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> inputs, Tensor& output) const;
};

// Along some axes, the first named of which changes fastest.
struct ReduceJoin {
  static constexpr auto kName = "ReduceJoin";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 100;
  bool keep_dims = false;
  std::string separator;
  using Sig = Signature<In<"inputs", std::string>, In<"reduction_indices", int32_t>,
                        Out<"output", std::string>>;
  static constexpr std::tuple kAttrs{Field{"keep_dims", &ReduceJoin::keep_dims},
                                     Field{"separator", &ReduceJoin::separator}};

  Result<Shape> InferShape(const Shape& inputs, const Integers& axes) const;
  Status ComputeCpu(CpuContext& context, const Tensor& inputs, const Integers& axes,
                    Tensor& output) const;
};

// Rows that share a segment id, place by place.
struct UnsortedSegmentJoin {
  static constexpr auto kName = "UnsortedSegmentJoin";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 100;
  std::string separator;
  using Sig =
      Signature<In<"inputs", std::string>, In<"segment_ids", IndexType<"Tindices">>,
                In<"num_segments", IndexTypeOr32<"Tnumsegments">>, Out<"output", std::string>>;
  static constexpr std::tuple kAttrs{Field{"separator", &UnsortedSegmentJoin::separator}};

  Result<Shape> InferShape(const Shape& inputs, const Shape& segment_ids,
                           const Integers& num_segments) const;
  Status ComputeCpu(CpuContext& context, const Tensor& inputs, const Tensor& segment_ids,
                    const Integers& num_segments, Tensor& output) const;
};

}  // namespace penstock::ops
