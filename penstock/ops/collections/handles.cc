#include "penstock/ops/collections/handles.h"

namespace penstock::ops {

Result<Tensor> MakeHandle(KernelContext& context, std::string container, std::string name,
                          std::string type_name, std::shared_ptr<Resource> resource) {
  TRY_ASSIGN(Tensor tensor, context.Allocate(DType::kResource, Shape()));
  ResourceHandle& handle = *tensor.mutable_data<ResourceHandle>();
  handle.container = std::move(container);
  handle.name = std::move(name);
  handle.type_name = std::move(type_name);
  handle.resource = std::move(resource);
  return tensor;
}

Result<std::shared_ptr<Resource>> FindAnyResource(KernelContext& context, const Tensor& tensor,
                                                  std::string_view kind) {
  if (tensor.dtype() != DType::kResource || tensor.num_elements() != 1) {
    return InvalidArgument("expected a handle of a {}, got a tensor of dtype {} and shape {}", kind,
                           tensor.dtype(), tensor.shape());
  }
  const ResourceHandle& handle = *tensor.data<ResourceHandle>();
  std::shared_ptr<Resource> resource = handle.resource;
  if (resource == nullptr) resource = context.state().Find(handle.container, handle.name);
  if (resource == nullptr) {
    return InvalidArgument("expected a handle of a {}, but resource {} does not exist", kind,
                           Printable(handle.ToString()));
  }
  return resource;
}

Status WrongKind(const Tensor& handle, std::string_view kind, const Resource& found) {
  return InvalidArgument("{} must be a {}, got a {}",
                         Printable(handle.data<ResourceHandle>()->ToString()), kind,
                         found.DebugString());
}

}  // namespace penstock::ops
