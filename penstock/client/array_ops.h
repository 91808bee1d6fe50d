#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "penstock/client/op_function.h"

// Typed calls of ops that take axes, sizes or a target type: given as plain numbers, they become
// constants of the graph.

namespace penstock {

namespace client_internal {

// A node with `inputs`, then a constant for each list of integers (int32).
NodeId AddArrayOp(Graph& graph, std::string_view op, std::vector<OutputRef> inputs,
                  std::initializer_list<std::vector<int64_t>> constants, CallSite site);
NodeId AddReduction(Graph& graph, std::string_view op, OutputRef input,
                    const std::vector<int64_t>& axes, bool keep_dims, CallSite site);
NodeId AddCast(Graph& graph, OutputRef input, DType to, CallSite site);
// A constant scalar for ops whose axis must be one.
OutputRef ScalarConstant(Graph& graph, int64_t value, CallSite site);
NodeId AddSplit(Graph& graph, OutputRef value, int64_t count, int64_t axis, CallSite site);
std::vector<int64_t> AllAxes(const Shape& shape, CallSite site);

}  // namespace client_internal

#define PENSTOCK_REDUCTION(Name, op)                                                            \
  /* Over these axes (negative ones count from the end), or over all when none is given. */     \
  template <class A>                                                                            \
  Output<typename A::Element> Name(const A& input, const std::vector<int64_t>& axes,            \
                                   bool keep_dims = false, CallSite site = CallSite::Here()) {  \
    const Output<typename A::Element> x = input;                                                \
    return {x.graph(),                                                                          \
            {client_internal::AddReduction(x.graph(), op, x.ref(), axes, keep_dims, site), 0}}; \
  }                                                                                             \
  template <class A>                                                                            \
  Output<typename A::Element> Name(const A& input, CallSite site = CallSite::Here()) {          \
    const Output<typename A::Element> x = input;                                                \
    return Name(x, client_internal::AllAxes(x.shape(), site), false, site);                     \
  }
PENSTOCK_REDUCTION(Sum, "Sum")
PENSTOCK_REDUCTION(Mean, "Mean")
PENSTOCK_REDUCTION(Prod, "Prod")
PENSTOCK_REDUCTION(Max, "Max")
PENSTOCK_REDUCTION(Min, "Min")
PENSTOCK_REDUCTION(All, "All")
PENSTOCK_REDUCTION(Any, "Any")
#undef PENSTOCK_REDUCTION

// The index of the largest element along `axis`.
template <class A>
Output<int64_t> ArgMax(const A& input, int64_t axis, CallSite site = CallSite::Here()) {
  const Output<typename A::Element> x = input;
  const OutputRef at = client_internal::ScalarConstant(x.graph(), axis, site);
  return {x.graph(),
          {client_internal::AddArrayOp(x.graph(), "ArgMax", {x.ref(), at}, {}, site), 0}};
}

// To another element type.
template <class To, class A>
Output<To> Cast(const A& input, CallSite site = CallSite::Here()) {
  const Output<typename A::Element> x = input;
  return {x.graph(), {client_internal::AddCast(x.graph(), x.ref(), kDTypeOf<To>, site), 0}};
}

// The same elements under another shape; one extent may be -1: what is left.
template <class A>
Output<typename A::Element> Reshape(const A& input, const std::vector<int64_t>& shape,
                                    CallSite site = CallSite::Here()) {
  const Output<typename A::Element> x = input;
  return {x.graph(),
          {client_internal::AddArrayOp(x.graph(), "Reshape", {x.ref()}, {shape}, site), 0}};
}
template <class A>
Output<typename A::Element> Transpose(const A& input, const std::vector<int64_t>& permutation,
                                      CallSite site = CallSite::Here()) {
  const Output<typename A::Element> x = input;
  return {x.graph(),
          {client_internal::AddArrayOp(x.graph(), "Transpose", {x.ref()}, {permutation}, site), 0}};
}
template <class A>
Output<typename A::Element> ExpandDims(const A& input, int64_t axis,
                                       CallSite site = CallSite::Here()) {
  const Output<typename A::Element> x = input;
  const OutputRef at = client_internal::ScalarConstant(x.graph(), axis, site);
  return {x.graph(),
          {client_internal::AddArrayOp(x.graph(), "ExpandDims", {x.ref(), at}, {}, site), 0}};
}
// `size` elements from `begin` along each axis; a size of -1 is all that follow.
template <class A>
Output<typename A::Element> Slice(const A& input, const std::vector<int64_t>& begin,
                                  const std::vector<int64_t>& size,
                                  CallSite site = CallSite::Here()) {
  const Output<typename A::Element> x = input;
  return {x.graph(),
          {client_internal::AddArrayOp(x.graph(), "Slice", {x.ref()}, {begin, size}, site), 0}};
}
template <class T>
Output<T> Concat(const std::vector<Output<T>>& values, int64_t axis,
                 CallSite site = CallSite::Here()) {
  std::vector<OutputRef> inputs;
  for (const Output<T>& value : values) inputs.push_back(value.ref());
  Graph& graph = client_internal::GraphOf(values);
  inputs.push_back(client_internal::ScalarConstant(graph, axis, site));
  return {graph, {client_internal::AddArrayOp(graph, "ConcatV2", std::move(inputs), {}, site), 0}};
}
// `count` equal parts along `axis`, which their number must divide.
template <class A>
std::vector<Output<typename A::Element>> Split(const A& input, int64_t count, int64_t axis,
                                               CallSite site = CallSite::Here()) {
  const Output<typename A::Element> x = input;
  const NodeId node = client_internal::AddSplit(x.graph(), x.ref(), count, axis, site);
  std::vector<Output<typename A::Element>> parts;
  for (int32_t i = 0; i < count; ++i) parts.push_back({x.graph(), {node, i}});
  return parts;
}
// Rows of `params` along `axis`.
template <class A, class I>
Output<typename A::Element> Gather(const A& params, const Output<I>& indices, int64_t axis = 0,
                                   CallSite site = CallSite::Here()) {
  const Output<typename A::Element> x = params;
  const OutputRef at = client_internal::ScalarConstant(x.graph(), axis, site);
  return {
      x.graph(),
      {client_internal::AddArrayOp(x.graph(), "GatherV2", {x.ref(), indices.ref(), at}, {}, site),
       0}};
}

}  // namespace penstock
