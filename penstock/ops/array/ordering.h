#pragma once

#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Where values stand among others.

namespace penstock::ops {

// The number of boundaries that are at most each element. The boundaries are sorted.
struct Bucketize {
  static constexpr auto kName = "Bucketize";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 20;
  std::vector<float> boundaries;
  using Sig =
      Signature<In<"input", TypeVar<"T", int32_t, int64_t, float, double>>, Out<"output", int32_t>>;
  static constexpr std::tuple kAttrs{Field{"boundaries", &Bucketize::boundaries}.Required()};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& input) const { return input; }
  template <class T>
  Status ComputeCpu(CpuContext& context, std::span<const T> input, std::span<int32_t> output) const;
};

Result<Shape> InferBound(const Shape& sorted_inputs, const Shape& values);
Status FindBounds(CpuContext& context, bool is_upper, const Tensor& sorted_inputs,
                  const Tensor& values, Tensor& output);

// For each value the first place of its row of sorted_inputs that holds nothing smaller, or, the
// upper one, something larger.
template <FixedString Name, bool IsUpper>
struct Bound {
  static constexpr const char* kName = Name.text;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 40;
  using Sig = Signature<In<"sorted_inputs", AnyType<"T">>, In<"values", AnyType<"T">>,
                        Out<"output", IndexTypeOr32<"out_type">>>;

  Result<Shape> InferShape(const Shape& sorted_inputs, const Shape& values) const {
    return InferBound(sorted_inputs, values);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& sorted_inputs, const Tensor& values,
                    Tensor& output) const {
    return FindBounds(context, IsUpper, sorted_inputs, values, output);
  }
};
using LowerBound = Bound<"LowerBound", false>;
using UpperBound = Bound<"UpperBound", true>;

// How many values are in each of `nbins` equal parts of value_range. Values outside count to the
// first and the last.
struct HistogramFixedWidth {
  static constexpr auto kName = "HistogramFixedWidth";
  static constexpr bool kNoGradient = true;
  using Number = TypeVar<"T", int32_t, int64_t, float, double>;
  using Sig = Signature<In<"values", Number>, In<"value_range", Number>, In<"nbins", int32_t>,
                        Out<"out", IndexTypeOr32<"dtype">>>;

  Result<Shape> InferShape(const Shape& values, const Shape& value_range,
                           const Integers& nbins) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& values, const Tensor& value_range,
                    const Integers& nbins, Tensor& out) const;
};

// The n-th smallest, or largest, of each row (the last axis), counted from 0.
struct NthElement {
  static constexpr auto kName = "NthElement";
  static constexpr double kCost = 10;
  bool reverse = false;
  using Sig = Signature<In<"input", RealNumberType<"T">>, In<"n", int32_t>,
                        Out<"values", RealNumberType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"reverse", &NthElement::reverse}};

  Result<Shape> InferShape(const Shape& input, const Integers& n) const;
  void Gradient(Gradients& g) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& n,
                    Tensor& values) const;
};

// The index of each axis of a tensor of shape `dims` for places in row-major order.
struct UnravelIndex {
  static constexpr auto kName = "UnravelIndex";
  static constexpr bool kNoGradient = true;
  using Index = IndexTypeOr32<"Tidx">;
  using Sig = Signature<In<"indices", Index>, In<"dims", Index>, Out<"output", Index>>;

  Result<Shape> InferShape(const Shape& indices, const Shape& dims) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& indices, std::span<const T> dims,
                    Tensor& output) const;
};

}  // namespace penstock::ops
