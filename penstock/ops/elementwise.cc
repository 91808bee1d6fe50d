#include "penstock/ops/elementwise.h"

#include <algorithm>
#include <array>

#include "penstock/kernels/broadcast.h"
#include "penstock/ops/elementwise_blocks.h"

namespace penstock {
namespace {

constexpr int kMaxArity = 3;

// True when `test` holds for an element. REQUIRES: a tensor of integers; others have none.
template <class Test>
bool Any(const Tensor& tensor, Test test) {
  auto any = [&]<class T>(const T*) {
    const auto values = tensor.values<T>();
    return std::any_of(values.begin(), values.end(), test);
  };
  switch (tensor.dtype()) {
    case DType::kInt8:
      return any(static_cast<int8_t*>(nullptr));
    case DType::kInt16:
      return any(static_cast<int16_t*>(nullptr));
    case DType::kInt32:
      return any(static_cast<int32_t*>(nullptr));
    case DType::kInt64:
      return any(static_cast<int64_t*>(nullptr));
    case DType::kUint8:
      return any(static_cast<uint8_t*>(nullptr));
    case DType::kUint16:
      return any(static_cast<uint16_t*>(nullptr));
    case DType::kUint32:
      return any(static_cast<uint32_t*>(nullptr));
    case DType::kUint64:
      return any(static_cast<uint64_t*>(nullptr));
    default:
      return false;
  }
}

class ElementwiseKernel final : public Kernel {
 public:
  ElementwiseKernel(const ElementwiseBlock& block, InferFn infer, const KernelRequest& request)
      : block_(block),
        infer_(infer),
        op_(request.op),
        num_inputs_(block.num_inputs()),
        result_bytes_(static_cast<int>(SizeOf(block.result))),
        checks_(block.divides || block.raises),
        attribute_(block.attribute == nullptr ? 0 : block.attribute(op_.get())) {}

  Status Compute(KernelContext& context) override {
    if (const Shape* settled = context.settled_shapes()) return Run(context, *settled);
    const Shape& first = context.input(0).shape();
    for (int i = 1; i < num_inputs_; ++i) {
      if (first == context.input(i).shape()) continue;
      Shape shape;
      TRY(op_internal::InferFromInputs(context, op_.get(), infer_, {&shape, 1}));
      return Run(context, shape);
    }
    return Run(context, Shape(first));  // a copy: in place, the input's tensor may be taken
  }

 private:
  Status Run(KernelContext& context, const Shape& shape) {
    if (checks_ && shape.num_elements() > 0) TRY(CheckSecond(context.input(1)));
    TRY(op_internal::AllocateOutputs(context, {&block_.result, 1}, &shape, true));
    kernels::Operand operands[kMaxArity];
    int64_t strides[kMaxArity][Shape::kMaxRank];
    for (int i = 0; i < num_inputs_; ++i) {
      const Tensor& input = context.input(i);
      operands[i] = kernels::Operand::Dense(input.raw(), static_cast<int>(SizeOf(input.dtype())));
      if (input.shape() == shape) continue;
      if (input.num_elements() == 1) {
        operands[i].is_scalar = true;
        continue;
      }
      kernels::BroadcastStrides(input.shape().dims(), shape.dims(), strides[i]);
      operands[i].strides = strides[i];
    }
    if (num_inputs_ < block_.arity) {
      operands[num_inputs_] = kernels::Operand::Scalar(&attribute_, sizeof attribute_);
    }
    kernels::RunElementwise(block_.function, {operands, static_cast<size_t>(block_.arity)},
                            shape.dims(), context.output(0).mutable_raw(), result_bytes_,
                            block_.cost, context.parallel());
    return OkStatus();
  }

  Status CheckSecond(const Tensor& second) const {
    if (block_.divides && Any(second, [](auto value) { return value == 0; })) {
      return InvalidArgument("Integer division by zero");
    }
    if (block_.raises && Any(second, [](auto value) { return value < 0; })) {
      return InvalidArgument("Integers to negative integer powers are not allowed");
    }
    return OkStatus();
  }

  const ElementwiseBlock block_;
  const InferFn infer_;
  const std::shared_ptr<const void> op_;
  const int num_inputs_;
  const int result_bytes_;
  const bool checks_;
  const float attribute_;
};

}  // namespace

void ElementwiseTable::Add(std::string_view op, std::span<const ElementwiseBlock> blocks) {
  for (const ElementwiseBlock& block : blocks) {
    if (block.function != nullptr) blocks_[{std::string(op), block.dtype}] = block;
  }
}

const ElementwiseBlock* ElementwiseTable::Find(std::string_view op, DType dtype) const {
  const auto it = blocks_.find({std::string(op), dtype});
  return it == blocks_.end() ? nullptr : &it->second;
}

const ElementwiseBlock* ElementwiseTable::Find(std::string_view op, std::span<const DType> inputs,
                                               DType output) const {
  for (const DType dtype : inputs) {
    const ElementwiseBlock* block = Find(op, dtype);
    if (block == nullptr || block->result != output ||
        static_cast<size_t>(block->num_inputs()) != inputs.size()) {
      continue;
    }
    if (std::equal(inputs.begin(), inputs.end(), block->operands.begin())) return block;
  }
  return nullptr;
}

Result<std::unique_ptr<Kernel>> MakeElementwiseKernel(const ElementwiseBlock& block, InferFn infer,
                                                      const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<ElementwiseKernel>(block, infer, request));
}

namespace op_internal {

void RunThroughFloat(kernels::BlockFn function, const Float16Conversion& conversion, int arity,
                     uint32_t is_float16, int result_bytes, const void* const* inputs,
                     uint32_t scalar_mask, void* output, int64_t n) {
  constexpr int64_t kTile = 512;
  if (n == 0) return;
  alignas(64) float tiles[kMaxArity][kTile];
  alignas(64) float result[kTile];
  const void* operands[kMaxArity] = {};
  const auto is_set = [](uint32_t mask, int k) { return (mask >> k & 1) != 0; };
  for (int k = 0; k < arity; ++k) {
    operands[k] = is_set(is_float16, k) ? tiles[k] : inputs[k];
    if (is_set(is_float16, k) && is_set(scalar_mask, k)) conversion.widen(inputs[k], tiles[k], 1);
  }
  for (int64_t i = 0; i < n; i += kTile) {
    const int64_t count = std::min(kTile, n - i);
    for (int k = 0; k < arity; ++k) {
      if (is_set(scalar_mask, k)) continue;
      // What is not 16-bit is an attribute, which is scalar: no other offset is needed.
      conversion.widen(static_cast<const uint16_t*>(inputs[k]) + i, tiles[k], count);
    }
    if (result_bytes == 2) {
      function(operands, scalar_mask, result, count);
      conversion.narrow(result, static_cast<uint16_t*>(output) + i, count);
    } else {
      function(operands, scalar_mask, static_cast<char*>(output) + i * result_bytes, count);
    }
  }
}

}  // namespace op_internal
}  // namespace penstock
