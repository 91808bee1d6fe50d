#include "penstock/client/tracing.h"

#include <algorithm>
#include <optional>

#include "penstock/graph/extract.h"

namespace penstock::client_internal {
namespace {

// The nodes that one lambda writes, which leave the graph when the trace does.
class Trace {
 public:
  Trace(Graph& graph, const std::vector<OutputInfo>& args, const BodyFn& body, CallSite site)
      : graph_(graph) {
    part_.first = part_.end = graph.num_nodes();
    try {
      Call(args, body, site);
    } catch (...) {
      Remove();
      throw;
    }
  }
  ~Trace() { Remove(); }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  const TracedPart& part() const { return part_; }
  std::vector<OutputRef> Captures(CallSite site) const {
    return OrThrow(FindCaptures(graph_, part_), site);
  }
  std::vector<OutputInfo> ResultInfos() const {
    std::vector<OutputInfo> infos;
    for (const OutputRef& ref : part_.results)
      infos.push_back({graph_.output(ref).dtype, false, graph_.output(ref).shape});
    return infos;
  }
  std::vector<Shape> ResultShapes() const {
    std::vector<Shape> shapes;
    for (const OutputRef& ref : part_.results) shapes.push_back(graph_.output(ref).shape);
    return shapes;
  }
  FunctionDef Extract(const std::vector<OutputRef>& captures, const std::string& name,
                      CallSite site) const {
    return OrThrow(ExtractFunction(graph_, part_, captures, name), site);
  }
  std::string MakeFunction(const std::vector<OutputRef>& captures, const TraceOptions& options,
                           CallSite site) const {
    FunctionDef function = Extract(captures, options.name, site);
    if (options.noinline) function.attrs.emplace_back("_noinline", true);
    return AddToLibrary(graph_, std::move(function));
  }
  void AddResults(const std::vector<OutputRef>& refs) {
    part_.results.insert(part_.results.end(), refs.begin(), refs.end());
  }

 private:
  void Call(const std::vector<OutputInfo>& args, const BodyFn& body, CallSite site) {
    std::vector<OutputRef> refs;
    for (size_t i = 0; i < args.size(); ++i) {
      const NodeId arg = OrThrow(
          graph_.AddNode({.op = "_Arg",
                          .name = "arg",
                          .attrs = {{"T", args[i].dtype}, {"index", static_cast<int64_t>(i)}},
                          .site = site}),
          site);
      graph_.node(arg).outputs[0].shape = args[i].shape;
      part_.args.push_back(arg);
      refs.push_back({arg, 0});
    }
    Returned returned = body(refs);
    part_.end = graph_.num_nodes();
    part_.results = std::move(returned.outputs);
    part_.effects = std::move(returned.effects);
    size_t made = 0;
    for (auto& [name, nodes] : graph_.collections)
      made += std::erase_if(nodes, [&](NodeId id) { return id >= part_.first; });
    if (made > 0)
      throw Error(InvalidArgument("make variables outside of functions, branches and loops: they "
                                  "live longer than a call"),
                  site);
  }

  void Remove() {
    part_.end = std::max(part_.end, graph_.num_nodes());
    if (removed_) return;
    removed_ = true;
    RemovePart(graph_, part_);
  }

