#pragma once

#include <memory>
#include <string>

#include "penstock/core/resource.h"
#include "penstock/device/kernel.h"
#include "penstock/device/state.h"

namespace penstock::ops {

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
