#include "penstock/kernels/broadcast.h"

#include <cstddef>
#include <limits>

#include "penstock/kernels/broadcast_plan.h"
#include "penstock/kernels/operand_feed.h"

namespace penstock::kernels {
namespace {

// Ranges handed to threads begin at multiples of it.
constexpr int64_t kGrain = 1024;

// All operands are dense or scalar.
void RunFlat(BlockFn fn, std::span<const Operand> operands, int64_t n, void* output,
             int output_bytes, double cost, const ParallelFor& each) {
  const void* inputs[kMaxOperands];
  uint32_t scalars = 0;
  for (size_t k = 0; k < operands.size(); ++k) {
    inputs[k] = operands[k].data;
    scalars |= static_cast<uint32_t>(operands[k].is_scalar) << k;
  }
  if (n <= kGrain) return fn(inputs, scalars, output, n);
  const auto range = [&](int64_t begin, int64_t end) {
    const void* at[kMaxOperands];
    for (size_t k = 0; k < operands.size(); ++k) {
      const int64_t first = operands[k].is_scalar ? 0 : begin;
      at[k] = static_cast<const std::byte*>(inputs[k]) + first * operands[k].element_bytes;
    }
    fn(at, scalars, static_cast<std::byte*>(output) + begin * output_bytes, end - begin);
  };
  each(n, cost, range, kGrain);
}

void RunBroadcast(BlockFn fn, std::span<const Operand> operands, std::span<const int64_t> shape,
                  void* output, int output_bytes, double cost, const ParallelFor& each) {
  constexpr OperandFeed::Limits kLimits{
      .long_row = 32, .max_run = std::numeric_limits<int64_t>::max(), .tile = kGrain};
  const BroadcastPlan plan(shape, operands);
  const auto range = [&](int64_t begin, int64_t end) {
    alignas(64) std::byte tiles[kMaxOperands * kGrain * 16];
    OperandFeed feed(plan, operands, kLimits, tiles);
    OperandFeed::Run runs[kMaxOperands];
    for (int64_t i = begin; i < end;) {
      const int64_t n = feed.Next(i, end, runs);
      const void* inputs[kMaxOperands];
      uint32_t scalars = 0;
      for (size_t k = 0; k < operands.size(); ++k) {
        inputs[k] = runs[k].data;
        scalars |= static_cast<uint32_t>(runs[k].is_scalar) << k;
      }
      fn(inputs, scalars, static_cast<std::byte*>(output) + i * output_bytes, n);
      i += n;
    }
  };
  each(plan.num_elements(), cost, range, OperandFeed::PreferredRun(plan, kLimits));
}

}  // namespace

void BroadcastStrides(std::span<const int64_t> shape, std::span<const int64_t> output_shape,
                      int64_t* strides) {
  const size_t missing = output_shape.size() - shape.size();
  int64_t stride = 1;
  for (size_t d = output_shape.size(); d-- > 0;) {
    const int64_t dim = d < missing ? 1 : shape[d - missing];
    strides[d] = dim == 1 ? 0 : stride;
    stride *= dim;
  }
}

void RunElementwise(BlockFn fn, std::span<const Operand> operands, std::span<const int64_t> shape,
                    void* output, int output_bytes, double cost, const ParallelFor& each) {
  int64_t n = 1;
  for (int64_t dim : shape) n *= dim;
  if (n == 0) return;
  bool is_flat = true;
  for (const Operand& operand : operands) is_flat = is_flat && operand.strides == nullptr;
  if (is_flat) {
    RunFlat(fn, operands, n, output, output_bytes, cost, each);
  } else {
    RunBroadcast(fn, operands, shape, output, output_bytes, cost, each);
  }
}

}  // namespace penstock::kernels
