#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "penstock/client/output.h"

// Derivatives as further nodes of the graph. derivatives.h has those of C++ functions.

namespace penstock {

// What becomes of an x on which y does not depend.
enum class Unconnected {
  kError,  // an error that names all of them
  kZeros,  // its gradient is zeros
  kNone,   // its gradient is no output of the graph: see IsConnected
};

namespace client_internal {

struct GradientsAsked {
  OutputRef y;
  std::vector<OutputRef> xs;
  OutputRef dy = {};  // what arrives at y; kNoNode: ones
  Unconnected unconnected = Unconnected::kError;
};
// d(sum of dy * y) / dx for each x.
std::vector<OutputRef> AddGradients(Graph& graph, const GradientsAsked& asked, CallSite site);

// What to differentiate by: an output, or the handle of a variable.
template <class X>
OutputRef SourceOf(const X& x) {
  if constexpr (requires { x.handle(); }) {
    return {x.handle(), 0};
  } else {
    return x.ref();
  }
}

// Typed handles of `refs`, as many as the tuple has.
template <class Tuple>
Tuple LoadOutputs(Graph& graph, const std::vector<OutputRef>& refs) {
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return Tuple{std::tuple_element_t<I, Tuple>(graph, refs[I])...};
  }
  (std::make_index_sequence<std::tuple_size_v<Tuple>>());
}

}  // namespace client_internal

// Whether an output that Unconnected::kNone led to is one.
template <class T>
bool IsConnected(const Output<T>& gradient) {
  return gradient.ref().node != kNoNode;
}

// The derivative of the sum of y's elements with regard to x, an output or a variable, in the shape
// of x. All that was read from a variable counts.
//
//   auto slope = GradientOf(loss, weights);
template <class T, class X>
Output<typename X::Element> GradientOf(const Output<T>& y, const X& x,
                                       Unconnected unconnected = Unconnected::kError,
                                       CallSite site = CallSite::Here()) {
  return {y.graph(),
          client_internal::AddGradients(
              y.graph(), {y.ref(), {client_internal::SourceOf(x)}, {}, unconnected}, site)[0]};
}

// The same for several, in one pass over the graph.
//
//   auto [dw, db] = GradientsOf(loss, std::tuple(weights, bias));
template <class T, class... Xs>
std::tuple<Output<typename Xs::Element>...> GradientsOf(
    const Output<T>& y, const std::tuple<Xs...>& xs, Unconnected unconnected = Unconnected::kError,
    CallSite site = CallSite::Here()) {
  std::vector<OutputRef> refs;
  std::apply([&](const auto&... x) { (refs.push_back(client_internal::SourceOf(x)), ...); }, xs);
  return client_internal::LoadOutputs<std::tuple<Output<typename Xs::Element>...>>(
      y.graph(),
      client_internal::AddGradients(y.graph(), {y.ref(), std::move(refs), {}, unconnected}, site));
}

}  // namespace penstock
