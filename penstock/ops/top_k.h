#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// The k largest elements of each row (the last axis) and their places, the first of equals first.

namespace penstock::ops {

struct TopKV2 {
  static constexpr auto kName = "TopKV2";
  static constexpr double kCost = 20;
  bool sorted = true;
  template <FixedString Name>
  using Count = TypeVarOr<Name, int32_t, int16_t, int32_t, int64_t>;
  using Sig = Signature<In<"input", RealNumberType<"T">>, In<"k", Count<"Tk">>,
                        Out<"values", RealNumberType<"T">>, Out<"indices", Count<"index_type">>>;
  static constexpr std::tuple kAttrs{Field{"sorted", &TopKV2::sorted}};

  Result<std::array<Shape, 2>> InferShape(const Shape& input, const Known& k) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& k, Tensor& values,
                    Tensor& indices) const;
};

struct TopK {
  static constexpr auto kName = "TopK";
  static constexpr double kCost = 20;
  int64_t k = 0;
  bool sorted = true;
  using Sig = Signature<In<"input", RealNumberType<"T">>, Out<"values", RealNumberType<"T">>,
                        Out<"indices", int32_t>>;
  static constexpr std::tuple kAttrs{Field{"k", &TopK::k}.Required().Min(0),
                                     Field{"sorted", &TopK::sorted}};

  Result<std::array<Shape, 2>> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& values,
                    Tensor& indices) const;
};

}  // namespace penstock::ops
