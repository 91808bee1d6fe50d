#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/nn/pool.h"

// The derivatives of pooling, and those of the derivatives. orig_input and orig_output are the
// input and output of the pooling.

namespace penstock::ops {

// Each derivative goes to the first largest of its window.
struct MaxPoolGrad {
  static constexpr auto kName = "MaxPoolGrad";
  static constexpr double kCost = 10;
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  using Num = TypeVarOr<"T", float, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t,
                        bfloat16, uint16_t, half, uint32_t, uint64_t>;
  using Sig =
      Signature<In<"orig_input", Num>, In<"orig_output", Num>, In<"grad", Num>, Out<"output", Num>>;
  static constexpr std::tuple kAttrs{
      Field{"ksize", &MaxPoolGrad::ksize}.Required().Min(4),
      Field{"strides", &MaxPoolGrad::strides}.Required().Min(4),
      Field{"padding", &MaxPoolGrad::padding}.Required().OneOf("SAME|VALID|EXPLICIT"),
      Field{"explicit_paddings", &MaxPoolGrad::explicit_paddings},
      Field{"data_format", &MaxPoolGrad::data_format}.OneOf("NHWC|NCHW")};

  PoolWindow window() const { return {2, ksize, strides, padding, explicit_paddings, data_format}; }
  Result<Shape> InferShape(const Shape& orig_input, const Shape& orig_output,
                           const Shape& grad) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& orig_input, const Tensor& orig_output,
                    const Tensor& grad, Tensor& output) const;
};

// Each derivative goes to all places of its window that hold the largest.
struct MaxPool3DGrad {
  static constexpr auto kName = "MaxPool3DGrad";
  static constexpr double kCost = 20;
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding;
  std::string data_format = "NDHWC";
  using Num = TypeVarOr<"T", float, half, bfloat16, float>;
  using Orig = TypeVarOr<"TInput", float, half, bfloat16, float>;
  using Sig = Signature<In<"orig_input", Orig>, In<"orig_output", Orig>, In<"grad", Num>,
                        Out<"output", Num>>;
  static constexpr std::tuple kAttrs{
      Field{"ksize", &MaxPool3DGrad::ksize}.Required().Min(5),
      Field{"strides", &MaxPool3DGrad::strides}.Required().Min(5),
      Field{"padding", &MaxPool3DGrad::padding}.Required().OneOf("SAME|VALID"),
      Field{"data_format", &MaxPool3DGrad::data_format}.OneOf("NDHWC|NCDHW")};

  PoolWindow window() const { return {3, ksize, strides, padding, {}, data_format}; }
  Result<Shape> InferShape(const Shape& orig_input, const Shape& orig_output,
                           const Shape& grad) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& orig_input, const Tensor& orig_output,
                    const Tensor& grad, Tensor& output) const;
};

// For each window what `grad` has at the first place that holds the window's output.
template <FixedString Name, int spatial>
struct MaxPoolSecond {
  static constexpr auto kName = Name.view();
  static constexpr double kCost = 10;
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding;
  std::string data_format = PoolForm<spatial>::kChannelsLast;
  using Num = RealNumberType<"T">;
  using Sig =
      Signature<In<"orig_input", Num>, In<"orig_output", Num>, In<"grad", Num>, Out<"output", Num>>;
  static constexpr std::tuple kAttrs{
      Field{"ksize", &MaxPoolSecond::ksize}.Required().Min(spatial + 2),
      Field{"strides", &MaxPoolSecond::strides}.Required().Min(spatial + 2),
      Field{"padding", &MaxPoolSecond::padding}.Required().OneOf("SAME|VALID"),
      Field{"data_format", &MaxPoolSecond::data_format}.OneOf(PoolForm<spatial>::kDataFormats)};

  PoolWindow window() const { return {spatial, ksize, strides, padding, {}, data_format}; }
  Result<Shape> InferShape(const Shape& orig_input, const Shape& orig_output,
                           const Shape& grad) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& orig_input, const Tensor& orig_output,
                    const Tensor& grad, Tensor& output) const;
};
using MaxPoolGradGrad = MaxPoolSecond<"MaxPoolGradGrad", 2>;
using MaxPool3DGradGrad = MaxPoolSecond<"MaxPool3DGradGrad", 3>;

// MaxPoolGrad and MaxPoolGradGrad with the windows as inputs.
template <FixedString Name, class T, bool second>
struct MaxPoolDerivativeV2 {
  static constexpr auto kName = Name.view();
  static constexpr double kCost = 10;
  std::string padding;
  std::string data_format = "NHWC";
  using Sig = Signature<In<"orig_input", T>, In<"orig_output", T>, In<"grad", T>,
                        In<"ksize", int32_t>, In<"strides", int32_t>, Out<"output", T>>;
  static constexpr std::tuple kAttrs{
      Field{"padding", &MaxPoolDerivativeV2::padding}.Required().OneOf("SAME|VALID"),
      Field{"data_format", &MaxPoolDerivativeV2::data_format}.OneOf("NHWC|NCHW")};

  PoolWindow window(const Integers& ksize, const Integers& strides) const {
    return {2, ksize.values(), strides.values(), padding, {}, data_format};
  }
  Result<Shape> InferShape(const Shape& orig_input, const Shape& orig_output, const Shape& grad,
                           const Integers& ksize, const Integers& strides) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& orig_input, const Tensor& orig_output,
                    const Tensor& grad, const Integers& ksize, const Integers& strides,
                    Tensor& output) const;
};
using MaxPoolGradV2 = MaxPoolDerivativeV2<"MaxPoolGradV2", MaxPoolGrad::Num, false>;
using MaxPoolGradGradV2 = MaxPoolDerivativeV2<"MaxPoolGradGradV2", RealNumberType<"T">, true>;

// Each derivative is spread evenly over its window.
template <FixedString Name, int spatial>
struct MeanPoolGrad {
  static constexpr auto kName = Name.view();
  static constexpr double kCost = 8;
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding;
  std::string data_format = PoolForm<spatial>::kChannelsLast;
  using Num = FloatType<"T">;
  using Sig = Signature<In<"orig_input_shape", int32_t>, In<"grad", Num>, Out<"output", Num>>;
  static constexpr std::tuple kAttrs{
      Field{"ksize", &MeanPoolGrad::ksize}.Required().Min(spatial + 2),
      Field{"strides", &MeanPoolGrad::strides}.Required().Min(spatial + 2),
      Field{"padding", &MeanPoolGrad::padding}.Required().OneOf("SAME|VALID"),
      Field{"data_format", &MeanPoolGrad::data_format}.OneOf(PoolForm<spatial>::kDataFormats)};

  PoolWindow window() const { return {spatial, ksize, strides, padding, {}, data_format}; }
  Result<Shape> InferShape(const Integers& orig_input_shape, const Shape& grad) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Integers& orig_input_shape, const Tensor& grad,
                    Tensor& output) const;
};
using AvgPoolGrad = MeanPoolGrad<"AvgPoolGrad", 2>;
using AvgPool3DGrad = MeanPoolGrad<"AvgPool3DGrad", 3>;

}  // namespace penstock::ops
