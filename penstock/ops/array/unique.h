#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// The distinct elements of a tensor, in the order of their first appearance.

namespace penstock::ops {

// y are the distinct elements of a vector, idx the place in y of each element of x.
struct Unique {
  static constexpr auto kName = "Unique";
  static constexpr bool kNoGradient = true;
  DType out_idx = DType::kInt32;
  using Sig = Signature<In<"x", AnyType<"T">>, Out<"y", AnyType<"T">>,
                        Out<"idx", IndexTypeOr32<"out_idx">>>;
  static constexpr std::tuple kAttrs{Field{"out_idx", &Unique::out_idx}};

  Result<std::array<Shape, 2>> InferShape(const Shape& x) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x) const;
};

// The same for slices of any axis: `axis` has that one, or nothing when x is a vector.
struct UniqueV2 {
  static constexpr auto kName = "UniqueV2";
  static constexpr bool kNoGradient = true;
  DType out_idx = DType::kInt32;
  using Axis = TypeVarOr<"Taxis", int64_t, int32_t, int64_t>;
  using Sig = Signature<In<"x", AnyType<"T">>, In<"axis", Axis>, Out<"y", AnyType<"T">>,
                        Out<"idx", IndexTypeOr32<"out_idx">>>;
  static constexpr std::tuple kAttrs{Field{"out_idx", &UniqueV2::out_idx}};

  Result<std::array<Shape, 2>> InferShape(const Shape& x, const Integers& axis) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Integers& axis) const;
};

// Besides, how often each is there.
struct UniqueWithCounts {
  static constexpr auto kName = "UniqueWithCounts";
  static constexpr bool kNoGradient = true;
  DType out_idx = DType::kInt32;
  using Sig =
      Signature<In<"x", AnyType<"T">>, Out<"y", AnyType<"T">>, Out<"idx", IndexTypeOr32<"out_idx">>,
                Out<"count", IndexTypeOr32<"out_idx">>>;
  static constexpr std::tuple kAttrs{Field{"out_idx", &UniqueWithCounts::out_idx}};

  Result<std::array<Shape, 3>> InferShape(const Shape& x) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x) const;
};

struct UniqueWithCountsV2 {
  static constexpr auto kName = "UniqueWithCountsV2";
  static constexpr bool kNoGradient = true;
  DType out_idx = DType::kInt32;
  using Sig =
      Signature<In<"x", AnyType<"T">>, In<"axis", UniqueV2::Axis>, Out<"y", AnyType<"T">>,
                Out<"idx", IndexTypeOr32<"out_idx">>, Out<"count", IndexTypeOr32<"out_idx">>>;
  static constexpr std::tuple kAttrs{Field{"out_idx", &UniqueWithCountsV2::out_idx}};

  Result<std::array<Shape, 3>> InferShape(const Shape& x, const Integers& axis) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Integers& axis) const;
};

// The elements of x that y does not have, and their places in x.
struct ListDiff {
  static constexpr auto kName = "ListDiff";
  static constexpr bool kNoGradient = true;
  DType out_idx = DType::kInt32;
  using Sig = Signature<In<"x", AnyType<"T">>, In<"y", AnyType<"T">>, Out<"out", AnyType<"T">>,
                        Out<"idx", IndexTypeOr32<"out_idx">>>;
  static constexpr std::tuple kAttrs{Field{"out_idx", &ListDiff::out_idx}};

  Result<Shape> InferShape(const Shape& x, const Shape& y) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& y) const;
};

}  // namespace penstock::ops
