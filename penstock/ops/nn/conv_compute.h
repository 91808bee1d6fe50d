#pragma once

#include "penstock/ops/nn/conv_geometry.h"
#include "penstock/ops/op_kernel.h"

namespace penstock::ops {

// The operands of a pass as tensors in the data format of the rules; the one that the pass computes
// is null.
struct ConvTensors {
  const Tensor* input = nullptr;
  const Tensor* filter = nullptr;
  const Tensor* output = nullptr;
};

// Computes a pass of any dtype that the ops have into `result`, whose dtype is that of the
// operands.
Status ComputeConv(CpuContext& context, const ConvRules& rules, kernels::ConvPass pass,
                   const ConvTensors& tensors, Tensor& result);

// `x`, whose channels come first, with channels last, and the other way about.
Result<Tensor> ChannelsLast(CpuContext& context, const Tensor& x);
void ChannelsFirst(CpuContext& context, const Tensor& x, Tensor& to);

// Runs a planned pass with scratch memory of the step.
Status RunConvolution(CpuContext& context, const kernels::Convolution& plan,
                      const kernels::ConvOperands& operands);

}  // namespace penstock::ops
