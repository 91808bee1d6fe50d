#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/client/op_function.h"
#include "penstock/graph/function.h"

// How C++ lambdas become functions of a graph: a lambda is called once with argument nodes, what it
// writes is taken out of the graph again and made a function, and the outer values it used become
// arguments that each call passes by itself. Untyped; function.h and control_flow.h put types on
// it.

namespace penstock::client_internal {

// What a lambda returned.
struct Returned {
  std::vector<OutputRef> outputs;
  std::vector<NodeId> effects;
};
using BodyFn = std::function<Returned(const std::vector<OutputRef>& args)>;

// A lambda that became a function.
struct TracedFunction {
  std::shared_ptr<const FunctionDef> function;
  std::vector<OutputRef> captures;
  std::vector<Shape> result_shapes;
};

struct TraceOptions {
  std::string name = "function";
  bool noinline = false;
};

TracedFunction TraceFunction(Graph& graph, const std::vector<OutputInfo>& args, const BodyFn& body,
                             const TraceOptions& options, CallSite site);
// A function with a derivative of its own: `gradient` is called with the arguments, the results,
// and what arrives at each result, and returns the gradients of the arguments in order. Outer
// values that either uses count as constants.
TracedFunction TraceWithGradient(Graph& graph, const std::vector<OutputInfo>& args,
                                 const BodyFn& body, const BodyFn& gradient, CallSite site);
// Whether the graph still has the function and all that it captured.
bool IsUsable(const Graph& graph, const TracedFunction& traced);
NodeId AddCall(Graph& graph, const TracedFunction& traced, std::vector<OutputRef> args,
               CallSite site);

// A branch: what `then_body` or `else_body` returns.
NodeId AddCond(Graph& graph, OutputRef predicate, const BodyFn& then_body, const BodyFn& else_body,
               CallSite site);
// A loop: the first outputs are the loop's values, as many as `initial` has.
NodeId AddWhile(Graph& graph, const std::vector<OutputRef>& initial, const BodyFn& cond,
                const BodyFn& body, CallSite site);

}  // namespace penstock::client_internal
