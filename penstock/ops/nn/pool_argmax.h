#pragma once

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/nn/pool_window.h"
#include "penstock/ops/type_sets.h"

// Max pooling that tells where it found the largest, and the derivatives that go there. An argmax
// counts the elements of its image, or of the whole batch if include_batch_in_index.

namespace penstock::ops {

struct MaxPoolWithArgmax {
  static constexpr auto kName = "MaxPoolWithArgmax";
  static constexpr double kCost = 10;
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding;
  bool include_batch_in_index = false;
  using Num = RealNumberType<"T">;
  using Index = TypeVarOr<"Targmax", int64_t, int32_t, int64_t>;
  using Sig = Signature<In<"input", Num>, Out<"output", Num>, Out<"argmax", Index>>;
  static constexpr std::tuple kAttrs{
      Field{"ksize", &MaxPoolWithArgmax::ksize}.Required().Min(4),
      Field{"strides", &MaxPoolWithArgmax::strides}.Required().Min(4),
      Field{"padding", &MaxPoolWithArgmax::padding}.Required().OneOf("SAME|VALID"),
      Field{"include_batch_in_index", &MaxPoolWithArgmax::include_batch_in_index}};

  PoolWindow window() const { return {2, ksize, strides, padding}; }
  Result<std::array<Shape, 2>> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output, Tensor& argmax) const;
};

// Adds each derivative to where its argmax points; or, `second`, takes what lies there.
template <FixedString Name, bool second>
struct MaxPoolArgmaxDerivative {
  static constexpr auto kName = Name.view();
  static constexpr double kCost = 10;
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding;
  bool include_batch_in_index = false;
  using Num = RealNumberType<"T">;
  using Index = IndexType<"Targmax">;
  using Sig = Signature<In<"input", Num>, In<"grad", Num>, In<"argmax", Index>, Out<"output", Num>>;
  static constexpr std::tuple kAttrs{
      Field{"ksize", &MaxPoolArgmaxDerivative::ksize}.Required().Min(4),
      Field{"strides", &MaxPoolArgmaxDerivative::strides}.Required().Min(4),
      Field{"padding", &MaxPoolArgmaxDerivative::padding}.Required().OneOf("SAME|VALID"),
      Field{"include_batch_in_index", &MaxPoolArgmaxDerivative::include_batch_in_index}};

  PoolWindow window() const { return {2, ksize, strides, padding}; }
  Result<Shape> InferShape(const Shape& input, const Shape& grad, const Shape& argmax) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& grad,
                    const Tensor& argmax, Tensor& output) const;
};
using MaxPoolGradWithArgmax = MaxPoolArgmaxDerivative<"MaxPoolGradWithArgmax", false>;
using MaxPoolGradGradWithArgmax = MaxPoolArgmaxDerivative<"MaxPoolGradGradWithArgmax", true>;

}  // namespace penstock::ops
