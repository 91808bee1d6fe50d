#pragma once

#include <string>
#include <vector>

#include "penstock/ops/nn/conv_geometry.h"
#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Convolutions and their gradients, which are linear maps with gradients of their own. The filter
// is [spatial..., in / groups, out], of a depth-wise one [spatial..., in, multiplier].

namespace penstock::ops {

struct Conv2DAttributes {
  std::vector<int64_t> strides = {};
  bool use_cudnn_on_gpu = true;
  std::string padding = {};
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};

  static constexpr std::tuple kAttrs{
      Field{"strides", &Conv2DAttributes::strides}.Required(),
      Field{"use_cudnn_on_gpu", &Conv2DAttributes::use_cudnn_on_gpu},
      Field{"padding", &Conv2DAttributes::padding}.Required().OneOf("SAME|VALID|EXPLICIT"),
      Field{"explicit_paddings", &Conv2DAttributes::explicit_paddings},
      Field{"data_format", &Conv2DAttributes::data_format}.OneOf("NHWC|NCHW"),
      Field{"dilations", &Conv2DAttributes::dilations}};
  ConvRules Rules() const {
    return {2, false, strides, dilations, padding, explicit_paddings, data_format};
  }
  Status CheckAttrs() const { return Rules().Check(); }
};

struct DepthwiseAttributes {
  std::vector<int64_t> strides = {};
  std::string padding = {};
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};

  static constexpr std::tuple kAttrs{
      Field{"strides", &DepthwiseAttributes::strides}.Required(),
      Field{"padding", &DepthwiseAttributes::padding}.Required().OneOf("SAME|VALID|EXPLICIT"),
      Field{"explicit_paddings", &DepthwiseAttributes::explicit_paddings},
      Field{"data_format", &DepthwiseAttributes::data_format}.OneOf("NHWC|NCHW"),
      Field{"dilations", &DepthwiseAttributes::dilations}};
  ConvRules Rules() const {
    return {2, true, strides, dilations, padding, explicit_paddings, data_format};
  }
  Status CheckAttrs() const { return Rules().Check(); }
};

struct Conv3DAttributes {
  std::vector<int64_t> strides = {};
  std::string padding = {};
  std::string data_format = "NDHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1, 1};

  static constexpr std::tuple kAttrs{
      Field{"strides", &Conv3DAttributes::strides}.Required().Min(5),
      Field{"padding", &Conv3DAttributes::padding}.Required().OneOf("SAME|VALID"),
      Field{"data_format", &Conv3DAttributes::data_format}.OneOf("NDHWC|NCDHW"),
      Field{"dilations", &Conv3DAttributes::dilations}};
  ConvRules Rules() const { return {3, false, strides, dilations, padding, {}, data_format}; }
  Status CheckAttrs() const { return Rules().Check(); }
};

// The first form of the gradients of Conv3D, without a data format.
struct Conv3DLastAttributes {
  std::vector<int64_t> strides = {};
  std::string padding = {};
  std::vector<int64_t> dilations = {1, 1, 1, 1, 1};

  static constexpr std::tuple kAttrs{
      Field{"strides", &Conv3DLastAttributes::strides}.Required().Min(5),
      Field{"padding", &Conv3DLastAttributes::padding}.Required().OneOf("SAME|VALID"),
      Field{"dilations", &Conv3DLastAttributes::dilations}};
  ConvRules Rules() const { return {3, false, strides, dilations, padding, {}, "NDHWC"}; }
  Status CheckAttrs() const { return Rules().Check(); }
};

// The ops of one kind of convolution, for each other's gradients.
struct ConvFamily {
  std::string_view forward, input_gradient, filter_gradient;
};
inline constexpr ConvFamily kConv2D{"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"};
inline constexpr ConvFamily kDepthwise{"DepthwiseConv2dNative",
                                       "DepthwiseConv2dNativeBackpropInput",
                                       "DepthwiseConv2dNativeBackpropFilter"};
inline constexpr ConvFamily kConv3D{"Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"};

// How a gradient op is told the shape of its result: by a vector of type T ...
template <FixedString Input, FixedString Filter, class T>
struct BySizes {
  using Parameter = Integers;
  template <class Num>
  using InputArg = In<Input, T>;
  template <class Num>
  using FilterArg = In<Filter, T>;
};
// ... or by a tensor like the result, whose elements do not matter.
struct ByTensor {
  using Parameter = Shape;
  template <class Num>
  using InputArg = In<"input", Num>;
  template <class Num>
  using FilterArg = In<"filter", Num>;
};

// The shape of the input or the filter of a convolution, as its gradient op is told. The vector of
// an input may leave batch and channels out.
Result<Shape> InputShape(const ConvRules& rules, const Integers& sizes, const Shape& filter,
                         const Shape& dy);
Result<Shape> InputShape(const ConvRules& rules, const Shape& like, const Shape& filter,
                         const Shape& dy);
Result<Shape> FilterShape(const ConvRules& rules, const Integers& sizes);
Result<Shape> FilterShape(const ConvRules& rules, const Shape& like);

