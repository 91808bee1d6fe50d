#include "penstock/train/nn/body.h"

#include "penstock/client/variable.h"
#include "penstock/train/parameters.h"

namespace penstock::nn {
namespace {

constexpr char kSteps[] = "steps";

// "encoder/" when nodes are named so now. Scopes do not tell: a node that comes and goes does.
std::string CurrentPrefix(Graph& graph) {
  constexpr std::string_view kProbe = "layer_name_probe";
  const NodeId probe =
      OrThrow(BuildScope::Current(graph, {}).AddNode({.op = "NoOp", .name = std::string(kProbe)}));
  const std::string name = graph.node(probe).name;
  graph.RemoveNode(probe);
  return name.substr(0, name.rfind(kProbe));
}

// FNV-1a, then a mixer: names that differ in one letter give seeds that have nothing in common.
uint64_t Hash(std::string_view text, uint64_t seed) {
  uint64_t hash = 0xcbf29ce484222325u ^ (seed * 0x9e3779b97f4a7c15u);
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  hash ^= hash >> 31;
  hash *= 0x94d049bb133111ebu;
  return hash ^ (hash >> 29);
}

bool IsVariable(const Graph& graph, NodeId node, const std::string& name) {
  return graph.IsLive(node) && graph.node(node).op_name() == "VarHandleOp" &&
         graph.node(node).name == name;
}

// Whether `state` belongs to this graph, and not to one that was at the same address before.
bool IsOf(const Body::State& state, const Graph& graph) {
  if (state.graph != &graph) return false;
  if (state.weights.empty() && state.marker != kNoNode) {
    return graph.IsLive(state.marker) && graph.node(state.marker).name == state.marker_name;
  }
  for (const Body::Weight& weight : state.weights) {
    if (!IsVariable(graph, weight.handle, state.name + "/" + weight.name)) return false;
  }
  return true;
}

void Mark(Graph& graph, OutputRef result, const std::vector<OutputRef>& inputs,
          const std::string& name, const std::string& kind) {
  for (const OutputRef& input : inputs) {
    if (input.node == result.node) return;  // the layer did nothing
  }
  SetAttr(graph.node(result.node).attrs, kLayerName, name);
  SetAttr(graph.node(result.node).attrs, kLayerKind, kind);
}

}  // namespace

Body::Body(std::string_view kind, std::string_view base_name, std::string_view name, CallSite made)
    : kind_(kind), base_name_(name.empty() ? base_name : name), made_(made) {}

std::string Body::Describe() const {
  return made_.known() ? kind_ + " of " + made_.ToString() : kind_;
}

void Body::FailWith(const std::string& message) const {
  throw Error(InvalidArgument("{}: {}", kind_, message), made_);
}

void Body::RequirePositive(std::string_view what, int64_t value) const {
  if (value <= 0) Fail("{} must be positive, got {}", what, value);
  if (value > INT32_MAX) Fail("{} is too large: {}", what, value);
}

Body::State& Body::StateIn(Graph& graph) {
  std::erase_if(states_, [&](const State& s) { return s.graph == &graph && !IsOf(s, graph); });
  for (State& state : states_) {
    if (state.graph == &graph) return state;
  }
  const std::string prefix = CurrentPrefix(graph);
  State state{.graph = &graph, .name = graph.UniqueScope(prefix + base_name_)};
  state.local_name = state.name.substr(prefix.size());
  return states_.emplace_back(std::move(state));
}

Context::Context(Body& body, Body::State* state, Graph& graph, Mode mode, CallSite site,
                 bool nested)
    : body_(body),
      state_(state),
      graph_(graph),
      scope_(BuildScope::Current(graph, site)),
      mode_(mode),
      site_(site),
      nested_(nested) {}

std::string Context::Describe() const {
  return state_ == nullptr ? body_.Describe() : state_->name + " (" + body_.Describe() + ")";
}

void Context::FailWith(const Status& status) const {
  throw Error(status.Annotate(Describe()), site_);
}

void Context::Check() const {
  if (!scope_.status().ok()) FailWith(scope_.status());
}

NodeId Context::Handle(std::string_view name, const Shape& shape, const Initializer& initial,
                       const WeightOptions& options) {
  for (const Body::Weight& weight : state_->weights) {
    if (weight.name != name) continue;
    const Shape made = ParameterOf(graph_, weight.handle).shape;
    if (made != shape)
      Fail("{} was made with shape {} by an earlier call; this input needs {}", name, made, shape);
    return weight.handle;
  }
  Check();
  if (!shape.CheckedNumElements()) Fail("{} of shape {} is too large", name, shape);
  Output<float> value;
  {
    BuildScope scope(graph_, Named(std::string(name) + "/Initializer/"));
    value = initial({.graph = graph_, .shape = shape, .seed = SeedOf(name)});
  }
  if (!value.shape().IsCompatibleWith(shape))
    Fail("the initializer of {} gives shape {}, expected {}", name, value.shape(), shape);
  const NodeId handle = client_internal::AddVariable(graph_, DType::kFloat, value.ref(), name,
                                                     options.trainable, site_);
  state_->weights.push_back({std::string(name), handle});
  if (options.l2 != 0) {
    const Expr squares = scope_.Add("L2Loss", {Read(handle)}) * (2.0 * options.l2);
    Check();
    AddPenalty(AsOutput(squares));
  }
  return handle;
}

Expr Context::Weight(std::string_view name, const Shape& shape, const Initializer& initial,
                     const WeightOptions& options) {
  return Read(Handle(name, shape, initial, options));
}

Expr Context::Read(NodeId handle) const {
  return From(Variable<float>::Of(graph_, handle, site_).Read(site_));
}

uint64_t Context::SeedOf(std::string_view name, uint64_t seed) const {
  return Hash(state_->name + "/" + std::string(name), seed ^ SeedScope::Current());
}

Expr Context::NextSeed(uint64_t seed) {
  NodeId handle = kNoNode;
  for (const Body::Weight& weight : state_->weights) {
    if (weight.name == kSteps) handle = weight.handle;
  }
  if (handle == kNoNode) {
    const Expr zero = scope_.Constant(Tensor::Scalar<int64_t>(0));
    handle = client_internal::AddVariable(graph_, DType::kInt64, zero.ref(), kSteps,
                                          /*trainable=*/false, site_);
    state_->weights.push_back({kSteps, handle});
  }
  const auto steps = Variable<int64_t>::Of(graph_, handle, site_);
  const Expr one = scope_.Constant(Tensor::Scalar<int64_t>(1));
  const Operation grow = steps.AssignAdd({graph_, one.ref()}, site_);
  BuildScope after(graph_, After({grow}));
  const Expr count(&scope_, steps.Read(site_).ref());
  const auto own = static_cast<int64_t>(SeedOf(kSteps, seed));
  return scope_.Add("Pack", {scope_.Constant(Tensor::Scalar<int64_t>(own)), count});
}

void Context::RequireRank(const Expr& x, int rank, std::string_view axes) const {
  const Shape& shape = x.shape();
  if (!shape.has_rank() || (rank == 0 ? shape.rank() < 1 : shape.rank() != rank))
    Fail("expected an input of shape {}, got {}", axes, shape);
}

int64_t Context::Channels(const Expr& x) const {
  const int64_t channels = x.shape().dim(x.shape().rank() - 1);
  if (channels < 0) Fail("the last axis of the input must be known, got {}", x.shape());
  if (channels == 0) Fail("the last axis of the input is empty, got {}", x.shape());
  return channels;
}

Expr Context::Vector(const std::vector<int64_t>& values) const {
  Tensor tensor(DType::kInt32, Shape{static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < INT32_MIN || values[i] > INT32_MAX) Fail("{} does not fit an int32", values[i]);
    tensor.mutable_data<int32_t>()[i] = static_cast<int32_t>(values[i]);
  }
  return scope_.Constant(tensor);
}

Expr Context::Reshape(const Expr& x, const std::vector<int64_t>& shape) const {
  return scope_.Add("Reshape", {x, Vector(shape)});
}

Expr Context::WithShape(const Expr& x, const Shape& shape) const {
  if (x.valid()) graph_.node(x.ref().node).outputs[static_cast<size_t>(x.ref().port)].shape = shape;
  return x;
}

Expr Context::Activate(const Activation& activation, const Expr& x) const {
  Check();
  return activation ? From(activation(AsOutput(x))) : x;
}

Expr Context::Call(const Layer& layer, const std::vector<Expr>& inputs) const {
  Check();
  std::vector<OutputRef> refs;
  for (const Expr& input : inputs) refs.push_back(input.ref());
  const bool nested = nested_ || !body_.IsTransparent();
  return Expr(&scope_, RunBody(*layer.body(), graph_, refs, mode_, site_, nested)[0]);
}

std::vector<OutputRef> RunBody(Body& body, Graph& graph, const std::vector<OutputRef>& inputs,
                               Mode mode, CallSite site, bool nested) {
  auto run = [&](Body::State* state) {
    Context context(body, state, graph, mode, site, nested);
    std::vector<Expr> exprs;
    for (const OutputRef& input : inputs) {
      const bool is_float = input.node == kNoNode || graph.output(input).dtype == DType::kFloat;
      if (!is_float && !body.TakesIntegers())
        context.Fail("expected an input of float, got {}", graph.output(input).dtype);
      exprs.push_back(Expr(&context.scope(), input));
    }
    std::vector<OutputRef> results{body.Apply(context, exprs).ref()};
    context.Check();
    for (const Expr& further : context.further_results()) results.push_back(further.ref());
    return results;
  };
  if (body.IsTransparent()) return run(nullptr);
  Body::State& state = body.StateIn(graph);
  BuildScope scope(graph, Named(state.local_name + "/"));
  const NodeId first = graph.num_nodes();
  const std::vector<OutputRef> results = run(&state);
  if (state.marker == kNoNode && graph.num_nodes() > first && graph.IsLive(first)) {
    state.marker = first;
    state.marker_name = graph.node(first).name;
  }
  if (!nested) Mark(graph, results[0], inputs, state.name, body.kind());
  return results;
}

}  // namespace penstock::nn
