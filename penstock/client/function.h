#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/client/tracing.h"

namespace penstock {

namespace client_internal {

// What a lambda may return: an Output, a tuple of Outputs, an Operation, or nothing.
template <class R>
struct ResultsOf;
template <class T>
struct ResultsOf<Output<T>> {
  static void Store(const Output<T>& output, Returned* to) { to->outputs.push_back(output.ref()); }
  static Output<T> Load(Graph& graph, NodeId node) { return Output<T>(graph, {node, 0}); }
};
template <class... Ts>
struct ResultsOf<std::tuple<Output<Ts>...>> {
  static void Store(const std::tuple<Output<Ts>...>& outputs, Returned* to) {
    std::apply([&](const auto&... output) { (to->outputs.push_back(output.ref()), ...); }, outputs);
  }
  static std::tuple<Output<Ts>...> Load(Graph& graph, NodeId node) {
    return Make(graph, node, std::index_sequence_for<Ts...>());
  }

 private:
  template <size_t... I>
  static std::tuple<Output<Ts>...> Make(Graph& graph, NodeId node, std::index_sequence<I...>) {
    return {Output<Ts>(graph, {node, static_cast<int32_t>(I)})...};
  }
};
template <>
struct ResultsOf<Operation> {
  static void Store(const Operation& operation, Returned* to) {
    to->effects.push_back(operation.node());
  }
  static Operation Load(Graph& graph, NodeId node) { return Operation(graph, node); }
};
template <>
struct ResultsOf<void> : ResultsOf<Operation> {};

// Calls `f` on these arguments and notes what it returns.
template <class... Ts, class F, size_t... I>
Returned CallBody(F& f, Graph& graph, const std::vector<OutputRef>& args,
                  std::index_sequence<I...>) {
  Returned returned;
  using R = std::invoke_result_t<F&, Output<Ts>...>;
  if constexpr (std::is_void_v<R>) {
    f(Output<Ts>(graph, args[I])...);
  } else {
    ResultsOf<R>::Store(f(Output<Ts>(graph, args[I])...), &returned);
  }
  return returned;
}
template <class... Ts, class F>
BodyFn MakeBody(F& f, Graph& graph) {
  return [&f, &graph](const std::vector<OutputRef>& args) {
    return CallBody<Ts...>(f, graph, args, std::index_sequence_for<Ts...>());
  };
}

// The parameters of a lambda.
template <class M>
struct MethodOf;
template <class C, class R, class... Args>
struct MethodOf<R (C::*)(Args...) const> {
  using Type = R(std::remove_cvref_t<Args>...);
};
template <class C, class R, class... Args>
struct MethodOf<R (C::*)(Args...)> : MethodOf<R (C::*)(Args...) const> {};
template <class F>
struct SignatureOfLambda : MethodOf<decltype(&F::operator())> {};
template <class R, class... Args>
struct SignatureOfLambda<R (*)(Args...)> {
  using Type = R(std::remove_cvref_t<Args>...);
};

}  // namespace client_internal

struct FunctionOptions {
  std::string name = "function";  // in the library; made unique there
  bool noinline = false;          // stays a call when a step is compiled
};

template <class Signature>
class Function;

// A lambda over outputs as a function of the graph: written down once for each combination of
// argument shapes, called as often as one likes. Outer outputs and variables may be used inside.
//
//   Function square([](Output<float> x) { return x * x; });
//   auto y = square(square(x));
//
// What happens inside (assignments) happens in the order it is written, whether or not a result
// depends on it. Threads: as the graph.
template <class R, class... Ts>
class Function<R(Output<Ts>...)> {
 public:
  static_assert(sizeof...(Ts) > 0, "a function takes at least one output");

  template <class F>
  requires std::is_invocable_r_v<R, F&, Output<Ts>...>
  explicit Function(F body, FunctionOptions options = {})
      : body_(std::move(body)), options_(std::move(options)) {}

  auto operator()(const Output<Ts>&... args, CallSite site = CallSite::Here()) {
    Graph& graph = std::get<0>(std::tie(args...)).graph();
    const std::vector<OutputRef> refs{args.ref()...};
    std::vector<OutputInfo> infos;
    for (const OutputRef& ref : refs)
      infos.push_back({graph.output(ref).dtype, false, graph.output(ref).shape});
    const client_internal::TracedFunction& traced = Find(graph, infos, site);
    const NodeId call = client_internal::AddCall(graph, traced, refs, site);
    for (size_t i = 0; i < traced.result_shapes.size(); ++i)
      graph.node(call).outputs[i].shape = traced.result_shapes[i];
    return client_internal::ResultsOf<R>::Load(graph, call);
  }

 private:
  struct Known {
    std::vector<OutputInfo> args;
    client_internal::TracedFunction traced;
  };

  const client_internal::TracedFunction& Find(Graph& graph, const std::vector<OutputInfo>& args,
                                              CallSite site) {
    auto same = [](const OutputInfo& a, const OutputInfo& b) { return a.shape == b.shape; };
    for (const Known& known : known_) {
      if (std::equal(args.begin(), args.end(), known.args.begin(), same) &&
          client_internal::IsUsable(graph, known.traced))
        return known.traced;
    }
    client_internal::TracedFunction traced = client_internal::TraceFunction(
        graph, args, client_internal::MakeBody<Ts...>(body_, graph),
        {.name = options_.name, .noinline = options_.noinline}, site);
    return known_.emplace_back(Known{args, std::move(traced)}).traced;
  }

  std::function<R(Output<Ts>...)> body_;
  FunctionOptions options_;
  std::vector<Known> known_;
};
template <class F>
Function(F) -> Function<typename client_internal::SignatureOfLambda<F>::Type>;
template <class F>
Function(F, FunctionOptions) -> Function<typename client_internal::SignatureOfLambda<F>::Type>;

}  // namespace penstock
