#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/client/array_ops.h"
#include "penstock/client/control_flow.h"
#include "penstock/client/gradients.h"

// Derivatives of C++ functions over outputs. Each takes a function (a lambda, an op, a layer, what
// another of these returned) and returns one, which is called with outputs or variables:
//
//   auto slope = Grad([](auto x) { return x * x * x; });
//   auto y = slope(x);            // 3 x^2
//   auto z = Grad(slope)(x);      // 6 x
//
// Only ways that lead through the arguments count: an outer output that the function uses is a
// constant to it, even one that was computed from the same x. Integer and boolean arguments are
// handed on and have no gradient.

namespace penstock {

namespace client_internal {

template <class T>
inline constexpr bool kHasGradient =
    std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, half> ||
    std::is_same_v<T, bfloat16> || std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;

// The outputs of a list of arguments that have gradients.
template <class... Ts>
using Differentiable = decltype(std::tuple_cat(
    std::declval<std::conditional_t<kHasGradient<Ts>, std::tuple<Output<Ts>>, std::tuple<>>>()...));

// A tuple, or what is in it when that is one thing.
template <class Tuple>
auto Unwrapped(Tuple tuple) {
  if constexpr (std::tuple_size_v<Tuple> == 1) {
    return std::get<0>(tuple);
  } else {
    return tuple;
  }
}
// The outputs that one argument, or a tuple of them, stands for.
template <class A>
auto AsTuple(const A& argument) {
  if constexpr (requires { typename A::Element; }) {
    return std::tuple(AsOutput(argument));
  } else {
    return std::apply([](const auto&... each) { return std::tuple(AsOutput(each)...); }, argument);
  }
}

// A node of its own for a value, so that derivatives by it do not count other uses of the value.
OutputRef AddStandIn(Graph& graph, OutputRef value, CallSite site);
template <class T>
Output<T> StandIn(const Output<T>& value, CallSite site) {
  return Output<T>(value.graph(), AddStandIn(value.graph(), value.ref(), site));
}

// The derivative of y along dxs, by two passes backwards: what a pass backwards does is linear in
// what arrives at y, so its derivative by that leads forwards.
OutputRef AddForwardDerivative(Graph& graph, OutputRef y, const std::vector<OutputRef>& xs,
                               const std::vector<OutputRef>& dxs, CallSite site);
// Ones in place `index` (a scalar int32, or a number) of zeros like y.
OutputRef AddUnitVector(Graph& graph, OutputRef y, OutputRef index, CallSite site);
// The rows of a Jacobian, [number of elements of y, shape of x], as [shape of y, shape of x].
OutputRef AddJacobianShape(Graph& graph, OutputRef rows, OutputRef y, OutputRef x, CallSite site);
OutputRef AddPack(Graph& graph, const std::vector<OutputRef>& values, CallSite site);
Output<int32_t> AddElementNumbers(Graph& graph, OutputRef of, CallSite site);

// The refs of those outputs of a tuple that have gradients.
template <class... Ts>
std::vector<OutputRef> DifferentiableRefs(const std::tuple<Output<Ts>...>& outputs) {
  std::vector<OutputRef> refs;
  auto add = [&]<class T>(const Output<T>& output) {
    if constexpr (kHasGradient<T>) refs.push_back(output.ref());
  };
  std::apply([&](const auto&... output) { (add(output), ...); }, outputs);
  return refs;
}

}  // namespace client_internal

// Maps what arrives at a result back to what arrives at the arguments. A handle of graph nodes.
template <class Y, class Xs>
class Pullback;
template <class Y, class... Ts>
class Pullback<Y, std::tuple<Output<Ts>...>> {
 public:
  Pullback(Output<Y> y, std::tuple<Output<Ts>...> xs, Unconnected unconnected, CallSite site)
      : y_(y), xs_(std::move(xs)), unconnected_(unconnected), site_(site) {}

  // The gradients of the arguments, as one output when there is one.
  auto operator()(const Output<Y>& dy) const { return Pull(dy.ref()); }
  // Of the sum of the result's elements.
  auto operator()() const { return Pull({}); }

 private:
  auto Pull(OutputRef dy) const {
    using namespace client_internal;
    using Result = Differentiable<Ts...>;
    static_assert(std::tuple_size_v<Result> > 0, "no argument is of a floating or complex type");
    const std::vector<OutputRef> found =
        AddGradients(y_.graph(), {y_.ref(), DifferentiableRefs(xs_), dy, unconnected_}, site_);
    return Unwrapped(LoadOutputs<Result>(y_.graph(), found));
  }

