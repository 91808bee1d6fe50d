#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "penstock/core/resource.h"
#include "penstock/device/kernel.h"
#include "penstock/device/state.h"

// How the kernels of tensor arrays, stacks and tables make handles and find what is behind them.

namespace penstock::ops {

// A scalar tensor with a handle that owns `resource`.
Result<Tensor> MakeHandle(KernelContext& context, std::string container, std::string name,
                          std::string type_name, std::shared_ptr<Resource> resource);

// What the handle in `tensor` points at, looked up by name when the handle came from outside.
// InvalidArgument when the tensor is no handle or points at nothing; `kind` says what was expected.
Result<std::shared_ptr<Resource>> FindAnyResource(KernelContext& context, const Tensor& tensor,
                                                  std::string_view kind);

Status WrongKind(const Tensor& handle, std::string_view kind, const Resource& found);

// The same, of one kind.
template <class R>
Result<std::shared_ptr<R>> FindResource(KernelContext& context, const Tensor& tensor,
                                        std::string_view kind) {
  TRY_ASSIGN(const std::shared_ptr<Resource> found, FindAnyResource(context, tensor, kind));
  std::shared_ptr<R> typed = std::dynamic_pointer_cast<R>(found);
  if (typed == nullptr) return WrongKind(tensor, kind, *found);
  return typed;
}

}  // namespace penstock::ops
