#include "penstock/ops/queue/stage.h"

#include <utility>

#include "penstock/core/checked.h"
#include "penstock/core/format.h"

namespace penstock::ops {

int64_t TensorBytes(std::span<const Tensor> tensors) {
  int64_t bytes = 0;
  for (const Tensor& tensor : tensors) bytes += static_cast<int64_t>(tensor.bytes());
  return bytes;
}

Status CheckFits(const StageLimits& limits, int64_t bytes) {
  if (limits.memory_limit == 0 || bytes <= limits.memory_limit) return OkStatus();
  return ResourceExhausted(
      "Attempted to insert tensors with combined size of '{}' bytes into Staging Area with a "
      "memory limit of '{}'.",
      bytes, limits.memory_limit);
}

Status CheckStaged(const Tensor& value, DType declared, int i) {
  if (value.dtype() == declared) return OkStatus();
  return InvalidArgument("output {} of a staged element must be {}, got {}", i, declared,
                         value.dtype());
}

class StagingArea::PutWaiter final : public Waiter {
 public:
  PutWaiter(StagingArea& area, KernelContext& context, std::vector<Tensor> element, int64_t bytes,
            Done done)
      : Waiter(context, std::move(done)),
        area_(area),
        element_(std::move(element)),
        bytes_(bytes) {}

  Progress Try() override REQUIRES_LOCK(area_.mu_) {
    const StageLimits& limits = area_.limits_;
    const auto size = static_cast<int64_t>(area_.elements_.size());
    if (limits.capacity > 0 && size >= limits.capacity) return Progress::kStuck;
    if (limits.memory_limit > 0 && area_.bytes_ + bytes_ > limits.memory_limit) {
      return Progress::kStuck;
    }
    area_.elements_.push_back(std::move(element_));
    area_.bytes_ += bytes_;
    return Progress::kServed;
  }

 private:
  StagingArea& area_;
  std::vector<Tensor> element_;
  const int64_t bytes_;
};

// Takes the element at an index, or a copy of its handles.
class StagingArea::GetWaiter final : public Waiter {
 public:
  GetWaiter(StagingArea& area, KernelContext& context, int64_t index, bool leave,
            std::span<const DType> dtypes, Done done)
      : Waiter(context, std::move(done)),
        area_(area),
        index_(index),
        leave_(leave),
        dtypes_(dtypes) {}

  Progress Try() override REQUIRES_LOCK(area_.mu_) {
    if (!InRange(index_, static_cast<int64_t>(area_.elements_.size()))) return Progress::kStuck;
    std::vector<Tensor>& element = area_.elements_[static_cast<size_t>(index_)];
    if (element.size() != dtypes_.size()) {
      return Fail(
          InvalidArgument("Mismatch stage/unstage: {} vs. {}", element.size(), dtypes_.size()));
    }
    for (size_t i = 0; i < element.size(); ++i) {
      Status status = CheckStaged(element[i], dtypes_[i], static_cast<int>(i));
      if (!status.ok()) return Fail(std::move(status));
    }
    if (leave_) {
      Set(element);
    } else {
      area_.bytes_ -= TensorBytes(element);
      Set(std::move(element));
      area_.elements_.pop_front();
    }
    return Progress::kServed;
  }

 private:
  void Set(std::vector<Tensor> element) {
    for (size_t i = 0; i < element.size(); ++i) {
      context().SetOutput(static_cast<int>(i), std::move(element[i]));
    }
  }

  StagingArea& area_;
  const int64_t index_;
  const bool leave_;
  const std::span<const DType> dtypes_;  // the kernel's
};

Status StagingArea::Put(KernelContext& context, std::vector<Tensor> element, Done& done) {
  const int64_t bytes = TensorBytes(element);
  TRY(CheckFits(limits_, bytes));
  Start(std::make_unique<PutWaiter>(*this, context, std::move(element), bytes, std::move(done)),
        &putters_);
  return OkStatus();
}

void StagingArea::Get(KernelContext& context, std::span<const DType> dtypes, Done done) {
  Start(std::make_unique<GetWaiter>(*this, context, 0, false, dtypes, std::move(done)), &getters_);
}

void StagingArea::Peek(KernelContext& context, int64_t index, std::span<const DType> dtypes,
                       Done done) {
  Start(std::make_unique<GetWaiter>(*this, context, index, true, dtypes, std::move(done)),
        &peekers_);
}

void StagingArea::Clear() {
  WaiterList served;
  std::deque<std::vector<Tensor>> dropped;  // freed without the lock
  {
    MutexLock lock(mu_);
    dropped.swap(elements_);
    bytes_ = 0;
    Serve(served);
  }
  Finish(served);
}

int64_t StagingArea::size() const {
  MutexLock lock(mu_);
  return static_cast<int64_t>(elements_.size());
}

std::string StagingArea::DebugString() const {
  MutexLock lock(mu_);
  return Format("staging area with {} elements of {} bytes, {} waiting to put, {} to get",
                elements_.size(), bytes_, putters_.size(), getters_.size() + peekers_.size());
}

size_t StagingArea::MemoryBytes() const {
  MutexLock lock(mu_);
  return static_cast<size_t>(bytes_);
}

}  // namespace penstock::ops
