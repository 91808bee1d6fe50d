#include "penstock/ops/queue/barrier_ops.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "penstock/ops/queue/barrier.h"
#include "penstock/ops/queue/batch.h"
#include "penstock/ops/shared_state.h"

namespace penstock::ops {
namespace {

Result<Barrier*> FindBarrier(KernelContext& context, const Tensor& handle,
                             std::shared_ptr<Resource>* keep) {
  return FindShared<Barrier>(context, handle, "barrier", keep);
}

int32_t AsInt32(int64_t size) {
  return static_cast<int32_t>(std::min<int64_t>(size, std::numeric_limits<int32_t>::max()));
}

class BarrierKernel final : public Kernel {
 public:
  BarrierKernel(const BarrierOp& op, const std::string& node)
      : barrier_(
            op.container, op.shared_name.empty() ? node : op.shared_name, "Barrier",
            [op, name = ShownName(op.shared_name, node)] {
              return std::make_shared<Barrier>(name, op.component_types, op.shapes);
            },
            [op](const Barrier& barrier) { return CheckSame(op, barrier); }) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(Tensor handle, barrier_.GetHandle(context));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  static Status CheckSame(const BarrierOp& op, const Barrier& barrier) {
    if (op.component_types != barrier.dtypes()) {
      return InvalidArgument(
          "Shared barrier '{}' has component types {} but requested component types were {}",
          Printable(barrier.name()), ToString(barrier.dtypes()), ToString(op.component_types));
    }
    for (size_t i = 0; i < op.shapes.size(); ++i) {
      if (op.shapes[i] == barrier.shapes()[i]) continue;
      return InvalidArgument(
          "Shared barrier '{}' has shape {} of component {} but requested shape was {}",
          Printable(barrier.name()), barrier.shapes()[i], i, op.shapes[i]);
    }
    return OkStatus();
  }

  SharedState<Barrier> barrier_;
};

class BarrierTakeManyKernel final : public WaitingKernel {
 public:
  explicit BarrierTakeManyKernel(const BarrierTakeMany& op) : op_(op) {}

 private:
  Status Begin(KernelContext& context, Done& done) override {
    std::shared_ptr<Resource> keep;
    TRY_ASSIGN(Barrier* const barrier, FindBarrier(context, context.input(0), &keep));
    if (barrier->dtypes() != op_.component_types) {
      return InvalidArgument("the components of barrier '{}' must be of types {}, got {}",
                             Printable(barrier->name()), ToString(op_.component_types),
                             ToString(barrier->dtypes()));
    }
    TRY(CheckScalar(context.input(1).shape(), "num_elements"));
    const int64_t n = context.input(1).scalar<int32_t>();
    if (n < 0) return InvalidArgument("num_elements must not be negative, got {}", n);
    return barrier->TakeMany(context, n, op_.allow_small_batch, op_.wait_for_incomplete, done);
  }

