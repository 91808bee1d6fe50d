#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/client/array_ops.h"
#include "penstock/client/function.h"
#include "penstock/client/operators.h"

// Branches and loops that the graph takes, written as lambdas over outputs. A lambda is called when
// the graph is built, perhaps more than once; outer outputs and variables may be used inside.

namespace penstock {

// What `then_body()` computes where `predicate` holds, else what `else_body()` does: an Output, a
// tuple of Outputs, or an Operation. Only what the lambdas write belongs to the branches.
//
//   auto y = Cond(x > 0.f, [&] { return Log(x); }, [&] { return -x; });
template <class Then, class Else>
auto Cond(const Output<bool>& predicate, Then then_body, Else else_body,
          CallSite site = CallSite::Here()) {
  using R = std::invoke_result_t<Then&>;
  static_assert(std::is_same_v<R, std::invoke_result_t<Else&>>,
                "both branches return outputs of the same element types");
  Graph& graph = predicate.graph();
  const NodeId node = client_internal::AddCond(graph, predicate.ref(),
                                               client_internal::MakeBody<>(then_body, graph),
                                               client_internal::MakeBody<>(else_body, graph), site);
  return client_internal::ResultsOf<R>::Load(graph, node);
}

// Repeats values = body(values) while cond(values) holds, beginning with `initial`. The body
// returns a tuple of as many outputs of the same types.
//
//   auto [i, sum] = While([&](auto i, auto) { return i < n; },
//                         [&](auto i, auto sum) { return std::tuple(i + 1, sum + x); },
//                         std::tuple(zero, start));
template <class C, class B, class... Ts>
std::tuple<Output<Ts>...> While(C cond, B body, const std::tuple<Output<Ts>...>& initial,
                                CallSite site = CallSite::Here()) {
  static_assert(sizeof...(Ts) > 0, "a loop has at least one value");
  static_assert(std::is_same_v<std::invoke_result_t<C&, Output<Ts>...>, Output<bool>>,
                "the condition returns an Output<bool>");
  static_assert(std::is_same_v<std::invoke_result_t<B&, Output<Ts>...>, std::tuple<Output<Ts>...>>,
                "the body returns a tuple of the loop's values");
  Graph& graph = std::get<0>(initial).graph();
  std::vector<OutputRef> refs;
  std::apply([&](const auto&... value) { (refs.push_back(value.ref()), ...); }, initial);
  const NodeId node =
      client_internal::AddWhile(graph, refs, client_internal::MakeBody<Ts...>(cond, graph),
                                client_internal::MakeBody<Ts...>(body, graph), site);
  return client_internal::ResultsOf<std::tuple<Output<Ts>...>>::Load(graph, node);
}
// Of one value: the body returns it alone.
template <class C, class B, class T>
Output<T> While(C cond, B body, const Output<T>& initial, CallSite site = CallSite::Here()) {
  auto step = [&](Output<T> value) { return std::tuple<Output<T>>(body(value)); };
  return std::get<0>(While(cond, step, std::tuple<Output<T>>(initial), site));
}
// Of several, one by one in place of a tuple. Errors cite the line of the first.
template <class C, class B, class T, class U, class... Ts>
std::tuple<Output<T>, Output<U>, Output<Ts>...> While(C cond, B body, const Output<T>& first,
                                                      const Output<U>& second,
                                                      const Output<Ts>&... others) {
  const CallSite site = first.graph().node(first.ref().node).site;
  return While(cond, body,
               std::tuple<Output<T>, Output<U>, Output<Ts>...>(first, second, others...), site);
}

namespace client_internal {
// The extent of axis 0: a constant where it is known. Throws for a scalar.
Output<int32_t> NumRows(Graph& graph, OutputRef tensor, CallSite site);
// A list of `length` elements to be set one by one, and what one makes of it.
Output<Variant> ReserveList(Graph& graph, const Output<int32_t>& length, DType dtype,
                            CallSite site);
Output<Variant> SetListItem(const Output<Variant>& list, const Output<int32_t>& index,
                            OutputRef item, CallSite site);
OutputRef StackList(const Output<Variant>& list, DType dtype, const Shape& element, int64_t length,
                    CallSite site);
}  // namespace client_internal

// f(f(f(initial, row 0), row 1), ...) over the rows of `tensor` along axis 0.
template <class F, class T, class S>
Output<S> Fold(F f, const Output<T>& tensor, const Output<S>& initial,
               CallSite site = CallSite::Here()) {
  Graph& graph = tensor.graph();
  const Output<int32_t> rows = client_internal::NumRows(graph, tensor.ref(), site);
  const auto [end, value] = While([&](Output<int32_t> i, Output<S>) { return i < rows; },
                                  [&](Output<int32_t> i, Output<S> value) {
                                    return std::tuple<Output<int32_t>, Output<S>>(
                                        i + 1, f(value, Gather(tensor, i, 0, site)));
                                  },
                                  std::tuple(Constant<int32_t>(graph, 0, site), initial), site);
  return value;
}

// The values that Fold goes through, stacked: row i is f of row i and what came before.
template <class F, class T, class S>
Output<S> Scan(F f, const Output<T>& tensor, const Output<S>& initial,
               CallSite site = CallSite::Here()) {
  using namespace client_internal;
  Graph& graph = tensor.graph();
  const Output<int32_t> rows = NumRows(graph, tensor.ref(), site);
  Shape element = Shape::Unknown();
  const auto [end, value, list] =
      While([&](Output<int32_t> i, Output<S>, Output<Variant>) { return i < rows; },
            [&](Output<int32_t> i, Output<S> value, Output<Variant> list) {
              const Output<S> next = f(value, Gather(tensor, i, 0, site));
              element = next.shape();
              return std::tuple<Output<int32_t>, Output<S>, Output<Variant>>(
                  i + 1, next, SetListItem(list, i, next.ref(), site));
            },
            std::tuple(Constant<int32_t>(graph, 0, site), initial,
                       ReserveList(graph, rows, kDTypeOf<S>, site)),
            site);
  const int64_t length = tensor.shape().has_rank() ? tensor.shape().dim(0) : -1;
  return Output<S>(graph, StackList(list, kDTypeOf<S>, element, length, site));
}

// f of each row of `tensor` along axis 0, stacked.
template <class F, class T>
auto Map(F f, const Output<T>& tensor, CallSite site = CallSite::Here()) {
  using namespace client_internal;
  using R = std::invoke_result_t<F&, Output<T>>;
  using S = typename R::Element;
  Graph& graph = tensor.graph();
  const Output<int32_t> rows = NumRows(graph, tensor.ref(), site);
  Shape element = Shape::Unknown();
  const auto [end, list] = While(
      [&](Output<int32_t> i, Output<Variant>) { return i < rows; },
      [&](Output<int32_t> i, Output<Variant> list) {
        const R made = f(Gather(tensor, i, 0, site));
        element = made.shape();
        return std::tuple<Output<int32_t>, Output<Variant>>(i + 1,
                                                            SetListItem(list, i, made.ref(), site));
      },
      std::tuple(Constant<int32_t>(graph, 0, site), ReserveList(graph, rows, kDTypeOf<S>, site)),
      site);
  const int64_t length = tensor.shape().has_rank() ? tensor.shape().dim(0) : -1;
  return Output<S>(graph, StackList(list, kDTypeOf<S>, element, length, site));
}

}  // namespace penstock
