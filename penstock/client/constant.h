#pragma once

#include <string_view>

#include "penstock/client/array.h"
#include "penstock/client/op_function.h"

namespace penstock {

namespace client_internal {
NodeId AddConstant(Graph& graph, const Tensor& value, CallSite site);
NodeId AddPlaceholder(Graph& graph, DType dtype, const Shape& shape, std::string_view name,
                      CallSite site);
}  // namespace client_internal

template <class T>
Output<T> Constant(Graph& graph, const Array<T>& value, CallSite site = CallSite::Here()) {
  return Output<T>(graph, {client_internal::AddConstant(graph, value, site), 0});
}
template <class T>
Output<T> Constant(Graph& graph, T value, CallSite site = CallSite::Here()) {
  return Constant(graph, Array<T>(value), site);
}
// `value` in every element.
template <class T>
Output<T> Constant(Graph& graph, const Shape& shape, T value, CallSite site = CallSite::Here()) {
  Result<Tensor> tensor = Tensor::Make(HostAllocator(), kDTypeOf<T>, shape);
  if (!tensor.ok()) throw Error(tensor.status(), site);
  for (T& element : tensor->template mutable_values<T>()) element = value;
  return Constant(graph, Array<T>(*tensor), site);
}

// A value that each step feeds. A dimension of -1 may differ from step to step.
template <class T>
Output<T> Placeholder(Graph& graph, const Shape& shape = Shape::Unknown(),
                      std::string_view name = "Placeholder", CallSite site = CallSite::Here()) {
  return Output<T>(graph,
                   {client_internal::AddPlaceholder(graph, kDTypeOf<T>, shape, name, site), 0});
}

}  // namespace penstock
