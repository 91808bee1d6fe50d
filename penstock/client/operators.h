#pragma once

#include <type_traits>

#include "penstock/client/constant.h"
#include "penstock/client/output.h"

// Arithmetic on outputs of one element type, with broadcasting; a number on either side becomes a
// constant. C++ gives an operator no place to note the caller's line: errors cite the lines of the
// operands.

namespace penstock {

namespace client_internal {
NodeId AddBinary(Graph& graph, std::string_view op, OutputRef a, OutputRef b);
NodeId AddUnary(Graph& graph, std::string_view op, OutputRef a);

// Something that is, or stands for, an Output<T>.
template <class A>
concept OutputLike = requires {
  typename A::Element;
}
&&requires(const A& a) { Output<typename A::Element>(a); };
}  // namespace client_internal

#define PENSTOCK_BINARY_OPERATOR(symbol, op, Result)                                         \
  template <client_internal::OutputLike A, client_internal::OutputLike B>                    \
  requires std::is_same_v<typename A::Element, typename B::Element> Output<Result>           \
  operator symbol(const A& a, const B& b) {                                                  \
    const Output<typename A::Element> x = a;                                                 \
    const Output<typename A::Element> y = b;                                                 \
    return Output<Result>(x.graph(),                                                         \
                          {client_internal::AddBinary(x.graph(), op, x.ref(), y.ref()), 0}); \
  }                                                                                          \
  template <client_internal::OutputLike A>                                                   \
  Output<Result> operator symbol(const A& a, const typename A::Element& b) {                 \
    return a symbol Constant<typename A::Element>(a.graph(), b, CallSite{});                 \
  }                                                                                          \
  template <client_internal::OutputLike A>                                                   \
  Output<Result> operator symbol(const typename A::Element& a, const A& b) {                 \
    return Constant<typename A::Element>(b.graph(), a, CallSite{}) symbol b;                 \
  }
PENSTOCK_BINARY_OPERATOR(+, "AddV2", typename A::Element)
PENSTOCK_BINARY_OPERATOR(-, "Sub", typename A::Element)
PENSTOCK_BINARY_OPERATOR(*, "Mul", typename A::Element)
PENSTOCK_BINARY_OPERATOR(/, "Div", typename A::Element)
PENSTOCK_BINARY_OPERATOR(<, "Less", bool)
PENSTOCK_BINARY_OPERATOR(<=, "LessEqual", bool)
PENSTOCK_BINARY_OPERATOR(>, "Greater", bool)
PENSTOCK_BINARY_OPERATOR(>=, "GreaterEqual", bool)
#undef PENSTOCK_BINARY_OPERATOR

template <client_internal::OutputLike A>
Output<typename A::Element> operator-(const A& a) {
  const Output<typename A::Element> x = a;
  return Output<typename A::Element>(x.graph(),
                                     {client_internal::AddUnary(x.graph(), "Neg", x.ref()), 0});
}

}  // namespace penstock
