#pragma once

#include <atomic>
#include <thread>
#include <vector>

#include "penstock/core/cancellation.h"
#include "penstock/device/kernel.h"
#include "penstock/device/state.h"
#include "penstock/ops/queue/waiters.h"

namespace penstock::ops {

// One call on a resource that may wait, as a kernel would make it.
// Threads: Done may be called on any; the rest belongs to one.
class Call {
 public:
  explicit Call(int num_outputs = 1) : outputs_(num_outputs), builder_(&step_) {
    step_.allocator = HostAllocator();
    step_.cancellation = &cancellation;
    builder_.Outputs(outputs_.data(), num_outputs, false);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  KernelContext& context() { return builder_.context(); }
  ops::Done Done() {
    return [this](Status got) {
      status = std::move(got);
      times_done.fetch_add(1, std::memory_order_release);
    };
  }
  bool finished() const { return times_done.load(std::memory_order_acquire) > 0; }
  const Status& Wait() const {
    while (!finished()) std::this_thread::yield();
    return status;
  }
  const Tensor& output(int i = 0) const { return outputs_[i]; }

  Cancellation cancellation;
  Status status;
  std::atomic<int> times_done{0};

 private:
  StepResources step_;
  std::vector<Tensor> outputs_;
  KernelContextBuilder builder_;
};

}  // namespace penstock::ops
