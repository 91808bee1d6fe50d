#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "penstock/ops/queue/queue.h"

namespace penstock::ops {

// Gathers the components of elements that come one component at a time, by key, in any order. An
// element whose components are all there is ready, and leaves in the order in which its first
// component came. Threads: all methods may be called concurrently.
class Barrier final : public Resource {
 public:
  // REQUIRES: as many shapes as dtypes, fully known.
  Barrier(std::string name, std::vector<DType> dtypes, std::vector<Shape> shapes);

  const std::string& name() const { return name_; }
  const std::vector<DType>& dtypes() const { return dtypes_; }
  const std::vector<Shape>& shapes() const { return shapes_; }

  // Gives the elements of these keys their component `component`, all of them or none. Cancelled
  // when the barrier is closed and a key is new. REQUIRES: a value for each key, of that
  // component's dtype and shape, and component within range.
  Status InsertMany(std::vector<std::string> keys, int64_t component, std::vector<Tensor> values);
  // Sets the context's outputs to the indices, keys and components of n ready elements, once there
  // are as many. `small`: what is ready does when the barrier is closed; `wait`: even then waits
  // for elements that are begun. OutOfRange when there will never be enough. `done` as with Queue.
  Status TakeMany(KernelContext& context, int64_t n, bool small, bool wait, Done& done);
  // Refuses new keys; `cancel` drops those that are begun as well.
  Status Close(bool cancel);

  int64_t ready_size() const { return ready_->size(); }
  int64_t incomplete_size() const;
  std::string DebugString() const override;
  size_t MemoryBytes() const override;

 private:
  struct Incomplete {
    int64_t index = 0;  // of the call that began it
    size_t missing = 0;
    std::vector<Tensor> components;
  };

  Status CheckInsert(const std::vector<std::string>& keys, int64_t component) const
      REQUIRES_LOCK(mu_);

  const std::string name_;
  const std::vector<DType> dtypes_;
  const std::vector<Shape> shapes_;
  // Index, key and components; by index. Its lock is taken with mu_ held, never the other way.
  const std::shared_ptr<Queue> ready_;
  mutable Mutex mu_;
  std::unordered_map<std::string, Incomplete> incomplete_ GUARDED_BY(mu_);
  int64_t next_index_ GUARDED_BY(mu_) = INT64_MIN;  // TensorFlow's first index
  bool closed_ GUARDED_BY(mu_) = false;
  bool cancelled_ GUARDED_BY(mu_) = false;
};

}  // namespace penstock::ops