  Graph& graph_;
  TracedPart part_;
  bool removed_ = false;
};

void AddMissing(const std::vector<OutputRef>& from, std::vector<OutputRef>* to) {
  for (const OutputRef& ref : from) {
    if (std::find(to->begin(), to->end(), ref) == to->end()) to->push_back(ref);
  }
}

template <class T>
AttrValue ListOf(std::vector<T> values) {
  return values.empty() ? AttrValue(AttrValue::EmptyList{}) : AttrValue(std::move(values));
}

std::vector<DType> TypesOf(const Graph& graph, const std::vector<OutputRef>& refs) {
  std::vector<DType> types;
  for (const OutputRef& ref : refs) types.push_back(graph.output(ref).dtype);
  return types;
}

// What is true of both shapes.
Shape Common(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return Shape::Unknown();
  std::vector<int64_t> dims;
  for (int i = 0; i < a.rank(); ++i) dims.push_back(a.dim(i) == b.dim(i) ? a.dim(i) : -1);
  return Shape(dims);
}

}  // namespace

TracedFunction TraceFunction(Graph& graph, const std::vector<OutputInfo>& args, const BodyFn& body,
                             const TraceOptions& options, CallSite site) {
  const Trace trace(graph, args, body, site);
  TracedFunction traced;
  traced.captures = trace.Captures(site);
  traced.result_shapes = trace.ResultShapes();
  const std::string name = trace.MakeFunction(traced.captures, options, site);
  traced.function = graph.library().functions.at(name);
  return traced;
}

TracedFunction TraceWithGradient(Graph& graph, const std::vector<OutputInfo>& args,
                                 const BodyFn& body, const BodyFn& gradient, CallSite site) {
  const Trace forward(graph, args, body, site);
  const std::vector<OutputInfo> results = forward.ResultInfos();
  std::vector<OutputInfo> gradient_args = args;
  for (int round = 0; round < 2; ++round)
    gradient_args.insert(gradient_args.end(), results.begin(), results.end());
  const Trace backward(graph, gradient_args, gradient, site);
  TracedFunction traced;
  traced.captures = forward.Captures(site);
  AddMissing(backward.Captures(site), &traced.captures);
  for (const OutputRef& ref : traced.captures) {
    if (ref.node >= forward.part().first)
      throw Error(InvalidArgument("a gradient uses an inner value of its function: it is given the "
                                  "arguments, the results and what arrives there"),
                  site);
  }
  traced.result_shapes = forward.ResultShapes();
  FunctionDef own = backward.Extract(traced.captures, "custom_gradient", site);
  // Of a call, what it captures comes right after its arguments.
  std::vector<ArgDef>& order = own.signature.inputs;
  std::rotate(order.begin() + static_cast<ptrdiff_t>(args.size()),
              order.begin() + static_cast<ptrdiff_t>(gradient_args.size()), order.end());
  const std::string name = forward.MakeFunction(traced.captures, {.name = "custom"}, site);
  graph.library().gradients[name] = AddToLibrary(graph, std::move(own));
  traced.function = graph.library().functions.at(name);
  return traced;
}

bool IsUsable(const Graph& graph, const TracedFunction& traced) {
  const auto& functions = graph.library().functions;
  const auto found = functions.find(traced.function->signature.name);
  if (found == functions.end() || found->second != traced.function) return false;
  return std::all_of(traced.captures.begin(), traced.captures.end(),
                     [&](const OutputRef& ref) { return graph.IsLive(ref.node); });
}

NodeId AddCall(Graph& graph, const TracedFunction& traced, std::vector<OutputRef> args,
               CallSite site) {
  const OpDef& signature = traced.function->signature;
  NodeSpec spec;
  spec.op = signature.is_stateful ? "StatefulPartitionedCall" : "PartitionedCall";
  spec.name = signature.name;
  spec.inputs = std::move(args);
  spec.inputs.insert(spec.inputs.end(), traced.captures.begin(), traced.captures.end());
  std::vector<DType> results;
  for (const ArgDef& result : signature.outputs) results.push_back(result.dtype);
  spec.attrs = {{"Tin", ListOf(TypesOf(graph, spec.inputs))},
                {"Tout", ListOf(std::move(results))},
                {"f", FunctionName{signature.name, {}}}};
  return AddNode(graph, std::move(spec), site);
}

NodeId AddCond(Graph& graph, OutputRef predicate, const BodyFn& then_body, const BodyFn& else_body,
               CallSite site) {
  NodeSpec spec;
  {
    const Trace then_trace(graph, {}, then_body, site);
    const Trace else_trace(graph, {}, else_body, site);
    std::vector<OutputRef> captures = then_trace.Captures(site);
    AddMissing(else_trace.Captures(site), &captures);
    for (const OutputRef& ref : captures) {
      if (ref.node >= then_trace.part().first)
        throw Error(InvalidArgument("one branch uses a value of the other: return it instead, or "
                                    "compute it before the branch"),
                    site);
    }
    const bool has_effects =
        HasEffects(graph, then_trace.part()) || HasEffects(graph, else_trace.part());
    std::vector<Shape> shapes = then_trace.ResultShapes();
    const std::vector<Shape> others = else_trace.ResultShapes();
    for (size_t i = 0; i < shapes.size(); ++i) shapes[i] = Common(shapes[i], others[i]);
    spec.op = has_effects ? "If" : "StatelessIf";
    spec.name = "cond";
    spec.inputs = {predicate};
    spec.inputs.insert(spec.inputs.end(), captures.begin(), captures.end());
    spec.attrs = {
        {"Tin", ListOf(TypesOf(graph, captures))},
        {"Tout", ListOf(TypesOf(graph, then_trace.part().results))},
        {"then_branch",
         FunctionName{then_trace.MakeFunction(captures, {.name = "cond_true"}, site), {}}},
        {"else_branch",
         FunctionName{else_trace.MakeFunction(captures, {.name = "cond_false"}, site), {}}},
        {"output_shapes", ListOf(std::move(shapes))}};
  }
  return AddNode(graph, std::move(spec), site);
}

NodeId AddWhile(Graph& graph, const std::vector<OutputRef>& initial, const BodyFn& cond,
                const BodyFn& body, CallSite site) {
  std::vector<OutputInfo> values;
  for (const OutputRef& ref : initial)
    values.push_back({graph.output(ref).dtype, false, graph.output(ref).shape});
  NodeSpec spec;
  spec.name = "while";
  for (bool settled = false; !settled;) {
    settled = true;
    const Trace cond_trace(graph, values, cond, site);
    Trace body_trace(graph, values, body, site);
    // A value that leaves an iteration in another shape has none that the graph could know.
    const std::vector<Shape> leaving = body_trace.ResultShapes();
    for (size_t i = 0; i < values.size(); ++i) {
      Shape common = Common(values[i].shape, leaving[i]);
      if (common == values[i].shape) continue;
      values[i].shape = std::move(common);
      settled = false;
    }
    if (!settled) continue;
    std::vector<OutputRef> captures = cond_trace.Captures(site);
    AddMissing(body_trace.Captures(site), &captures);
    for (const OutputRef& ref : captures) {
      if (ref.node >= cond_trace.part().first)
        throw Error(InvalidArgument("the body of a loop uses a value of its condition"), site);
    }
    const bool has_effects =
        HasEffects(graph, cond_trace.part()) || HasEffects(graph, body_trace.part());
    // What the loop reads from outside goes through it unchanged.
    body_trace.AddResults(captures);
    spec.op = has_effects ? "While" : "StatelessWhile";
    spec.inputs = initial;
    spec.inputs.insert(spec.inputs.end(), captures.begin(), captures.end());
    std::vector<Shape> shapes;
    for (const OutputInfo& value : values) shapes.push_back(value.shape);
    for (const OutputRef& ref : captures) shapes.push_back(graph.output(ref).shape);
    spec.attrs = {
        {"T", ListOf(TypesOf(graph, spec.inputs))},
        {"cond", FunctionName{cond_trace.MakeFunction(captures, {.name = "while_cond"}, site), {}}},
        {"body", FunctionName{body_trace.MakeFunction(captures, {.name = "while_body"}, site), {}}},
        {"output_shapes", ListOf(std::move(shapes))}};
  }
  return AddNode(graph, std::move(spec), site);
}

}  // namespace penstock::client_internal
