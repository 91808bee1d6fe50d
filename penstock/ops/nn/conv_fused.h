#pragma once

#include <memory>
#include <string>
#include <vector>

#include "penstock/ops/nn/conv.h"
#include "penstock/ops/nn/conv_compute.h"
#include "penstock/ops/nn/epilogue.h"

namespace penstock::ops {

// A convolution and what follows it (see ParseEpilogue) as one node. Made by the compiler, which
// also says where the filter is a constant: then it is converted once.
template <FixedString Name, class Attributes>
struct FusedConv : Attributes {
  static constexpr auto kName = Name.view();
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 500;

  std::vector<std::string> fused_ops = {};
  float leakyrelu_alpha = 0.2f;
  bool constant_filter = false;
  // Set by CheckAttrs, before anybody else sees the struct.
  mutable kernels::Epilogue epilogue = {};
  mutable std::shared_ptr<PackedFilter> packed = {};

  using Num = TypeVar<"T", float>;
  using Sig = Signature<In<"input", Num>, In<"filter", Num>, In<"args", List<"num_args", Num, 0>>,
                        Out<"output", Num>>;
  static constexpr auto kAttrs = std::tuple_cat(
      Attributes::kAttrs, std::tuple{Field{"fused_ops", &FusedConv::fused_ops},
                                     Field{"leakyrelu_alpha", &FusedConv::leakyrelu_alpha},
                                     Field{"constant_filter", &FusedConv::constant_filter}});

  Status CheckAttrs() const {
    TRY(Attributes::CheckAttrs());
    TRY_ASSIGN(epilogue, ParseEpilogue(fused_ops, leakyrelu_alpha));
    if (constant_filter) packed = std::make_shared<PackedFilter>();
    return OkStatus();
  }
  Result<Shape> InferShape(const Shape& input, const Shape& filter,
                           std::span<const Known> args) const {
    TRY_ASSIGN(ConvGeometry geometry, ResolveConv(this->Rules(), input, filter));
    TRY(CheckEpilogueArgs(epilogue, args, geometry.output, geometry.shape.out_channels));
    return geometry.output;
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& filter,
                    std::span<Tensor* const> args, Tensor& output) const;
};

using FusedConv2D = FusedConv<"_EpilogueConv2D", Conv2DAttributes>;
using FusedDepthwiseConv2dNative = FusedConv<"_EpilogueDepthwiseConv2dNative", DepthwiseAttributes>;
using FusedConv3D = FusedConv<"_EpilogueConv3D", Conv3DAttributes>;

}  // namespace penstock::ops
