#pragma once

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/client/build_scope.h"
#include "penstock/client/error.h"
#include "penstock/client/output.h"
#include "penstock/graph/op.h"

// The typed call of an op, deduced from its struct: MatMul(a, b, {.transpose_b = true}). A wrong
// arity, a wrong element type or a misspelt attribute does not compile; a wrong shape throws when
// the node is made, naming both lines.

namespace penstock {
namespace client_internal {

template <class T>
inline constexpr bool kIsOutput = false;
template <class T>
inline constexpr bool kIsOutput<Output<T>> = true;

// What an argument of a call stands for: an Output, or something that turns into one (a variable).
template <class A>
auto AsOutput(const A& argument) {
  if constexpr (kIsOutput<A>) {
    return argument;
  } else if constexpr (requires { argument.AsOutput(); }) {
    return argument.AsOutput();
  } else {
    return std::vector(argument.begin(), argument.end());  // a list
  }
}
template <class A>
using OutputOf = decltype(AsOutput(std::declval<const A&>()));

template <class O>
struct ElementOf {
  using Type = typename O::Element;
};
template <class O>
struct ElementOf<std::vector<O>> {
  using Type = typename O::Element;
};

// Whether a C++ type is among those that an argument's type allows.
template <class Declared, class T>
inline constexpr bool kAccepts = std::is_same_v<Declared, T>;
template <FixedString Name, class T>
inline constexpr bool kAccepts<TypeVar<Name>, T> = true;
template <FixedString Name, class... Ts, class T>
requires(sizeof...(Ts) >
         0) inline constexpr bool kAccepts<TypeVar<Name, Ts...>, T> = (std::is_same_v<Ts, T> ||
                                                                       ...);
template <FixedString Name, class D, class... Ts, class T>
inline constexpr bool kAccepts<TypeVarOr<Name, D, Ts...>, T> = (std::is_same_v<Ts, T> || ...);
template <FixedString Number, class Declared, int Minimum, class T>
inline constexpr bool kAccepts<List<Number, Declared, Minimum>, T> = kAccepts<Declared, T>;

template <class Declared>
struct Unlisted {
  using Type = Declared;
};
template <FixedString Number, class Declared, int Minimum>
struct Unlisted<List<Number, Declared, Minimum>> {
  using Type = Declared;
};

// The element type of an output: that of the first input declared with the same type variable; the
// default of one that has a default; itself when fixed.
template <class Declared, class Ins, class Elements>
struct ResultType {
  using Type = Declared;
};
template <FixedString Name, class D, class... Ts, class Ins, class Elements>
struct ResultType<TypeVarOr<Name, D, Ts...>, Ins, Elements> {
  using Type = D;
};
template <FixedString Name, class... Ts, class In0, class... Ins, class E0, class... Es>
struct ResultType<TypeVar<Name, Ts...>, std::tuple<In0, Ins...>, std::tuple<E0, Es...>> {
  using Type = typename std::conditional_t<
      std::is_same_v<typename Unlisted<typename In0::Type>::Type, TypeVar<Name, Ts...>>,
      ResultType<E0, void, void>,
      ResultType<TypeVar<Name, Ts...>, std::tuple<Ins...>, std::tuple<Es...>>>::Type;
};

template <class... Args>
auto InputsOf(Signature<Args...>) -> decltype(std::tuple_cat(
    std::declval<std::conditional_t<Args::kIsInput, std::tuple<Args>, std::tuple<>>>()...));
template <class... Args>
auto OutputsOf(Signature<Args...>) -> decltype(std::tuple_cat(
    std::declval<std::conditional_t<Args::kIsInput, std::tuple<>, std::tuple<Args>>>()...));

template <class O>
void AppendInput(std::vector<OutputRef>& inputs, const O& output) {
  inputs.push_back(output.ref());
}
template <class O>
void AppendInput(std::vector<OutputRef>& inputs, const std::vector<O>& outputs) {
  for (const O& output : outputs) inputs.push_back(output.ref());
}
template <class O>
Graph& GraphOf(const O& output) {
  return output.graph();
}
template <class O>
Graph& GraphOf(const std::vector<O>& outputs) {
  if (outputs.empty()) throw Error(InvalidArgument("an op was given an empty list"));
  return outputs.front().graph();
}

// Adds the node or throws.
NodeId AddNode(Graph& graph, NodeSpec spec, CallSite site);

// The attributes in an op's struct. Instantiated once per op in ops.cc: attribute values are dear
// to compile.
template <class Op>
AttrMap EncodeAttrs(const void* op) {
  return op_internal::Encode(*static_cast<const Op*>(op));
}
NodeId AddTyped(Graph& graph, const char* name, std::vector<OutputRef> inputs,
                AttrMap (*encode)(const void*), const void* op, CallSite site);

}  // namespace client_internal

template <class Op>
struct OpFunction {
  using Inputs = decltype(client_internal::InputsOf(typename Op::Sig()));
  using Outputs = decltype(client_internal::OutputsOf(typename Op::Sig()));
  static constexpr size_t kInputs = std::tuple_size_v<Inputs>;

  template <class A>
  requires(kInputs == 1) auto operator()(const A& a, Op op = {},
                                         CallSite site = CallSite::Here()) const {
    return Call(op, site, client_internal::AsOutput(a));
  }
  template <class A, class B>
  requires(kInputs == 2) auto operator()(const A& a, const B& b, Op op = {},
                                         CallSite site = CallSite::Here()) const {
    return Call(op, site, client_internal::AsOutput(a), client_internal::AsOutput(b));
  }
  template <class A, class B, class C>
  requires(kInputs == 3) auto operator()(const A& a, const B& b, const C& c, Op op = {},
                                         CallSite site = CallSite::Here()) const {
    return Call(op, site, client_internal::AsOutput(a), client_internal::AsOutput(b),
                client_internal::AsOutput(c));
  }

 private:
  template <class... Os>
  static auto Call(const Op& op, CallSite site, const Os&... inputs) {
    using Elements = std::tuple<typename client_internal::ElementOf<Os>::Type...>;
    CheckTypes<Elements>(std::make_index_sequence<kInputs>());
    std::vector<OutputRef> refs;
    (client_internal::AppendInput(refs, inputs), ...);
    Graph& graph = client_internal::GraphOf(std::get<0>(std::tie(inputs...)));
    const NodeId node = client_internal::AddTyped(graph, Op::kName, std::move(refs),
                                                  &client_internal::EncodeAttrs<Op>, &op, site);
    return Results<Elements>(graph, node, std::make_index_sequence<std::tuple_size_v<Outputs>>());
  }

  template <class Elements, size_t... I>
  static void CheckTypes(std::index_sequence<I...>) {
    static_assert((client_internal::kAccepts<typename std::tuple_element_t<I, Inputs>::Type,
                                             std::tuple_element_t<I, Elements>> &&
                   ...),
                  "the op does not take this element type here");
  }

  template <class Elements, size_t... I>
  static auto Results(Graph& graph, NodeId node, std::index_sequence<I...>) {
    if constexpr (sizeof...(I) == 0) {
      return Operation(graph, node);
    } else if constexpr (sizeof...(I) == 1) {
      using Out0 = std::tuple_element_t<0, Outputs>;
      return Output<
          typename client_internal::ResultType<typename Out0::Type, Inputs, Elements>::Type>(
          graph, {node, 0});
    } else {
      return std::tuple(
          Output<typename client_internal::ResultType<
              typename std::tuple_element_t<I, Outputs>::Type, Inputs, Elements>::Type>(
              graph, {node, static_cast<int32_t>(I)})...);
    }
  }
};

}  // namespace penstock
