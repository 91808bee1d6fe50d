#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/strided_copy.h"
#include "penstock/ops/type_sets.h"

// Parts of a tensor.

namespace penstock::ops {

// size[i] elements from begin[i] on along each axis; -1 means all that are left.
struct Slice {
  static constexpr auto kName = "Slice";
  static constexpr bool kAliases = true;  // when the part is one run of rows
  using Sig = Signature<In<"input", AnyType<"T">>, In<"begin", IndexType<"Index">>,
                        In<"size", IndexType<"Index">>, Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input, const Integers& begin, const Integers& size) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& begin,
                    const Integers& size) const;
};

// What the masks of StridedSlice ask for, applied to an input.
struct SliceMasks {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t ellipsis = 0;
  int64_t new_axis = 0;
  int64_t shrink_axis = 0;
};
// For each axis of the input its first element, its step and how many are taken; and the shape of
// what comes out, with new axes and without shrunk ones. Sizes are -1 and begins meaningless where
// unknown.
struct SlicePlan {
  std::vector<int64_t> begins;
  std::vector<int64_t> steps;
  std::vector<int64_t> sizes;
  Shape shape;
};
// `count` is the length of the three vectors. REQUIRES: `input` has a rank.
Result<SlicePlan> PlanSlice(const Shape& input, const Integers& begin, const Integers& end,
                            const Integers& strides, int64_t count, const SliceMasks& masks);

// The common length of the three vectors of a strided slice; -1 when it is not known.
Result<int64_t> SliceEntryCount(const Integers& begin, const Integers& end,
                                const Integers& strides);
// The part of a dense tensor that a plan takes.
StridedPart SlicedPart(const Shape& shape, const SlicePlan& plan);

// NumPy's slicing: input[begin:end:stride, ..., newaxis, i].
struct StridedSlice {
  static constexpr auto kName = "StridedSlice";
  static constexpr bool kAliases = true;  // when the part is one run of rows
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
  using Index = TypeVar<"Index", int16_t, int32_t, int64_t>;
  using Sig = Signature<In<"input", AnyType<"T">>, In<"begin", Index>, In<"end", Index>,
                        In<"strides", Index>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"begin_mask", &StridedSlice::begin_mask},
                                     Field{"end_mask", &StridedSlice::end_mask},
                                     Field{"ellipsis_mask", &StridedSlice::ellipsis_mask},
                                     Field{"new_axis_mask", &StridedSlice::new_axis_mask},
                                     Field{"shrink_axis_mask", &StridedSlice::shrink_axis_mask}};

  Result<Shape> InferShape(const Shape& input, const Integers& begin, const Integers& end,
                           const Integers& strides) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& begin,
                    const Integers& end, const Integers& strides) const;
};

// Zeros of `shape` with `dy` at the place that the slice names.
struct StridedSliceGrad {
  static constexpr auto kName = "StridedSliceGrad";
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
  using Index = IndexType<"Index">;
  using Sig = Signature<In<"shape", Index>, In<"begin", Index>, In<"end", Index>,
                        In<"strides", Index>, In<"dy", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"begin_mask", &StridedSliceGrad::begin_mask},
      Field{"end_mask", &StridedSliceGrad::end_mask},
      Field{"ellipsis_mask", &StridedSliceGrad::ellipsis_mask},
      Field{"new_axis_mask", &StridedSliceGrad::new_axis_mask},
      Field{"shrink_axis_mask", &StridedSliceGrad::shrink_axis_mask}};

  Result<Shape> InferShape(const Integers& shape, const Integers& begin, const Integers& end,
                           const Integers& strides, const Shape& dy) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& shape, const Integers& begin,
                    const Integers& end, const Integers& strides, const Tensor& dy,
                    Tensor& output) const;
};

// `input` with `value`, broadcast to the part that the slice names, in its place.
struct TensorStridedSliceUpdate {
  static constexpr auto kName = "TensorStridedSliceUpdate";
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
  using Index = IndexType<"Index">;
  using Sig =
      Signature<In<"input", AnyType<"T">>, In<"begin", Index>, In<"end", Index>,
                In<"strides", Index>, In<"value", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"begin_mask", &TensorStridedSliceUpdate::begin_mask},
      Field{"end_mask", &TensorStridedSliceUpdate::end_mask},
      Field{"ellipsis_mask", &TensorStridedSliceUpdate::ellipsis_mask},
      Field{"new_axis_mask", &TensorStridedSliceUpdate::new_axis_mask},
      Field{"shrink_axis_mask", &TensorStridedSliceUpdate::shrink_axis_mask}};

  Result<Shape> InferShape(const Shape& input, const Integers& begin, const Integers& end,
                           const Integers& strides, const Shape& value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& begin,
                    const Integers& end, const Integers& strides, const Tensor& value,
                    Tensor& output) const;
};

}  // namespace penstock::ops
