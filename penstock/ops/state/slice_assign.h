#pragma once

#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// A part of a variable given new values: variable[begin:end:stride, ...] = value.

namespace penstock::ops {

struct StridedSliceAssign {
  static constexpr auto kName = "StridedSliceAssign";
  static constexpr bool kNoGradient = true;
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
  using Index = IndexType<"Index">;
  using Sig = Signature<In<"ref", Ref<AnyType<"T">>>, In<"begin", Index>, In<"end", Index>,
                        In<"strides", Index>, In<"value", AnyType<"T">>,
                        Out<"output_ref", Ref<AnyType<"T">>>>;
  static constexpr std::tuple kAttrs{
      Field{"begin_mask", &StridedSliceAssign::begin_mask},
      Field{"end_mask", &StridedSliceAssign::end_mask},
      Field{"ellipsis_mask", &StridedSliceAssign::ellipsis_mask},
      Field{"new_axis_mask", &StridedSliceAssign::new_axis_mask},
      Field{"shrink_axis_mask", &StridedSliceAssign::shrink_axis_mask}};

  Result<Shape> InferShape(const Shape& ref, const Integers& begin, const Integers& end,
                           const Integers& strides, const Shape& value) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct ResourceStridedSliceAssign {
  static constexpr auto kName = "ResourceStridedSliceAssign";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
  using Index = IndexType<"Index">;
  using Sig = Signature<In<"ref", ResourceHandle>, In<"begin", Index>, In<"end", Index>,
                        In<"strides", Index>, In<"value", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"begin_mask", &ResourceStridedSliceAssign::begin_mask},
      Field{"end_mask", &ResourceStridedSliceAssign::end_mask},
      Field{"ellipsis_mask", &ResourceStridedSliceAssign::ellipsis_mask},
      Field{"new_axis_mask", &ResourceStridedSliceAssign::new_axis_mask},
      Field{"shrink_axis_mask", &ResourceStridedSliceAssign::shrink_axis_mask}};

  Result<std::vector<Shape>> InferShape(const Handle& ref, const Integers& begin,
                                        const Integers& end, const Integers& strides,
                                        const Shape& value) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

}  // namespace penstock::ops