  Output<Y> y_;
  std::tuple<Output<Ts>...> xs_;
  Unconnected unconnected_;
  CallSite site_;
};

namespace client_internal {

// f of stand-ins for `args`, and the way back.
template <class F, class... Ts>
auto CallForPullback(F f, const std::tuple<Output<Ts>...>& args, Unconnected unconnected,
                     CallSite site) {
  const std::tuple<Output<Ts>...> xs = std::apply(
      [&](const auto&... arg) { return std::tuple<Output<Ts>...>{StandIn(arg, site)...}; }, args);
  const auto y = std::apply(f, xs);
  using Y = typename decltype(y)::Element;
  return std::pair(y, Pullback<Y, std::tuple<Output<Ts>...>>(y, xs, unconnected, site));
}

}  // namespace client_internal

// The value, and the way back:
//   auto [y, pullback] = Vjp(f)(x, w);
//   auto [dx, dw] = pullback(dy);
template <class F>
auto Vjp(F f, Unconnected unconnected = Unconnected::kError, CallSite site = CallSite::Here()) {
  return [f, unconnected, site](const auto&... args) {
    return client_internal::CallForPullback(f, std::tuple(client_internal::AsOutput(args)...),
                                            unconnected, site);
  };
}

// The value of f, and the gradients of the sum of its elements:
//   auto [loss, gradients] = ValueAndGrad(f)(w, b);
//   auto [dw, db] = gradients;
template <class F>
auto ValueAndGrad(F f, Unconnected unconnected = Unconnected::kError,
                  CallSite site = CallSite::Here()) {
  return [f, unconnected, site](const auto&... args) {
    auto [y, pullback] = client_internal::CallForPullback(
        f, std::tuple(client_internal::AsOutput(args)...), unconnected, site);
    return std::pair(y, pullback());
  };
}

// The gradients alone: one output, or a tuple of as many as f has arguments.
template <class F>
auto Grad(F f, Unconnected unconnected = Unconnected::kError, CallSite site = CallSite::Here()) {
  return [value_and_grad = ValueAndGrad(std::move(f), unconnected, site)](const auto&... args) {
    return value_and_grad(args...).second;
  };
}

// The value of f, and its derivative along a direction, a product of the Jacobian with a vector.
// Several arguments and their directions come as tuples:
//   auto [y, dy] = Jvp(f)(x, dx);
//   auto [y, dy] = Jvp(f)(std::tuple(x, w), std::tuple(dx, dw));
template <class F>
auto Jvp(F f, CallSite site = CallSite::Here()) {
  return [f, site](const auto& args, const auto& directions) {
    using namespace client_internal;
    F call = f;
    const auto xs = std::apply(
        [&](const auto&... arg) { return std::tuple(StandIn(arg, site)...); }, AsTuple(args));
    const auto y = std::apply(call, xs);
    const OutputRef dy = AddForwardDerivative(y.graph(), y.ref(), DifferentiableRefs(xs),
                                              DifferentiableRefs(AsTuple(directions)), site);
    return std::pair(y, std::remove_const_t<decltype(y)>(y.graph(), dy));
  };
}

// The product of the Hessian of f, or of the sum of its elements, with a vector in the shape of x:
//   auto curvature = Hvp(loss)(w, direction);
template <class F>
auto Hvp(F f, CallSite site = CallSite::Here()) {
  return [f, site](const auto& x, const auto& v) {
    auto [slope, pullback] = Vjp(Grad(f, Unconnected::kError, site), Unconnected::kZeros, site)(x);
    return pullback(v);
  };
}

// All derivatives of all elements of f(x), in the shape [shape of f(x), shape of x]. Small results
// are differentiated element by element in one graph; larger ones, and those whose size is not
// known, in a loop that computes f once for each element.
template <class F>
auto Jacobian(F f, CallSite site = CallSite::Here()) {
  return [f, site](const auto& arg) {
    using namespace client_internal;
    constexpr int64_t kMaxUnrolled = 32;
    const auto at = AsOutput(arg);
    using X = std::remove_const_t<decltype(at)>;
    Graph& graph = at.graph();
    F call = f;
    auto row = [&](const X& x, const auto& y, OutputRef index) {
      const OutputRef dy = AddUnitVector(graph, y.ref(), index, site);
      return AddGradients(graph, {y.ref(), {x.ref()}, dy, Unconnected::kZeros}, site)[0];
    };
    const X x = StandIn(at, site);
    const auto y = call(x);
    const int64_t elements =
        y.shape().IsFullyKnown() ? y.shape().CheckedNumElements().value_or(-1) : -1;
    OutputRef rows;
    if (elements > 0 && elements <= kMaxUnrolled) {
      std::vector<OutputRef> parts;
      for (int64_t i = 0; i < elements; ++i)
        parts.push_back(row(x, y, ScalarConstant(graph, i, site)));
      rows = AddPack(graph, parts, site);
    } else {
      const auto stacked = Map(
          [&](Output<int32_t> i) {
            const X inner = StandIn(at, site);
            return X(graph, row(inner, call(inner), i.ref()));
          },
          AddElementNumbers(graph, y.ref(), site), site);
      rows = stacked.ref();
    }
    return X(graph, AddJacobianShape(graph, rows, y.ref(), x.ref(), site));
  };
}

// The second derivatives of f, or of the sum of its elements, in the shape [shape of x, shape of
// x].
template <class F>
auto Hessian(F f, CallSite site = CallSite::Here()) {
  return Jacobian(Grad(std::move(f), Unconnected::kZeros, site), site);
}

}  // namespace penstock
