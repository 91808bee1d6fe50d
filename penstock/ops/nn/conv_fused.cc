#include "penstock/ops/nn/conv_fused.h"

namespace penstock::ops {

template <FixedString Name, class Attributes>
Status FusedConv<Name, Attributes>::ComputeCpu(CpuContext& context, const Tensor& input,
                                               const Tensor& filter, std::span<Tensor* const> args,
                                               Tensor& output) const {
  ConvFinish finish;
  finish.epilogue = epilogue;
  if (epilogue.bias) finish.bias = args.front();
  if (epilogue.addend) finish.addend = args.back();
  finish.packed = packed.get();
  return ComputeConv(context, this->Rules(), kernels::ConvPass::kForward,
                     {&input, &filter, nullptr}, output, finish);
}

void RegisterFusedConv(Registrar& registrar) {
  registrar.AddAll<FusedConv2D, FusedDepthwiseConv2dNative, FusedConv3D>();
}

}  // namespace penstock::ops
