#pragma once

#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Tensors made from a few numbers.

namespace penstock::ops {

struct Fill {
  static constexpr auto kName = "Fill";
  using Sig = Signature<In<"dims", IndexTypeOr32<"index_type">>, In<"value", AnyType<"T">>,
                        Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Integers& dims, const Shape& value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& dims, const Tensor& value,
                    Tensor& output) const;
};

// start, start + delta, ... up to but without `limit`.
struct Range {
  static constexpr auto kName = "Range";
  static constexpr bool kNoGradient = true;
  using Number = TypeVarOr<"Tidx", int32_t, bfloat16, half, float, double, int8_t, int16_t, int32_t,
                           int64_t, uint16_t, uint32_t, uint64_t>;
  using Sig = Signature<In<"start", Number>, In<"limit", Number>, In<"delta", Number>,
                        Out<"output", Number>>;

  Result<Shape> InferShape(const Known& start, const Known& limit, const Known& delta) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, T start, T limit, T delta, std::span<T> output) const;
};

// `num` values at equal distances from `start` to `stop`, both included.
struct LinSpace {
  static constexpr auto kName = "LinSpace";
  static constexpr bool kNoGradient = true;
  using Real = FloatType<"T">;
  using Sig = Signature<In<"start", Real>, In<"stop", Real>, In<"num", IndexTypeOr32<"Tidx">>,
                        Out<"output", Real>>;

  Result<Shape> InferShape(const Shape& start, const Shape& stop, const Integers& num) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, T start, T stop, const Tensor& num,
                    std::span<T> output) const;
};

// A new axis of `depth` elements that holds on_value where an index says and off_value elsewhere.
struct OneHot {
  static constexpr auto kName = "OneHot";
  static constexpr bool kNoGradient = true;
  int64_t axis = -1;
  using Sig = Signature<In<"indices", TypeVarOr<"TI", int64_t, uint8_t, int8_t, int32_t, int64_t>>,
                        In<"depth", int32_t>, In<"on_value", AnyType<"T">>,
                        In<"off_value", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"axis", &OneHot::axis}};

  Result<Shape> InferShape(const Shape& indices, const Integers& depth, const Shape& on_value,
                           const Shape& off_value) const;
  template <class Index>
  Status ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& depth,
                    const Tensor& on_value, const Tensor& off_value, Tensor& output) const;
};

}  // namespace penstock::ops
