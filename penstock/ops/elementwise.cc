#include "penstock/ops/elementwise.h"

#include "penstock/kernels/broadcast.h"

namespace penstock {
namespace {

bool HasZero(const Tensor& tensor) {
  auto any = [&]<class T>(const T*) {
    for (const T value : tensor.values<T>()) {
      if (value == 0) return true;
    }
    return false;
  };
  switch (tensor.dtype()) {
    case DType::kInt8: return any(static_cast<int8_t*>(nullptr));
    case DType::kInt16: return any(static_cast<int16_t*>(nullptr));
    case DType::kInt32: return any(static_cast<int32_t*>(nullptr));
    case DType::kInt64: return any(static_cast<int64_t*>(nullptr));
    case DType::kUint8: return any(static_cast<uint8_t*>(nullptr));
    case DType::kUint16: return any(static_cast<uint16_t*>(nullptr));
    case DType::kUint32: return any(static_cast<uint32_t*>(nullptr));
    case DType::kUint64: return any(static_cast<uint64_t*>(nullptr));
    default: return false;
  }
}

class ElementwiseKernel final : public Kernel {
 public:
  explicit ElementwiseKernel(const ElementwiseBlock& block) : block_(block), result_bytes_(static_cast<int>(SizeOf(block.result))) {}

  Status Compute(KernelContext& context) override {
    if (const Shape* settled = context.settled_shapes()) return Run(context, *settled);
    Shape shape = context.input(0).shape();
    for (int i = 1; i < block_.arity; ++i) {
      if (shape == context.input(i).shape()) continue;
      TRY_ASSIGN(shape, BroadcastShapes(shape, context.input(i).shape()));
    }
    return Run(context, shape);
  }

 private:
  static constexpr int kMaxArity = 3;

  Status Run(KernelContext& context, const Shape& shape) {
    if (block_.divides && shape.num_elements() > 0 && HasZero(context.input(1))) {
      return InvalidArgument("Integer division by zero");
    }
    TRY(op_internal::AllocateOutputs(context, {&block_.result, 1}, &shape, true));
    kernels::Operand operands[kMaxArity];
    int64_t strides[kMaxArity][Shape::kMaxRank];
    for (int i = 0; i < block_.arity; ++i) {
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
    kernels::RunElementwise(block_.function, {operands, static_cast<size_t>(block_.arity)}, shape.dims(),
                            context.output(0).mutable_raw(), result_bytes_, block_.cost, context.parallel());
    return OkStatus();
  }

  const ElementwiseBlock block_;
  const int result_bytes_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeElementwiseKernel(const ElementwiseBlock& block, const KernelRequest&) {
  return std::unique_ptr<Kernel>(std::make_unique<ElementwiseKernel>(block));
}

}  // namespace penstock
