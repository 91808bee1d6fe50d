#include "penstock/ops/nn/conv_compute.h"

#include <array>
#include <bit>

#include "penstock/kernels/cast.h"
#include "penstock/kernels/transpose.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

using kernels::ConvPass;

constexpr int kMostAxes = 5;

// 16-bit floats are computed in float and rounded once. But for the one pass of which models record
// results that TensorFlow rounds at each step.
DType ComputeType(DType dtype, const ConvRules& rules, ConvPass pass) {
  const bool rounds = rules.spatial == 3 && pass == ConvPass::kInputGradient;
  if (dtype == DType::kHalf) return rounds ? DType::kHalf : DType::kFloat;
  return dtype == DType::kBfloat16 ? DType::kFloat : dtype;
}

void Convert(CpuContext& context, const Tensor& from, Tensor& to) {
  kernels::LookupCast(from.dtype(), to.dtype())(from.raw(), to.mutable_raw(), from.num_elements(),
                                                context.parallel());
}

Shape LastShape(const Shape& first) {
  Shape last = first;
  for (int i = 1; i + 1 < first.rank(); ++i) last.set_dim(i, first.dim(i + 1));
  last.set_dim(first.rank() - 1, first.dim(1));
  return last;
}

// A tensor in the form that kernels compute on; itself where it is in that form.
Result<Tensor> Prepared(CpuContext& context, const Tensor* tensor, bool channels_first,
                        DType dtype) {
  if (tensor == nullptr) return Tensor();
  Tensor ready = *tensor;
  if (channels_first) {
    TRY_ASSIGN(ready, ChannelsLast(context, ready));
  }
  if (dtype != ready.dtype()) {
    TRY_ASSIGN(Tensor converted, context.Allocate(dtype, ready.shape()));
    Convert(context, ready, converted);
    ready = std::move(converted);
  }
  return ready;
}

// A forward pass, or another without an epilogue, whose sums are all empty.
void ComputeEmptySums(CpuContext& context, const kernels::Epilogue& epilogue,
                      const kernels::ConvOperands& operands, Tensor& result) {
  ZeroElements(result, context.parallel());
  if (epilogue.none()) return;
  const int64_t channels = result.shape().dim(result.shape().rank() - 1);
  kernels::ApplyEpilogue(
      epilogue, result.num_elements() / channels, channels, result.mutable_data<float>(), channels,
      static_cast<const float*>(operands.bias), static_cast<const float*>(operands.addend));
}

}  // namespace

Result<Tensor> ChannelsLast(CpuContext& context, const Tensor& x) {
  TRY_ASSIGN(Tensor last, context.Allocate(x.dtype(), LastShape(x.shape())));
  std::array<int, kMostAxes> permutation{0};
  const int rank = x.shape().rank();
  for (int i = 1; i + 1 < rank; ++i) permutation[static_cast<size_t>(i)] = i + 1;
  permutation[static_cast<size_t>(rank - 1)] = 1;
  kernels::Transpose(x.raw(), x.shape().dims().data(), permutation.data(), rank,
                     static_cast<int64_t>(SizeOf(x.dtype())), last.mutable_raw(),
                     context.parallel());
  return last;
}

void ChannelsFirst(CpuContext& context, const Tensor& x, Tensor& to) {
  std::array<int, kMostAxes> permutation{0};
  const int rank = x.shape().rank();
  permutation[1] = rank - 1;
  for (int i = 2; i < rank; ++i) permutation[static_cast<size_t>(i)] = i - 1;
  kernels::Transpose(x.raw(), x.shape().dims().data(), permutation.data(), rank,
                     static_cast<int64_t>(SizeOf(x.dtype())), to.mutable_raw(), context.parallel());
}

