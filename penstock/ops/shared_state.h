#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "penstock/core/mutex.h"
#include "penstock/core/resource.h"
#include "penstock/device/kernel.h"
#include "penstock/device/state.h"

namespace penstock::ops {

// The state that a node stands for, by container and name: made or found in the step's registry,
// then kept until that registry drops something. Threads: all methods may be called concurrently.
template <class R>
class SharedState {
 public:
  // `check`, where there is one, refuses state of that name that another node made differently.
  SharedState(std::string container, std::string name, std::string type_name,
              std::function<std::shared_ptr<R>()> make,
              std::function<Status(const R&)> check = nullptr)
      : container_(std::move(container)),
        name_(std::move(name)),
        type_name_(std::move(type_name)),
        make_(std::move(make)),
        check_(std::move(check)) {}

  Result<std::shared_ptr<R>> Get(KernelContext& context) {
    MutexLock lock(mu_);
    TRY(Find(context));
    return resource_;
  }
  // A scalar tensor that holds a handle of it.
  Result<Tensor> GetHandle(KernelContext& context) {
    MutexLock lock(mu_);
    TRY(Find(context));
    if (handle_.initialized()) return handle_;
    TRY_ASSIGN(handle_, context.Allocate(DType::kResource, Shape()));
    ResourceHandle& handle = *handle_.mutable_data<ResourceHandle>();
    handle.container = container_;
    handle.name = name_;
    handle.type_name = type_name_;
    handle.resource = resource_;
    return handle_;
  }

 private:
  Status Find(KernelContext& context) REQUIRES_LOCK(mu_) {
    StateRegistry& state = context.state();
    // Read before the search: state dropped meanwhile makes the next call search again.
    const uint64_t generation = state.generation();
    if (state_ == &state && generation_ == generation) return OkStatus();
    TRY_ASSIGN(std::shared_ptr<R> found, state.FindOrMake<R>(container_, name_, make_));
    if (check_ != nullptr) TRY(check_(*found));
    resource_ = std::move(found);
    handle_ = Tensor();
    state_ = &state;
    generation_ = generation;
    return OkStatus();
  }

  // Constant after construction.
  const std::string container_;
  const std::string name_;
  const std::string type_name_;
  const std::function<std::shared_ptr<R>()> make_;
  const std::function<Status(const R&)> check_;
  Mutex mu_;
  std::shared_ptr<R> resource_ GUARDED_BY(mu_);
  Tensor handle_ GUARDED_BY(mu_);
  const StateRegistry* state_ GUARDED_BY(mu_) = nullptr;  // where it was found, and when
  uint64_t generation_ GUARDED_BY(mu_) = 0;
};

// The resource behind a handle; `keep` owns it when the handle only names it. InvalidArgument when
// the tensor is no handle or points at something else, NotFound when it points at nothing.
template <class R>
Result<R*> FindShared(KernelContext& context, const Tensor& tensor, std::string_view what,
                      std::shared_ptr<Resource>* keep) {
  if (tensor.dtype() != DType::kResource || tensor.num_elements() != 1) {
    return InvalidArgument("expected a handle of a {}, got a tensor of dtype {} and shape {}", what,
                           tensor.dtype(), tensor.shape());
  }
  const ResourceHandle& handle = *tensor.data<ResourceHandle>();
  Resource* resource = handle.resource.get();
  if (resource == nullptr) {
    *keep = context.state().Find(handle.container, handle.name);
    resource = keep->get();
  }
  if (resource == nullptr) {
    return NotFound("Resource {} does not exist.", Printable(handle.ToString()));
  }
  // R is final: one comparison does for a cast.
  if (typeid(*resource) != typeid(R)) {
    return InvalidArgument("{} must be a {}, got a {}", Printable(handle.ToString()), what,
                           resource->DebugString());
  }
  return static_cast<R*>(resource);
}

// The name that TensorFlow's messages give to state: the shared name, or the node's own.
inline std::string ShownName(const std::string& shared_name, const std::string& node) {
  return shared_name.empty() ? "_0_" + node : shared_name;
}

}  // namespace penstock::ops
