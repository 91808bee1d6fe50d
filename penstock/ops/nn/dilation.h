#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Grey-scale dilation: the largest of input + filter over the places of a window, which lie `rates`
// apart. Channels last; filter is [rows, columns, channels]. Derivatives go to the first largest.

namespace penstock::ops {

// The attributes that all of them have, borrowed.
struct DilationWindow {
  const std::vector<int64_t>& strides;
  const std::vector<int64_t>& rates;
  const std::string& padding;
};

struct Dilation2D {
  static constexpr auto kName = "Dilation2D";
  static constexpr double kCost = 20;
  std::vector<int64_t> strides;
  std::vector<int64_t> rates;
  std::string padding;
  using Num = RealNumberType<"T">;
  using Sig = Signature<In<"input", Num>, In<"filter", Num>, Out<"output", Num>>;
  static constexpr std::tuple kAttrs{
      Field{"strides", &Dilation2D::strides}.Required().Min(4),
      Field{"rates", &Dilation2D::rates}.Required().Min(4),
      Field{"padding", &Dilation2D::padding}.Required().OneOf("SAME|VALID")};

  Result<Shape> InferShape(const Shape& input, const Shape& filter) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& filter,
                    Tensor& output) const;
};

// The derivative by the input or the filter.
template <FixedString Name, FixedString Output, bool by_filter>
struct DilationGrad {
  static constexpr auto kName = Name.view();
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 20;
  std::vector<int64_t> strides;
  std::vector<int64_t> rates;
  std::string padding;
  using Num = RealNumberType<"T">;
  using Sig =
      Signature<In<"input", Num>, In<"filter", Num>, In<"out_backprop", Num>, Out<Output, Num>>;
  static constexpr std::tuple kAttrs{
      Field{"strides", &DilationGrad::strides}.Required().Min(4),
      Field{"rates", &DilationGrad::rates}.Required().Min(4),
      Field{"padding", &DilationGrad::padding}.Required().OneOf("SAME|VALID")};

  Result<Shape> InferShape(const Shape& input, const Shape& filter,
                           const Shape& out_backprop) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& filter,
                    const Tensor& out_backprop, Tensor& output) const;
};
using Dilation2DBackpropInput = DilationGrad<"Dilation2DBackpropInput", "in_backprop", false>;
using Dilation2DBackpropFilter = DilationGrad<"Dilation2DBackpropFilter", "filter_backprop", true>;

}  // namespace penstock::ops
