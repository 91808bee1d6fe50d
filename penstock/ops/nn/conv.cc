#include "penstock/ops/nn/conv.h"

#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/nn/conv_compute.h"

namespace penstock::ops {
namespace {

using kernels::ConvPass;

// The three ops of a family over the tensors of one convolution. Each is linear in both of its
// tensors, so that their gradients are the other two.
class Terms {
 public:
  template <class Attributes>
  Terms(const ConvFamily& family, const Attributes& attributes)
      : family_(family), attrs_(op_internal::Encode(attributes)) {}

  Expr Output(const Expr& input, const Expr& filter) const {
    return Op(family_.forward, input, filter, attrs_);
  }
  // Of the shape of `input`.
  Expr Input(const Expr& input, const Expr& filter, const Expr& output) const {
    return Op(family_.input_gradient, ShapeOf(input), filter, output, attrs_);
  }
  // Of the shape of `filter`.
  Expr Filter(const Expr& input, const Expr& filter, const Expr& output) const {
    return Op(family_.filter_gradient, input, ShapeOf(filter), output, attrs_);
  }

 private:
  const ConvFamily& family_;
  const AttrMap attrs_;
};

}  // namespace

Result<Shape> InputShape(const ConvRules& rules, const Integers& sizes, const Shape& filter,
                         const Shape& dy) {
  TRY(CheckVector(sizes.shape(), "input_sizes"));
  if (!sizes.known() || static_cast<int>(sizes.size()) != rules.spatial) {
    TRY_ASSIGN(Shape shape, sizes.AsShape());
    if (sizes.known() && shape.rank() != rules.rank()) {
      return InvalidArgument("input_sizes must have {} or {} elements, got {}", rules.rank(),
                             rules.spatial, shape.rank());
    }
    return shape.has_rank() && shape.rank() == rules.rank() ? shape
                                                            : Shape::UnknownOfRank(rules.rank());
  }
  std::vector<int64_t> dims(static_cast<size_t>(rules.rank()), Shape::kUnknownDim);
  if (dy.has_rank() && dy.rank() == rules.rank()) dims[0] = dy.dim(0);
  if (filter.has_rank() && filter.rank() == rules.rank()) {
    dims[static_cast<size_t>(rules.channel_axis())] = filter.dim(rules.spatial);
  }
  for (int i = 0; i < rules.spatial; ++i) {
    const int64_t extent = sizes[static_cast<size_t>(i)];
    if (extent < 0) return InvalidArgument("input_sizes must not be negative, got {}", extent);
    dims[static_cast<size_t>(rules.spatial_axis(i))] = extent;
  }
  return Shape::Make(dims);
}

Result<Shape> InputShape(const ConvRules& rules, const Shape& like, const Shape&, const Shape&) {
  TRY(CheckRank(like, rules.rank(), "input"));
  return like;
}

Result<Shape> FilterShape(const ConvRules& rules, const Integers& sizes) {
  TRY(CheckVector(sizes.shape(), "filter_sizes"));
  TRY_ASSIGN(Shape shape, sizes.AsShape());
  TRY(CheckRank(shape, rules.rank(), "the tensor that filter_sizes describes"));
  return shape.has_rank() ? shape : Shape::UnknownOfRank(rules.rank());
}

Result<Shape> FilterShape(const ConvRules& rules, const Shape& like) {
  TRY(CheckRank(like, rules.rank(), "filter"));
  return like;
}

template <FixedString Name, const ConvFamily& Family, class Attributes, class Num>
Status ConvForward<Name, Family, Attributes, Num>::ComputeCpu(CpuContext& context,
                                                              const Tensor& input,
                                                              const Tensor& filter,
                                                              Tensor& output) const {
  return ComputeConv(context, this->Rules(), ConvPass::kForward, {&input, &filter, nullptr},
                     output);
}

template <FixedString Name, const ConvFamily& Family, class Attributes, class Num>
void ConvForward<Name, Family, Attributes, Num>::Gradient(Gradients& g) const {
  const Terms conv(Family, *this);
  g.Set(0, conv.Input(g.input(0), g.input(1), g.dy()));
  g.Set(1, conv.Filter(g.input(0), g.input(1), g.dy()));
}

template <FixedString Name, const ConvFamily& Family, class Attributes, class Num, class By>
Status ConvInputGradient<Name, Family, Attributes, Num, By>::ComputeCpu(CpuContext& context,
                                                                        const Tensor&,
                                                                        const Tensor& filter,
                                                                        const Tensor& dy,
                                                                        Tensor& output) const {
  return ComputeConv(context, this->Rules(), ConvPass::kInputGradient, {nullptr, &filter, &dy},
                     output);
}

template <FixedString Name, const ConvFamily& Family, class Attributes, class Num, class By>
void ConvInputGradient<Name, Family, Attributes, Num, By>::Gradient(Gradients& g) const {
  const Terms conv(Family, *this);
  g.Set(1, conv.Filter(g.dy(), g.input(1), g.input(2)));
  g.Set(2, conv.Output(g.dy(), g.input(1)));
}

template <FixedString Name, const ConvFamily& Family, class Attributes, class Num, class By>
Status ConvFilterGradient<Name, Family, Attributes, Num, By>::ComputeCpu(CpuContext& context,
                                                                         const Tensor& input,
                                                                         const Tensor&,
                                                                         const Tensor& dy,
                                                                         Tensor& output) const {
  return ComputeConv(context, this->Rules(), ConvPass::kFilterGradient, {&input, nullptr, &dy},
                     output);
}

template <FixedString Name, const ConvFamily& Family, class Attributes, class Num, class By>
void ConvFilterGradient<Name, Family, Attributes, Num, By>::Gradient(Gradients& g) const {
  const Terms conv(Family, *this);
  g.Set(0, conv.Input(g.input(0), g.dy(), g.input(2)));
  g.Set(2, conv.Output(g.input(0), g.dy()));
}

void RegisterConv(Registrar& registrar) {
  registrar
      .AddAll<Conv2D, Conv2DBackpropInput, Conv2DBackpropFilter, Conv2DBackpropInputV2,
              Conv2DBackpropFilterV2, DepthwiseConv2dNative, DepthwiseConv2dNativeBackpropInput,
              DepthwiseConv2dNativeBackpropFilter, Conv3D, Conv3DBackpropInput,
              Conv3DBackpropInputV2, Conv3DBackpropFilter, Conv3DBackpropFilterV2>();
}

}  // namespace penstock::ops
