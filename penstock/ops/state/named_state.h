#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "penstock/core/mutex.h"
#include "penstock/core/resource.h"
#include "penstock/device/kernel.h"
#include "penstock/device/state.h"

// State that is no variable (an accumulator, a mutex): the handle that its node gives out, and the
// way back from a handle.

namespace penstock::ops {

// The handle of the R that a node stands for: made or found in the step's state, then kept until
// that state drops something. Threads: Get may be called concurrently.
template <class R>
class NamedState {
 public:
  // `accept` says why state of that name, made by another node, is not what this one describes.
  NamedState(std::string container, std::string name, std::function<std::shared_ptr<R>()> make,
             std::function<Status(const R&)> accept = nullptr)
      : container_(std::move(container)),
        name_(std::move(name)),
        make_(std::move(make)),
        accept_(std::move(accept)) {}

  Result<Tensor> Get(KernelContext& context) {
    StateRegistry& state = context.state();
    MutexLock lock(mu_);
    // Read before the search: state dropped meanwhile makes the next call search again.
    const uint64_t generation = state.generation();
    if (state_ == &state && generation_ == generation) return handle_;
    TRY_ASSIGN(std::shared_ptr<R> found, state.FindOrMake<R>(container_, name_, make_));
    if (accept_ != nullptr) TRY(accept_(*found));
    TRY_ASSIGN(Tensor tensor, context.Allocate(DType::kResource, Shape()));
    ResourceHandle& handle = *tensor.mutable_data<ResourceHandle>();
    handle.container = container_;
    handle.name = name_;
    handle.type_name = R::kTypeName;
    handle.resource = std::move(found);
    handle_ = std::move(tensor);
    state_ = &state;
    generation_ = generation;
    return handle_;
  }

 private:
  // Constant after construction.
  const std::string container_;
  const std::string name_;
  const std::function<std::shared_ptr<R>()> make_;
  const std::function<Status(const R&)> accept_;
  Mutex mu_;
  Tensor handle_ GUARDED_BY(mu_);
  const StateRegistry* state_ GUARDED_BY(mu_) = nullptr;  // where handle_ was found, and when
  uint64_t generation_ GUARDED_BY(mu_) = 0;
};

// The R behind a handle. InvalidArgument when the tensor is no handle or one of something else;
// NotFound when the step's state does not, or no longer, hold it.
template <class R>
Result<std::shared_ptr<R>> FindNamedState(KernelContext& context, const Tensor& tensor) {
  if (tensor.dtype() != DType::kResource || tensor.num_elements() != 1) {
    return InvalidArgument("expected a handle of a {}, got a tensor of dtype {} and shape {}",
                           R::kTypeName, tensor.dtype(), tensor.shape());
  }
  const ResourceHandle& handle = *tensor.data<ResourceHandle>();
  const std::shared_ptr<Resource> held = context.state().Find(handle.container, handle.name);
  // A handle that points elsewhere was made before that state was dropped.
  if (held == nullptr || (handle.resource != nullptr && handle.resource != held)) {
    const std::string container(handle.container.empty() ? StateRegistry::kDefaultContainer
                                                         : std::string_view(handle.container));
    return NotFound("Resource {}/{} does not exist.", Printable(container), Printable(handle.name));
  }
  std::shared_ptr<R> found = std::dynamic_pointer_cast<R>(held);
  if (found == nullptr) {
    return InvalidArgument("{} must be a {}, got a {}", Printable(handle.ToString()), R::kTypeName,
                           held->DebugString());
  }
  return found;
}

}  // namespace penstock::ops