Status RunConvolution(CpuContext& context, const kernels::Convolution& plan,
                      const kernels::ConvOperands& operands) {
  Tensor scratch;
  if (const int64_t bytes = plan.scratch_bytes(context.parallel().threads()); bytes > 0) {
    // In few sizes, so that the convolutions of a step use the same blocks of the allocator one
    // after another. What is not touched takes no memory.
    constexpr int64_t kLeast = int64_t{1} << 20;
    const auto size = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(bytes)));
    TRY_ASSIGN(scratch, context.Allocate(DType::kUint8, Shape{bytes < kLeast ? bytes : size}));
  }
  if (!plan.Run(operands, scratch.mutable_raw(), context.parallel())) {
    return Internal("the convolution library failed");
  }
  return OkStatus();
}

Result<Tensor> PackedFilter::Get(const std::shared_ptr<const kernels::Convolution>& plan,
                                 const Tensor& filter) {
  const int64_t bytes = plan->packed_filter_bytes();
  if (bytes == 0 || !filter.MayBeKept()) return Tensor();
  MutexLock lock(mu_);
  if (plan_ == plan && filter_.raw() == filter.raw()) return packed_;
  // It outlives the step, and may outlive the device: it lies where the graph's constants lie.
  TRY_ASSIGN(Tensor packed, Tensor::Make(HostAllocator(), DType::kUint8, Shape{bytes}));
  if (!plan->PackFilter(filter.raw(), packed.mutable_raw())) {
    return Internal("the convolution library could not convert the filter");
  }
  plan_ = plan;
  filter_ = filter;
  packed_ = std::move(packed);
  return packed_;
}

Status ComputeConv(CpuContext& context, const ConvRules& rules, ConvPass pass,
                   const ConvTensors& tensors, Tensor& result, const ConvFinish& finish) {
  if (result.num_elements() == 0) return OkStatus();
  auto shape_of = [&](const Tensor* tensor) -> const Shape& {
    return tensor == nullptr ? result.shape() : tensor->shape();
  };
  TRY_ASSIGN(const ConvGeometry geometry,
             ResolveConv(rules, shape_of(tensors.input), shape_of(tensors.filter)));
  const bool first = rules.channels_first();
  const DType dtype = ComputeType(result.dtype(), rules, pass);
  TRY_ASSIGN(const Tensor input, Prepared(context, tensors.input, first, dtype));
  TRY_ASSIGN(const Tensor filter, Prepared(context, tensors.filter, false, dtype));
  TRY_ASSIGN(const Tensor output, Prepared(context, tensors.output, first, dtype));
  TRY_ASSIGN(const Tensor addend, Prepared(context, finish.addend, first, dtype));

  // The result is computed in place where it has the form of the kernels.
  const bool turned = first && pass != ConvPass::kFilterGradient;
  const Shape shape = turned ? LastShape(result.shape()) : result.shape();
  Tensor computed = result;
  if (turned || dtype != result.dtype()) {
    TRY_ASSIGN(computed, context.Allocate(dtype, shape));
  }
  kernels::ConvOperands operands;
  operands.input = input.raw();
  operands.filter = filter.raw();
  operands.output = output.raw();
  operands.result = computed.mutable_raw();
  operands.bias = finish.bias == nullptr ? nullptr : finish.bias->raw();
  operands.addend = addend.raw();
  if (geometry.shape.input_size() == 0 || geometry.shape.output_size() == 0 ||
      geometry.shape.filter_size() == 0) {
    ComputeEmptySums(context, finish.epilogue, operands, computed);
  } else {
    const auto plan = kernels::PlanConvolution(pass, dtype, geometry.shape, finish.epilogue);
    Tensor packed;
    if (finish.packed != nullptr) {
      TRY_ASSIGN(packed, finish.packed->Get(plan, filter));
    }
    operands.packed_filter = packed.raw();
    TRY(RunConvolution(context, *plan, operands));
  }
  if (dtype != result.dtype()) {
    Tensor narrow = result;
    if (turned) {
      TRY_ASSIGN(narrow, context.Allocate(result.dtype(), shape));
    }
    Convert(context, computed, narrow);
    computed = std::move(narrow);
  }
  if (turned) ChannelsFirst(context, computed, result);
  return OkStatus();
}

}  // namespace penstock::ops
