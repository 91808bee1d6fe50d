#pragma once

#include <tuple>
#include <vector>

#include "penstock/client/output.h"

// Derivatives as further nodes of the graph.

namespace penstock {

namespace client_internal {
// d(sum of y) / dx for each x. Throws when y does not depend on one.
std::vector<OutputRef> AddGradients(Graph& graph, OutputRef y, const std::vector<OutputRef>& xs,
                                    CallSite site);
}  // namespace client_internal

// The derivative of the sum of y's elements with regard to x, in the shape of x.
//
//   auto slope = GradientOf(loss, weights);
template <class T, class X>
Output<X> GradientOf(const Output<T>& y, const Output<X>& x, CallSite site = CallSite::Here()) {
  return Output<X>(y.graph(),
                   client_internal::AddGradients(y.graph(), y.ref(), {x.ref()}, site)[0]);
}

// The same for several, in one pass over the graph.
//
//   auto [dw, db] = GradientsOf(loss, std::tuple(weights, bias));
template <class T, class... Xs>
std::tuple<Output<Xs>...> GradientsOf(const Output<T>& y, const std::tuple<Output<Xs>...>& xs,
                                      CallSite site = CallSite::Here()) {
  std::vector<OutputRef> refs;
  std::apply([&](const auto&... x) { (refs.push_back(x.ref()), ...); }, xs);
  const std::vector<OutputRef> found =
      client_internal::AddGradients(y.graph(), y.ref(), refs, site);
  size_t next = 0;
  return std::tuple<Output<Xs>...>{Output<Xs>(y.graph(), found[next++])...};
}

}  // namespace penstock
