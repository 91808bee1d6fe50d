#include "penstock/ops/queue/barrier.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "penstock/core/format.h"

namespace penstock::ops {
namespace {

std::shared_ptr<Queue> MakeReadyQueue(const std::string& name, const std::vector<DType>& dtypes,
                                      const std::vector<Shape>& shapes) {
  QueueSpec spec;
  spec.kind = QueueKind::kPriority;
  spec.name = name;
  spec.dtypes = {DType::kInt64, DType::kString};
  spec.dtypes.insert(spec.dtypes.end(), dtypes.begin(), dtypes.end());
  spec.shapes = {Shape(), Shape()};
  spec.shapes.insert(spec.shapes.end(), shapes.begin(), shapes.end());
  return std::make_shared<Queue>(std::move(spec));
}

}  // namespace

Barrier::Barrier(std::string name, std::vector<DType> dtypes, std::vector<Shape> shapes)
    : name_(std::move(name)),
      dtypes_(std::move(dtypes)),
      shapes_(std::move(shapes)),
      ready_(MakeReadyQueue(name_, dtypes_, shapes_)) {}

Status Barrier::CheckInsert(const std::vector<std::string>& keys, int64_t component) const {
  if (closed_ && (cancelled_ || (!keys.empty() && incomplete_.empty()))) {
    return Cancelled(
        "Barrier {} is closed.  Pending enqueues cancelled: {}.  Number of new insertions: {}.  "
        "Number of incomplete keys: {}.",
        Printable(name_), cancelled_, keys.size(), incomplete_.size());
  }
  std::unordered_set<std::string_view> here;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto found = incomplete_.find(keys[i]);
    if (found == incomplete_.end() && closed_) {
      return Cancelled(
          "Barrier {} is closed, but attempted to insert a brand new key: {}.  Pending inserts "
          "cancelled: {}.  Insertion index: {}.  Number of incomplete keys: {}.",
          Printable(name_), Printable(keys[i]), cancelled_, i, incomplete_.size());
    }
    const bool again = !here.insert(keys[i]).second;
    // With one component an element is complete at once, and the key free again.
    if ((again && dtypes_.size() > 1) ||
        (found != incomplete_.end() &&
         found->second.components[static_cast<size_t>(component)].initialized())) {
      return InvalidArgument("Key {} already has a value for component {} in barrier {}",
                             Printable(keys[i]), component, Printable(name_));
    }
  }
  return OkStatus();
}

Status Barrier::InsertMany(std::vector<std::string> keys, int64_t component,
                           std::vector<Tensor> values) {
  WaiterList served;
  {
    MutexLock lock(mu_);
    TRY(CheckInsert(keys, component));
    std::vector<Tensor> ready;
    bool began = false;
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto [at, is_new] = incomplete_.try_emplace(keys[i]);
      Incomplete& element = at->second;
      if (is_new) {
        element = {next_index_, dtypes_.size(), std::vector<Tensor>(dtypes_.size())};
        began = true;
      }
      element.components[static_cast<size_t>(component)] = std::move(values[i]);
      if (--element.missing > 0) continue;
      ready.push_back(Tensor::Scalar(element.index));
      ready.push_back(Tensor::Scalar(std::move(keys[i])));
      std::move(element.components.begin(), element.components.end(), std::back_inserter(ready));
      incomplete_.erase(at);
    }
    next_index_ += began;
    ready_->Insert(std::move(ready), served);
    if (closed_ && incomplete_.empty()) ready_->CloseNow(served);
  }
  Queue::Finish(served);
  return OkStatus();
}

Status Barrier::TakeMany(KernelContext& context, int64_t n, bool small, bool wait, Done& done) {
  {
    MutexLock lock(mu_);
    if (closed_ && n > 0) {
      int64_t available = ready_->size();
      if (!small || wait) available += static_cast<int64_t>(incomplete_.size());
      if (small) n = std::min(n, available);
      if (available < std::max<int64_t>(n, 1)) {
        return OutOfRange(
            "Barrier '{}' is closed and has insufficient elements (requested {}, total size {})",
            Printable(name_), n, available);
      }
    }
  }
  ready_->DequeueMany(context, n, small, std::move(done));
  return OkStatus();
}

Status Barrier::Close(bool cancel) {
  WaiterList served;
  {
    MutexLock lock(mu_);
    // One may think better of a first close that cancelled nothing.
    if (closed_ && (cancelled_ || !cancel)) {
      return Cancelled("Barrier '{}' is already closed.", Printable(name_));
    }
    closed_ = true;
    cancelled_ = cancel;
    if (cancel) incomplete_.clear();
    if (incomplete_.empty()) ready_->CloseNow(served);
  }
  Queue::Finish(served);
  return OkStatus();
}

int64_t Barrier::incomplete_size() const {
  MutexLock lock(mu_);
  return static_cast<int64_t>(incomplete_.size());
}

std::string Barrier::DebugString() const {
  MutexLock lock(mu_);
  return Format("Barrier '{}' with {} incomplete elements, {}, over {}", Printable(name_),
                incomplete_.size(), closed_ ? "closed" : "open", ready_->DebugString());
}

size_t Barrier::MemoryBytes() const {
  MutexLock lock(mu_);
  size_t bytes = ready_->MemoryBytes();
  for (const auto& [key, element] : incomplete_) {
    for (const Tensor& component : element.components) {
      if (component.initialized()) bytes += component.bytes();
    }
  }
  return bytes;
}

}  // namespace penstock::ops
