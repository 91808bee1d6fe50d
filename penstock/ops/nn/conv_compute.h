#pragma once

#include <memory>

#include "penstock/core/mutex.h"
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

// The filter of a node for which it is always the same, in the form that kernels work on.
// Threads: Get may be called concurrently.
class PackedFilter {
 public:
  // Not initialized where the plan takes the filter as it is, or where it cannot be kept.
  Result<Tensor> Get(const std::shared_ptr<const kernels::Convolution>& plan, const Tensor& filter);

 private:
  Mutex mu_;
  // What `packed_` was made for. Both are held, so that no other gets their place in memory.
  std::shared_ptr<const kernels::Convolution> plan_ GUARDED_BY(mu_);
  Tensor filter_ GUARDED_BY(mu_);
  Tensor packed_ GUARDED_BY(mu_);
};

// What a fused node adds to a forward pass of floats.
struct ConvFinish {
  kernels::Epilogue epilogue = {};
  const Tensor* bias = nullptr;
  const Tensor* addend = nullptr;  // in the data format
  PackedFilter* packed = nullptr;  // of a filter that does not change
};

// Computes a pass of any dtype that the ops have into `result`, whose dtype is that of the
// operands.
Status ComputeConv(CpuContext& context, const ConvRules& rules, kernels::ConvPass pass,
                   const ConvTensors& tensors, Tensor& result, const ConvFinish& finish = {});

// `x`, whose channels come first, with channels last, and the other way about.
Result<Tensor> ChannelsLast(CpuContext& context, const Tensor& x);
void ChannelsFirst(CpuContext& context, const Tensor& x, Tensor& to);

// Runs a planned pass with scratch memory of the step.
Status RunConvolution(CpuContext& context, const kernels::Convolution& plan,
                      const kernels::ConvOperands& operands);

}  // namespace penstock::ops