  const BarrierTakeMany op_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> BarrierOp::MakeCpuKernel(const KernelRequest& request) {
  const auto& op = static_cast<const op_internal::Decoded<BarrierOp>*>(request.op.get())->op;
  if (op.capacity >= 0) {
    return InvalidArgument(
        "Barrier only accepts capacity=-1.  Feed the inputs to your Barrier through a queue to "
        "enforce a limited capacity: got {}",
        op.capacity);
  }
  if (op.shapes.size() != op.component_types.size()) {
    return InvalidArgument("All of the component shapes must be specified: {} types, got {} shapes",
                           op.component_types.size(), op.shapes.size());
  }
  for (size_t i = 0; i < op.shapes.size(); ++i) {
    if (!op.shapes[i].IsFullyKnown() || op.shapes[i].num_elements() == 0 ||
        op.shapes[i].rank() >= Shape::kMaxRank) {
      return InvalidArgument(
          "Empty tensors and those of unknown shape are not supported, but received shape '{}' at "
          "index {}",
          op.shapes[i], i);
    }
  }
  return std::unique_ptr<Kernel>(std::make_unique<BarrierKernel>(op, request.node));
}

Status BarrierInsertMany::ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& keys,
                                     const Tensor& values) const {
  std::shared_ptr<Resource> keep;
  TRY_ASSIGN(Barrier* const barrier, FindBarrier(context, handle, &keep));
  if (!InRange(component_index, static_cast<int64_t>(barrier->dtypes().size()))) {
    return InvalidArgument("component_index must be in [0, {}), got {}", barrier->dtypes().size(),
                           component_index);
  }
  const DType dtype = barrier->dtypes()[static_cast<size_t>(component_index)];
  const Shape& shape = barrier->shapes()[static_cast<size_t>(component_index)];
  if (keys.shape().rank() != 1 || values.shape().rank() < 1 ||
      keys.shape().dim(0) != values.shape().dim(0)) {
    return InvalidArgument("keys and values must have as many rows, got {} and {}", keys.shape(),
                           values.shape());
  }
  if (values.dtype() != dtype || !(values.shape().Slice(1, values.shape().rank()) == shape)) {
    return InvalidArgument("component {} of barrier '{}' must be {} of shape {}, got {} of rows {}",
                           component_index, Printable(barrier->name()), dtype, shape,
                           values.dtype(), values.shape());
  }
  std::vector<Tensor> rows;
  for (int64_t i = 0; i < values.shape().dim(0); ++i) {
    TRY_ASSIGN(Tensor row, CopyRow(context, values, i));
    rows.push_back(std::move(row));
  }
  const auto names = keys.values<std::string>();
  return barrier->InsertMany({names.begin(), names.end()}, component_index, std::move(rows));
}

Result<std::vector<Shape>> BarrierTakeMany::InferShape(const Shape&,
                                                       const Shape& num_elements) const {
  TRY(CheckScalar(num_elements, "num_elements"));
  std::vector<Shape> shapes(component_types.size() + 2, Shape::Unknown());
  shapes[0] = shapes[1] = Shape{Shape::kUnknownDim};
  return shapes;
}

Result<std::unique_ptr<Kernel>> BarrierTakeMany::MakeCpuKernel(const KernelRequest& request) {
  const auto& op = static_cast<const op_internal::Decoded<BarrierTakeMany>*>(request.op.get())->op;
  if (op.timeout_ms != -1) {
    return InvalidArgument("Timeout not supported yet: timeout_ms must be -1, got {}",
                           op.timeout_ms);
  }
  return std::unique_ptr<Kernel>(std::make_unique<BarrierTakeManyKernel>(op));
}

Status BarrierClose::ComputeCpu(CpuContext& context, const Tensor& handle) const {
  std::shared_ptr<Resource> keep;
  TRY_ASSIGN(Barrier* const barrier, FindBarrier(context, handle, &keep));
  return barrier->Close(cancel_pending_enqueues);
}

Status BarrierReadySize::ComputeCpu(CpuContext& context, const Tensor& handle,
                                    std::span<int32_t> size) const {
  std::shared_ptr<Resource> keep;
  TRY_ASSIGN(const Barrier* const barrier, FindBarrier(context, handle, &keep));
  size[0] = AsInt32(barrier->ready_size());
  return OkStatus();
}

Status BarrierIncompleteSize::ComputeCpu(CpuContext& context, const Tensor& handle,
                                         std::span<int32_t> size) const {
  std::shared_ptr<Resource> keep;
  TRY_ASSIGN(const Barrier* const barrier, FindBarrier(context, handle, &keep));
  size[0] = AsInt32(barrier->incomplete_size());
  return OkStatus();
}

void RegisterBarrier(Registrar& registrar) {
  registrar.AddAll<BarrierOp, BarrierInsertMany, BarrierTakeMany, BarrierClose, BarrierReadySize,
                   BarrierIncompleteSize>();
}

}  // namespace penstock::ops
