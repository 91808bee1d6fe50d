#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/function_ref.h"
#include "penstock/core/mutex.h"
#include "penstock/core/resource.h"
#include "penstock/core/status.h"
#include "penstock/core/tensor.h"

namespace penstock {

// A tensor that lives between steps. Readers get the tensor itself, never a copy; a writer that
// finds it shared gives the variable a new buffer, so what a reader holds does not change under it.
// Threads: all methods may be called concurrently.
class StateVariable final : public Resource {
 public:
  explicit StateVariable(DType dtype) : dtype_(dtype) {}

  DType dtype() const { return dtype_; }
  // Not initialized() while nothing was assigned.
  Tensor Read() const {
    MutexLock lock(mu_);
    return value_;
  }
  void Write(Tensor value) {
    MutexLock lock(mu_);
    value_ = std::move(value);
  }
  // Runs `update` on the value with the lock held. Its buffer is the variable's alone exactly when
  // OwnsUniquely().
  Status Update(FunctionRef<Status(Tensor&)> update) {
    MutexLock lock(mu_);
    return update(value_);
  }

  // True once its registry has let go of it: a handle that was kept meanwhile is stale.
  bool dropped() const { return dropped_.load(std::memory_order_acquire); }

  std::string DebugString() const override;
  size_t MemoryBytes() const override;

 private:
  friend class StateRegistry;

  const DType dtype_;
  std::atomic<bool> dropped_{false};  // set once, by the registry
  mutable Mutex mu_;
  Tensor value_ GUARDED_BY(mu_);
};

// State by container and name. Outlives sessions when they share one registry.
// Threads: all methods may be called concurrently.
class StateRegistry {
 public:
  static constexpr std::string_view kDefaultContainer = "localhost";

  // The resource of that name, made by `make` when there is none. InvalidArgument when it is of
  // another kind.
  template <class R>
  Result<std::shared_ptr<R>> FindOrMake(std::string_view container, std::string_view name,
                                        const std::function<std::shared_ptr<R>()>& make) {
    TRY_ASSIGN(
        std::shared_ptr<Resource> found,
        FindOrMakeResource(container, name, [&]() -> std::shared_ptr<Resource> { return make(); }));
    auto typed = std::dynamic_pointer_cast<R>(found);
    if (typed == nullptr)
      return InvalidArgument("resource {}/{} is a {}", container, name, found->DebugString());
    return typed;
  }
  // Null when there is none.
  std::shared_ptr<Resource> Find(std::string_view container, std::string_view name) const;
  // NotFound when there is none.
  Status Remove(std::string_view container, std::string_view name);
  // Drops everything in `container`. Steps in flight keep what they hold.
  void Clear(std::string_view container);
  // The bytes that the resources of each container hold.
  std::map<std::string, size_t> MemoryByContainer() const;
  // Changes whenever something was dropped: what was found under an earlier generation may no
  // longer be the state of that name.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }
  std::vector<std::string> Containers() const;
  // One line a resource.
  std::string DebugString() const;

 private:
  Result<std::shared_ptr<Resource>> FindOrMakeResource(
      std::string_view container, std::string_view name,
      const std::function<std::shared_ptr<Resource>()>& make);
  static void MarkDropped(Resource& resource);

  std::atomic<uint64_t> generation_{0};  // written with mu_ held
  mutable Mutex mu_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Resource>, std::less<>> resources_
      GUARDED_BY(mu_);
};

}  // namespace penstock
