#include "penstock/ops/queue/map_stage.h"

#include <algorithm>
#include <utility>

#include "penstock/core/checked.h"
#include "penstock/core/format.h"

namespace penstock::ops {
namespace {

Status CheckIndices(const StagingMap::Indices& indices) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || (i > 0 && indices[i] <= indices[i - 1])) {
      return InvalidArgument("Indices are not strictly ordered: index {} is {}", i, indices[i]);
    }
  }
  return OkStatus();
}

bool Initialized(const Tensor& tensor) { return tensor.initialized(); }

}  // namespace

class StagingMap::PutWaiter final : public Waiter {
 public:
  PutWaiter(StagingMap& map, KernelContext& context, int64_t key, Indices indices,
            std::vector<Tensor> values, size_t num_components, Done done)
      : Waiter(context, std::move(done)),
        map_(map),
        key_(key),
        indices_(std::move(indices)),
        values_(std::move(values)),
        bytes_(TensorBytes(values_)),
        num_components_(num_components) {}

  Progress Try() override REQUIRES_LOCK(map_.mu_) {
    const auto begun = map_.incomplete_.find(key_);
    const Element* present = begun == map_.incomplete_.end() ? nullptr : &begun->second;
    Status status = Check(present);
    if (!status.ok()) return Fail(std::move(status));
    const size_t there =
        present == nullptr
            ? 0
            : static_cast<size_t>(std::count_if(present->begin(), present->end(), Initialized));
    const bool completes = there + values_.size() == num_components_;
    const StageLimits& limits = map_.limits_;
    if (limits.memory_limit > 0 && map_.bytes_ + bytes_ > limits.memory_limit) {
      return Progress::kStuck;
    }
    if (completes) {
      const auto size = static_cast<int64_t>(map_.complete_.size());
      if (limits.capacity > 0 && size >= limits.capacity) return Progress::kStuck;
      if (map_.complete_.contains(key_)) {
        return Fail(AlreadyExists("an element of key {} is already staged", key_));
      }
    }
    Store(completes);
    return Progress::kServed;
  }

 private:
  Status Check(const Element* present) const {
    if (present != nullptr && present->size() != num_components_) {
      return InvalidArgument("the element of key {} must have {} components, got {}", key_,
                             present->size(), num_components_);
    }
    for (const int32_t index : indices_) {
      if (present != nullptr && (*present)[static_cast<size_t>(index)].initialized()) {
        return InvalidArgument(
            "The tensor for index '{}' for key '{}' was already initialized '{}'.", index, key_,
            present->size());
      }
    }
    return OkStatus();
  }
  void Store(bool completes) REQUIRES_LOCK(map_.mu_) {
    Element& element = map_.incomplete_.try_emplace(key_, num_components_).first->second;
    for (size_t i = 0; i < values_.size(); ++i) {
      element[static_cast<size_t>(indices_[i])] = std::move(values_[i]);
    }
    map_.bytes_ += bytes_;
    if (!completes) return;
    map_.complete_.emplace(key_, std::move(element));
    map_.incomplete_.erase(key_);
  }

  StagingMap& map_;
  const int64_t key_;
  const Indices indices_;
  std::vector<Tensor> values_;
  const int64_t bytes_;
  const size_t num_components_;
};

class StagingMap::GetWaiter final : public Waiter {
 public:
  GetWaiter(StagingMap& map, KernelContext& context, std::optional<int64_t> key, Indices indices,
            bool stay, std::span<const DType> dtypes, Done done)
      : Waiter(context, std::move(done)),
        map_(map),
        key_(key),
        indices_(std::move(indices)),
        stay_(stay),
        dtypes_(dtypes) {}

  Progress Try() override REQUIRES_LOCK(map_.mu_) {
    const auto found = key_ ? map_.complete_.find(*key_) : map_.complete_.begin();
    if (found == map_.complete_.end()) return Progress::kStuck;
    const auto& [key, element] = *found;
    Status status = Check(key, element);
    if (!status.ok()) return Fail(std::move(status));
    Take(found->second);
    found_key_ = key;
    if (!stay_ && std::none_of(element.begin(), element.end(), Initialized)) {
      map_.complete_.erase(found);
    }
    return Progress::kServed;
  }

