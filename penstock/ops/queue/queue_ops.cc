#include "penstock/ops/queue/queue_ops.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "penstock/ops/queue/batch.h"
#include "penstock/ops/queue/queue.h"
#include "penstock/ops/shared_state.h"
#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

Status CheckTimeout(int64_t timeout_ms) {
  if (timeout_ms == -1) return OkStatus();
  return InvalidArgument("Timeout not supported yet: timeout_ms must be -1, got {}", timeout_ms);
}

// A call on the queue behind input 0.
class QueueCallKernel : public WaitingKernel {
 protected:
  Status Begin(KernelContext& context, Done& done) final {
    std::shared_ptr<Resource> keep;
    TRY_ASSIGN(Queue* const queue, FindShared<Queue>(context, context.input(0), "queue", &keep));
    return Call(*queue, context, done);
  }
  virtual Status Call(Queue& queue, KernelContext& context, Done& done) = 0;
};

class EnqueueKernel final : public QueueCallKernel {
 private:
  Status Call(Queue& queue, KernelContext& context, Done& done) override {
    const int width = context.num_inputs() - 1;
    TRY(queue.CheckTuple(context.inputs(1, width)));
    if (width == 1) {
      TRY_ASSIGN(Tensor component, KeepInput(context, 1));
      queue.Enqueue(context, {&component, 1}, std::move(done));
      return OkStatus();
    }
    std::vector<Tensor> tuple(static_cast<size_t>(width));
    for (int i = 0; i < width; ++i) {
      TRY_ASSIGN(tuple[i], KeepInput(context, i + 1));
    }
    queue.Enqueue(context, tuple, std::move(done));
    return OkStatus();
  }
};

class EnqueueManyKernel final : public QueueCallKernel {
 private:
  Status Call(Queue& queue, KernelContext& context, Done& done) override {
    const int width = context.num_inputs() - 1;
    TRY(queue.CheckBatch(context.inputs(1, width)));
    const int64_t rows = context.input(1).shape().dim(0);
    std::vector<Tensor> elements;
    for (int64_t row = 0; row < rows; ++row) {
      for (int c = 0; c < width; ++c) {
        TRY_ASSIGN(Tensor element, CopyRow(context, context.input(c + 1), row));
        elements.push_back(std::move(element));
      }
    }
    if (elements.empty()) {
      done(OkStatus());
    } else {
      queue.EnqueueMany(context, std::move(elements), std::move(done));
    }
    return OkStatus();
  }
};

class DequeueCallKernel : public QueueCallKernel {
 public:
  explicit DequeueCallKernel(std::span<const DType> dtypes)
      : dtypes_(dtypes.begin(), dtypes.end()) {}

 protected:
  Status CheckTypes(const Queue& queue) const {
    if (queue.spec().dtypes == dtypes_) return OkStatus();
    return InvalidArgument("the components of {} '{}' must be of types {}, got {}",
                           queue.spec().kind, Printable(queue.spec().name), ToString(dtypes_),
                           ToString(queue.spec().dtypes));
  }

 private:
  const std::vector<DType> dtypes_;
};

class DequeueKernel final : public DequeueCallKernel {
 public:
  using DequeueCallKernel::DequeueCallKernel;

 private:
  Status Call(Queue& queue, KernelContext& context, Done& done) override {
    TRY(CheckTypes(queue));
    queue.Dequeue(context, std::move(done));
    return OkStatus();
  }
};

class DequeueManyKernel final : public DequeueCallKernel {
 public:
  DequeueManyKernel(bool up_to, std::span<const DType> dtypes)
      : DequeueCallKernel(dtypes), up_to_(up_to) {}

 private:
  Status Call(Queue& queue, KernelContext& context, Done& done) override {
    TRY(CheckTypes(queue));
    TRY(CheckScalar(context.input(1).shape(), "n"));
    const int64_t n = context.input(1).scalar<int32_t>();
    if (n < 0) {
      return InvalidArgument("DequeueMany and DequeueUpTo requested {} < 0 elements", n);
    }
    TRY(queue.CheckStackable());
    queue.DequeueMany(context, n, up_to_, std::move(done));
    return OkStatus();
  }

  const bool up_to_;
};

class QueueCloseKernel final : public QueueCallKernel {
 public:
  explicit QueueCloseKernel(bool cancel_pending) : cancel_pending_(cancel_pending) {}

 private:
  Status Call(Queue& queue, KernelContext& context, Done& done) override {
    queue.Close(context, cancel_pending_, std::move(done));
    return OkStatus();
  }

  const bool cancel_pending_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeEnqueueKernel(int64_t timeout_ms, bool many) {
  TRY(CheckTimeout(timeout_ms));
  if (many) return std::unique_ptr<Kernel>(std::make_unique<EnqueueManyKernel>());
  return std::unique_ptr<Kernel>(std::make_unique<EnqueueKernel>());
}

Result<std::unique_ptr<Kernel>> MakeDequeueKernel(int64_t timeout_ms,
                                                  std::span<const DType> dtypes) {
  TRY(CheckTimeout(timeout_ms));
  return std::unique_ptr<Kernel>(std::make_unique<DequeueKernel>(dtypes));
}

Result<std::unique_ptr<Kernel>> MakeDequeueManyKernel(int64_t timeout_ms, bool up_to,
                                                      std::span<const DType> dtypes) {
  TRY(CheckTimeout(timeout_ms));
  return std::unique_ptr<Kernel>(std::make_unique<DequeueManyKernel>(up_to, dtypes));
}

Result<std::unique_ptr<Kernel>> MakeQueueCloseKernel(bool cancel_pending) {
  return std::unique_ptr<Kernel>(std::make_unique<QueueCloseKernel>(cancel_pending));
}

Status ComputeQueueSize(CpuContext& context, const Tensor& handle, int32_t* size) {
  std::shared_ptr<Resource> keep;
  TRY_ASSIGN(const Queue* const queue, FindShared<Queue>(context, handle, "queue", &keep));
  *size =
      static_cast<int32_t>(std::min<int64_t>(queue->size(), std::numeric_limits<int32_t>::max()));
  return OkStatus();
}

Status ComputeQueueIsClosed(CpuContext& context, const Tensor& handle, bool* is_closed) {
  std::shared_ptr<Resource> keep;
  TRY_ASSIGN(const Queue* const queue, FindShared<Queue>(context, handle, "queue", &keep));
  *is_closed = queue->is_closed();
  return OkStatus();
}

void RegisterQueueOps(Registrar& registrar) {
  registrar.AddAll<QueueEnqueue, QueueEnqueueV2, QueueEnqueueMany, QueueEnqueueManyV2, QueueDequeue,
                   QueueDequeueV2, QueueDequeueMany, QueueDequeueManyV2, QueueDequeueUpTo,
                   QueueDequeueUpToV2, QueueClose, QueueCloseV2, QueueSize, QueueSizeV2,
                   QueueIsClosed, QueueIsClosedV2>();
}

}  // namespace penstock::ops
