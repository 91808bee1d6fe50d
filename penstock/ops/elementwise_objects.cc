#include "penstock/ops/elementwise_objects.h"

#include <vector>

#include "penstock/kernels/broadcast.h"

namespace penstock {
namespace {

constexpr int kMaxOperands = 3;

class ObjectKernel final : public Kernel {
 public:
  ObjectKernel(ObjectFn function, InferFn infer, const KernelRequest& request)
      : function_(function), infer_(infer), op_(request.op), result_(request.outputs[0]) {}

  Status Compute(KernelContext& context) override {
    Shape shape;
    TRY(op_internal::InferFromInputs(context, op_.get(), infer_, {&shape, 1}));
    TRY(context.AllocateOutput(0, result_, shape));
    std::vector<Shape> shapes;
    for (int i = 0; i < context.num_inputs(); ++i) shapes.push_back(context.input(i).shape());
    RunObjects(function_, context.inputs(0, context.num_inputs()), shapes, context.output(0));
    return OkStatus();
  }

 private:
  const ObjectFn function_;
  const InferFn infer_;
  const std::shared_ptr<const void> op_;
  const DType result_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeObjectKernel(ObjectFn function, InferFn infer,
                                                 const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<ObjectKernel>(function, infer, request));
}

void RunObjects(ObjectFn function, std::span<Tensor* const> inputs, std::span<const Shape> shapes,
                Tensor& result) {
  const Shape& shape = result.shape();
  const size_t rank = static_cast<size_t>(shape.rank());
  const int64_t n = shape.num_elements();
  if (n == 0) return;
  // For each operand: how far one step along each dimension moves it, in bytes.
  std::vector<int64_t> strides[kMaxOperands];
  const char* at[kMaxOperands] = {};
  for (size_t k = 0; k < inputs.size(); ++k) {
    strides[k].resize(rank);
    kernels::BroadcastStrides(shapes[k].dims(), shape.dims(), strides[k].data());
    for (int64_t& stride : strides[k]) stride *= static_cast<int64_t>(SizeOf(inputs[k]->dtype()));
    at[k] = static_cast<const char*>(inputs[k]->raw());
  }
  char* out = static_cast<char*>(result.mutable_raw());
  std::vector<int64_t> index(rank, 0);
  for (int64_t i = 0; i < n; ++i, out += SizeOf(result.dtype())) {
    const void* operands[kMaxOperands] = {at[0], at[1], at[2]};
    function(operands, out);
    for (size_t axis = rank; axis-- > 0;) {
      const int64_t extent = shape.dims()[axis];
      const bool carries = ++index[axis] == extent;
      for (size_t k = 0; k < inputs.size(); ++k) {
        at[k] += carries ? -(extent - 1) * strides[k][axis] : strides[k][axis];
      }
      if (!carries) break;
      index[axis] = 0;
    }
  }
}

}  // namespace penstock