  Status Deliver() override {
    if (key_) return OkStatus();
    TRY(context().AllocateOutput(0, DType::kInt64, Shape()));
    *context().output(0).mutable_data<int64_t>() = found_key_;
    return OkStatus();
  }

 private:
  Status Check(int64_t key, const Element& element) const {
    for (size_t i = 0; i < indices_.size(); ++i) {
      if (!InRange(indices_[i], static_cast<int64_t>(element.size()))) {
        return InvalidArgument("Index '{}' for key '{}' was out of bounds '{}'.", indices_[i], key,
                               element.size());
      }
      const Tensor& value = element[static_cast<size_t>(indices_[i])];
      if (!value.initialized()) {
        return InvalidArgument("Tensor at index '{}' for key '{}' has already been removed.",
                               indices_[i], key);
      }
      TRY(CheckStaged(value, dtypes_[i], static_cast<int>(i)));
    }
    return OkStatus();
  }
  void Take(Element& element) REQUIRES_LOCK(map_.mu_) {
    for (size_t i = 0; i < indices_.size(); ++i) {
      Tensor& value = element[static_cast<size_t>(indices_[i])];
      const int output = static_cast<int>(i) + (key_ ? 0 : 1);
      if (stay_) {
        context().SetOutput(output, value);
      } else {
        map_.bytes_ -= static_cast<int64_t>(value.bytes());
        context().SetOutput(output, std::move(value));
      }
    }
  }

  StagingMap& map_;
  const std::optional<int64_t> key_;
  const Indices indices_;
  const bool stay_;
  const std::span<const DType> dtypes_;  // the kernel's
  int64_t found_key_ = 0;
};

Status StagingMap::Put(KernelContext& context, int64_t key, Indices indices,
                       std::vector<Tensor> values, size_t num_components, Done& done) {
  TRY(CheckIndices(indices));
  if (indices.empty() || indices.size() != values.size()) {
    return InvalidArgument("a value is needed for each index: {} indices, got {} values",
                           indices.size(), values.size());
  }
  if (static_cast<size_t>(indices.back()) >= num_components) {
    return InvalidArgument("Index '{}' for key '{}' was out of bounds '{}'.", indices.back(), key,
                           num_components);
  }
  TRY(CheckFits(limits_, TensorBytes(values)));
  Start(std::make_unique<PutWaiter>(*this, context, key, std::move(indices), std::move(values),
                                    num_components, std::move(done)),
        &putters_);
  return OkStatus();
}

Status StagingMap::Get(KernelContext& context, std::optional<int64_t> key, Indices indices,
                       bool stay, std::span<const DType> dtypes, Done& done) {
  TRY(CheckIndices(indices));
  if (indices.size() != dtypes.size()) {
    return InvalidArgument("an index is needed for each output: {} outputs, got {} indices",
                           dtypes.size(), indices.size());
  }
  Start(std::make_unique<GetWaiter>(*this, context, key, std::move(indices), stay, dtypes,
                                    std::move(done)),
        &getters_);
  return OkStatus();
}

void StagingMap::Clear() {
  WaiterList served;
  std::map<int64_t, Element> complete, incomplete;  // freed without the lock
  {
    MutexLock lock(mu_);
    complete.swap(complete_);
    incomplete.swap(incomplete_);
    bytes_ = 0;
    Serve(served);
  }
  Finish(served);
}

int64_t StagingMap::size() const {
  MutexLock lock(mu_);
  return static_cast<int64_t>(complete_.size());
}

int64_t StagingMap::incomplete_size() const {
  MutexLock lock(mu_);
  return static_cast<int64_t>(incomplete_.size());
}

std::string StagingMap::DebugString() const {
  MutexLock lock(mu_);
  return Format(
      "staging map with {} elements and {} incomplete ones of {} bytes, {} waiting to "
      "put, {} to get",
      complete_.size(), incomplete_.size(), bytes_, putters_.size(), getters_.size());
}

size_t StagingMap::MemoryBytes() const {
  MutexLock lock(mu_);
  return static_cast<size_t>(bytes_);
}

}  // namespace penstock::ops
