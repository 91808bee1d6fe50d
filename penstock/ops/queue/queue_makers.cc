#include "penstock/ops/queue/queue_makers.h"

#include <utility>

#include "penstock/ops/shared_state.h"

namespace penstock::ops {
namespace {

class QueueKernel final : public Kernel {
 public:
  QueueKernel(std::string container, std::string name, const QueueSpec& spec)
      : queue_(
            std::move(container), std::move(name), std::string(ToString(spec.kind)),
            [spec] { return std::make_shared<Queue>(spec); },
            [spec](const Queue& queue) { return queue.CheckSame(spec); }) {}

  Status Compute(KernelContext& context) override {
    TRY_ASSIGN(Tensor handle, queue_.GetHandle(context));
    context.SetOutput(0, std::move(handle));
    return OkStatus();
  }

 private:
  SharedState<Queue> queue_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> MakeQueueKernel(const KernelRequest& request, QueueSpec spec,
                                                const std::string& container,
                                                const std::string& shared_name) {
  TRY(spec.Check());
  spec.name = ShownName(shared_name, request.node);
  return std::unique_ptr<Kernel>(std::make_unique<QueueKernel>(
      container, shared_name.empty() ? request.node : shared_name, spec));
}

void RegisterQueueMakers(Registrar& registrar) {
  registrar.AddAll<FifoQueue, FifoQueueV2, PaddingFifoQueue, PaddingFifoQueueV2, RandomShuffleQueue,
                   RandomShuffleQueueV2, PriorityQueue, PriorityQueueV2, FakeQueue>();
}

}  // namespace penstock::ops
