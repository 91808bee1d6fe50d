#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "penstock/ops/queue/waiters.h"

namespace penstock::ops {

// What bounds a staging area or map; 0: nothing does.
struct StageLimits {
  int64_t capacity = 0;      // elements
  int64_t memory_limit = 0;  // bytes
};

// The bytes of the tensors.
int64_t TensorBytes(std::span<const Tensor> tensors);
// ResourceExhausted when `bytes` will never fit under the limit.
Status CheckFits(const StageLimits& limits, int64_t bytes);
// InvalidArgument when `value` is not of the dtype that a node declared for its output i.
Status CheckStaged(const Tensor& value, DType declared, int i);

// Elements kept between steps, first in, first out. Who finds no space or no element waits; putters
// and getters are served in the order they came. Threads: all methods may be called concurrently.
// `done` is called exactly once, without a lock held, perhaps before the method returns.
class StagingArea final : public Waitable {
 public:
  explicit StagingArea(const StageLimits& limits)
      : Waitable({&putters_, &getters_, &peekers_}), limits_(limits) {}

  // Moves an element in; an error, and `done` left alone, when it is larger than the area.
  Status Put(KernelContext& context, std::vector<Tensor> element, Done& done);
  // Moves the oldest out to the context's outputs, of these dtypes.
  void Get(KernelContext& context, std::span<const DType> dtypes, Done done);
  // Sets the outputs to the element at `index`, the oldest being 0, and leaves it.
  void Peek(KernelContext& context, int64_t index, std::span<const DType> dtypes, Done done);
  void Clear();

  int64_t size() const;
  std::string DebugString() const override;
  size_t MemoryBytes() const override;

 private:
  class PutWaiter;
  class GetWaiter;

  const StageLimits limits_;
  WaiterList putters_ GUARDED_BY(mu_);
  WaiterList getters_ GUARDED_BY(mu_);
  WaiterList peekers_ GUARDED_BY(mu_){/*in_order=*/false};
  std::deque<std::vector<Tensor>> elements_ GUARDED_BY(mu_);
  int64_t bytes_ GUARDED_BY(mu_) = 0;
};

}  // namespace penstock::ops
