#pragma once

#include <algorithm>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/client/derivatives.h"
#include "penstock/client/function.h"

namespace penstock {

namespace client_internal {

// Functions by the types and shapes of their arguments. Copies share what they know.
class TraceCache {
 public:
  // The one for these arguments, or what `trace` makes.
  template <class Trace>
  TracedFunction Find(const Graph& graph, const std::vector<OutputInfo>& args, Trace trace) {
    const auto same = [](const OutputInfo& a, const OutputInfo& b) {
      return a.dtype == b.dtype && a.shape == b.shape;
    };
    for (const Known& known : *known_) {
      if (std::equal(args.begin(), args.end(), known.args.begin(), known.args.end(), same) &&
          IsUsable(graph, known.traced))
        return known.traced;
    }
    return known_->emplace_back(Known{args, trace()}).traced;
  }

 private:
  struct Known {
    std::vector<OutputInfo> args;
    TracedFunction traced;
  };
  std::shared_ptr<std::vector<Known>> known_ = std::make_shared<std::vector<Known>>();
};

// Throws unless `gradient` may be one of `x`.
void CheckGradientFits(const Graph& graph, OutputRef x, OutputRef gradient, CallSite site);

// The gradients that a user's rule returned, one for each argument: integers stand for themselves
// and are not looked at.
template <class... Ts, class Given, size_t... I>
Returned GradientsByArgument(const Graph& graph, const Given& given,
                             const std::vector<OutputRef>& args, std::index_sequence<I...>,
                             CallSite site) {
  static_assert(std::is_same_v<Given, Differentiable<Ts...>>,
                "the gradient returns an output for each floating argument, of the same type");
  Returned returned;
  size_t next = 0;
  std::vector<OutputRef> refs = DifferentiableRefs(given);
  auto add = [&](bool has_gradient, OutputRef arg) {
    if (has_gradient) CheckGradientFits(graph, arg, refs[next], site);
    returned.outputs.push_back(has_gradient ? refs[next++] : arg);
  };
  (add(kHasGradient<Ts>, args[I]), ...);
  return returned;
}

template <class F, class G>
class CustomGradient {
 public:
  CustomGradient(F f, G gradient, CallSite site)
      : f_(std::move(f)), gradient_(std::move(gradient)), site_(site) {}

  template <class... As>
  auto operator()(const As&... args) {
    return Call(AsOutput(args)...);
  }

 private:
  template <class... Ts>
  auto Call(const Output<Ts>&... args) {
    using Y = std::invoke_result_t<F&, Output<Ts>...>;
    Graph& graph = GraphOf(std::get<0>(std::tie(args...)));
    const std::vector<OutputRef> refs{args.ref()...};
    std::vector<OutputInfo> infos;
    for (const OutputRef& ref : refs)
      infos.push_back({graph.output(ref).dtype, false, graph.output(ref).shape});
    const TracedFunction traced = cache_.Find(graph, infos, [&] {
      const BodyFn gradient = [&](const std::vector<OutputRef>& values) {
        return CallGradient<Y, Ts...>(graph, values, std::index_sequence_for<Ts...>());
      };
      return TraceWithGradient(graph, infos, MakeBody<Ts...>(f_, graph), gradient, site_);
    });
    const NodeId call = AddCall(graph, traced, refs, site_);
    graph.node(call).outputs[0].shape = traced.result_shapes[0];
    return ResultsOf<Y>::Load(graph, call);
  }

  // `values` are the arguments, the result, and what arrives there.
  template <class Y, class... Ts, size_t... I>
  Returned CallGradient(Graph& graph, const std::vector<OutputRef>& values,
                        std::index_sequence<I...> each) {
    const Y y(graph, values[sizeof...(Ts)]);
    const Y dy(graph, values[sizeof...(Ts) + 1]);
    auto given = [&] {
      if constexpr (std::is_invocable_v<G&, Output<Ts>..., Y, Y>) {
        return AsTuple(gradient_(Output<Ts>(graph, values[I])..., y, dy));
      } else {
        return AsTuple(gradient_(Output<Ts>(graph, values[I])..., dy));
      }
    }();
    return GradientsByArgument<Ts...>(graph, given, values, each, site_);
  }

  F f_;
  G gradient_;
  CallSite site_;
  TraceCache cache_;
};

}  // namespace client_internal

// f with a derivative of one's own in place of that of its ops. `gradient` takes f's arguments,
// what f returned, and what arrives there (what f returned may be left out), and returns the
// gradients of the floating arguments: an output, or a tuple.
//
//   auto clipped = WithGradient([](auto x) { return Round(x); },
//                               [](auto x, auto y, auto dy) { return dy; });
//
// Outer outputs and variables that either uses count as constants: give f as arguments what is to
// be differentiated. The derivative of `gradient` itself is that of its ops.
template <class F, class G>
auto WithGradient(F f, G gradient, CallSite site = CallSite::Here()) {
  return client_internal::CustomGradient<F, G>(std::move(f), std::move(gradient), site);
}

}  // namespace penstock