// The three forms, over the attributes and the type of the elements.
template <FixedString Name, const ConvFamily& Family, class Attributes, class Num>
struct ConvForward : Attributes {
  static constexpr auto kName = Name.view();
  static constexpr double kCost = 500;
  using Sig = Signature<In<"input", Num>, In<"filter", Num>, Out<"output", Num>>;

  Result<Shape> InferShape(const Shape& input, const Shape& filter) const {
    TRY_ASSIGN(ConvGeometry geometry, ResolveConv(this->Rules(), input, filter));
    return geometry.output;
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& filter,
                    Tensor& output) const;
};

template <FixedString Name, const ConvFamily& Family, class Attributes, class Num, class By>
struct ConvInputGradient : Attributes {
  static constexpr auto kName = Name.view();
  static constexpr double kCost = 500;
  using Sig = Signature<typename By::template InputArg<Num>, In<"filter", Num>,
                        In<"out_backprop", Num>, Out<"output", Num>>;

  Result<Shape> InferShape(const typename By::Parameter& told, const Shape& filter,
                           const Shape& dy) const {
    TRY_ASSIGN(Shape input, InputShape(this->Rules(), told, filter, dy));
    TRY(ResolveConv(this->Rules(), input, filter, dy).status());
    return input;
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& told, const Tensor& filter, const Tensor& dy,
                    Tensor& output) const;
};

template <FixedString Name, const ConvFamily& Family, class Attributes, class Num, class By>
struct ConvFilterGradient : Attributes {
  static constexpr auto kName = Name.view();
  static constexpr double kCost = 5000;
  using Sig = Signature<In<"input", Num>, typename By::template FilterArg<Num>,
                        In<"out_backprop", Num>, Out<"output", Num>>;

  Result<Shape> InferShape(const Shape& input, const typename By::Parameter& told,
                           const Shape& dy) const {
    TRY_ASSIGN(Shape filter, FilterShape(this->Rules(), told));
    TRY(ResolveConv(this->Rules(), input, filter, dy).status());
    return filter;
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& told, const Tensor& dy,
                    Tensor& output) const;
};

using ConvFloat = TypeVar<"T", half, bfloat16, float, double>;
using ConvNumber = TypeVar<"T", half, bfloat16, float, double, int32_t>;
using ConvOldFloat = TypeVar<"T", half, float, double>;
using SizesOf2D = BySizes<"input_sizes", "filter_sizes", int32_t>;
using SizesOf3D = BySizes<"input_sizes", "filter_sizes", IndexTypeOr32<"Tshape">>;

using Conv2D = ConvForward<"Conv2D", kConv2D, Conv2DAttributes, ConvNumber>;
using Conv2DBackpropInput =
    ConvInputGradient<"Conv2DBackpropInput", kConv2D, Conv2DAttributes, ConvNumber, SizesOf2D>;
using Conv2DBackpropFilter =
    ConvFilterGradient<"Conv2DBackpropFilter", kConv2D, Conv2DAttributes, ConvFloat, SizesOf2D>;
using Conv2DBackpropInputV2 =
    ConvInputGradient<"Conv2DBackpropInputV2", kConv2D, Conv2DAttributes, ConvNumber, ByTensor>;
using Conv2DBackpropFilterV2 =
    ConvFilterGradient<"Conv2DBackpropFilterV2", kConv2D, Conv2DAttributes, ConvFloat, ByTensor>;

using DepthwiseConv2dNative =
    ConvForward<"DepthwiseConv2dNative", kDepthwise, DepthwiseAttributes, ConvFloat>;
using DepthwiseConv2dNativeBackpropInput =
    ConvInputGradient<"DepthwiseConv2dNativeBackpropInput", kDepthwise, DepthwiseAttributes,
                      ConvFloat, SizesOf2D>;
using DepthwiseConv2dNativeBackpropFilter =
    ConvFilterGradient<"DepthwiseConv2dNativeBackpropFilter", kDepthwise, DepthwiseAttributes,
                       ConvFloat, SizesOf2D>;

using Conv3D = ConvForward<"Conv3D", kConv3D, Conv3DAttributes, ConvFloat>;
using Conv3DBackpropInputV2 =
    ConvInputGradient<"Conv3DBackpropInputV2", kConv3D, Conv3DAttributes, ConvFloat, SizesOf3D>;
using Conv3DBackpropFilterV2 =
    ConvFilterGradient<"Conv3DBackpropFilterV2", kConv3D, Conv3DAttributes, ConvFloat, SizesOf2D>;
using Conv3DBackpropInput =
    ConvInputGradient<"Conv3DBackpropInput", kConv3D, Conv3DLastAttributes, ConvOldFloat, ByTensor>;
using Conv3DBackpropFilter = ConvFilterGradient<"Conv3DBackpropFilter", kConv3D,
                                                Conv3DLastAttributes, ConvOldFloat, ByTensor>;

}  // namespace penstock::ops
