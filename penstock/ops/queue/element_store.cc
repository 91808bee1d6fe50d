#include "penstock/ops/queue/element_store.h"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace penstock::ops {
namespace {

// A ring of tuples that doubles when it is full: no allocation for an element.
class FifoStore final : public ElementStore {
 public:
  explicit FifoStore(int num_components) : num_components_(static_cast<size_t>(num_components)) {}

  int64_t size() const override { return static_cast<int64_t>(size_); }
  void Push(Tensor* tuple) override {
    if (size_ == capacity_) Grow();
    std::move(tuple, tuple + num_components_, At(size_));
    ++size_;
  }
  uint64_t Pop(Tensor* tuple) override {
    Tensor* first = At(0);
    std::move(first, first + num_components_, tuple);
    begin_ = (begin_ + 1) & (capacity_ - 1);
    --size_;
    return 0;
  }
  void PutBack(Tensor* tuple, uint64_t) override {
    if (size_ == capacity_) Grow();
    begin_ = (begin_ + capacity_ - 1) & (capacity_ - 1);
    ++size_;
    std::move(tuple, tuple + num_components_, At(0));
  }
  void ForEach(FunctionRef<void(const Tensor&)> visit) const override {
    for (size_t i = 0; i < size_; ++i) {
      for (size_t c = 0; c < num_components_; ++c) visit(At(i)[c]);
    }
  }

 private:
  // The i-th oldest element. capacity_ is a power of two.
  const Tensor* At(size_t i) const {
    return slots_.data() + ((begin_ + i) & (capacity_ - 1)) * num_components_;
  }
  Tensor* At(size_t i) { return const_cast<Tensor*>(std::as_const(*this).At(i)); }
  void Grow() {
    const size_t capacity = std::max<size_t>(16, capacity_ * 2);
    std::vector<Tensor> slots(capacity * num_components_);
    for (size_t i = 0; i < size_; ++i) {
      std::move(At(i), At(i) + num_components_, slots.data() + i * num_components_);
    }
    slots_ = std::move(slots);
    capacity_ = capacity;
    begin_ = 0;
  }

  const size_t num_components_;
  std::vector<Tensor> slots_;
  size_t capacity_ = 0;  // elements that slots_ has place for
  size_t begin_ = 0;
  size_t size_ = 0;
};

class ShuffleStore final : public ElementStore {
 public:
  ShuffleStore(int num_components, int64_t seed, int64_t seed2)
      : num_components_(static_cast<size_t>(num_components)), random_(Seed(seed, seed2)) {}

  int64_t size() const override { return static_cast<int64_t>(tensors_.size() / num_components_); }
  void Push(Tensor* tuple) override {
    tensors_.insert(tensors_.end(), std::move_iterator(tuple),
                    std::move_iterator(tuple + num_components_));
  }
  uint64_t Pop(Tensor* tuple) override {
    const size_t at =
        std::uniform_int_distribution<size_t>(0, tensors_.size() / num_components_ - 1)(random_);
    Tensor* chosen = tensors_.data() + at * num_components_;
    Tensor* last = tensors_.data() + tensors_.size() - num_components_;
    std::move(chosen, chosen + num_components_, tuple);
    if (chosen != last) std::move(last, last + num_components_, chosen);
    tensors_.resize(tensors_.size() - num_components_);
    return 0;
  }
  void PutBack(Tensor* tuple, uint64_t) override { Push(tuple); }
  void ForEach(FunctionRef<void(const Tensor&)> visit) const override {
    for (const Tensor& tensor : tensors_) visit(tensor);
  }

 private:
  static std::mt19937_64 Seed(int64_t seed, int64_t seed2) {
    if (seed == 0 && seed2 == 0) {
      std::random_device device;
      return std::mt19937_64((uint64_t{device()} << 32) | device());
    }
    std::seed_seq words{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32),
                        static_cast<uint32_t>(seed2), static_cast<uint32_t>(seed2 >> 32)};
    return std::mt19937_64(words);
  }

  const size_t num_components_;
  std::vector<Tensor> tensors_;
  std::mt19937_64 random_;
};

class PriorityStore final : public ElementStore {
 public:
  explicit PriorityStore(int num_components)
      : num_components_(static_cast<size_t>(num_components)) {}

  int64_t size() const override { return static_cast<int64_t>(heap_.size()); }
  void Push(Tensor* tuple) override { PutBack(tuple, next_place_++); }
  uint64_t Pop(Tensor* tuple) override {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    const Entry entry = heap_.back();
    heap_.pop_back();
    Tensor* from = tensors_.data() + entry.slot * num_components_;
    std::move(from, from + num_components_, tuple);
    free_slots_.push_back(entry.slot);
    return entry.place;
  }
  void PutBack(Tensor* tuple, uint64_t place) override {
    if (free_slots_.empty()) {
      free_slots_.push_back(tensors_.size() / num_components_);
      tensors_.resize(tensors_.size() + num_components_);
    }
    const size_t slot = free_slots_.back();
    free_slots_.pop_back();
    heap_.push_back({tuple[0].scalar<int64_t>(), place, slot});
    std::push_heap(heap_.begin(), heap_.end(), Later);
    std::move(tuple, tuple + num_components_, tensors_.data() + slot * num_components_);
  }
  void ForEach(FunctionRef<void(const Tensor&)> visit) const override {
    for (const Tensor& tensor : tensors_) {
      if (tensor.initialized()) visit(tensor);
    }
  }

 private:
  struct Entry {
    int64_t priority;
    uint64_t place;
    size_t slot;
  };
  static bool Later(const Entry& a, const Entry& b) {
    return std::pair(a.priority, a.place) > std::pair(b.priority, b.place);
  }

  const size_t num_components_;
  std::vector<Entry> heap_;
  std::vector<Tensor> tensors_;  // by slot; empty where the slot is free
  std::vector<size_t> free_slots_;
  uint64_t next_place_ = 0;
};

}  // namespace

std::unique_ptr<ElementStore> MakeFifoStore(int num_components) {
  return std::make_unique<FifoStore>(num_components);
}

std::unique_ptr<ElementStore> MakeShuffleStore(int num_components, int64_t seed, int64_t seed2) {
  return std::make_unique<ShuffleStore>(num_components, seed, seed2);
}

std::unique_ptr<ElementStore> MakePriorityStore(int num_components) {
  return std::make_unique<PriorityStore>(num_components);
}

}  // namespace penstock::ops
