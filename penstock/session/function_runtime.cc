#include "penstock/session/function_runtime.h"

#include <algorithm>

#include "penstock/compile/calls.h"
#include "penstock/execute/plan.h"
#include "penstock/execute/step.h"
#include "penstock/graph/function_call.h"
#include "penstock/graph/instantiate.h"
#include "penstock/session/shaped_plans.h"

namespace penstock {
namespace {

bool SameAttrs(const AttrMap& a, const AttrMap& b) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const auto& attr) {
           const AttrValue* other = FindAttr(b, attr.first);
           return other != nullptr && attr.second == *other;
         });
}

// Whether a node keeps something between its runs besides what a handle leads to, such as the place
// in a random sequence: then there may be only one of it.
bool KeepsStateOfItsOwn(const Graph& graph) {
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id)) continue;
    const Node& node = graph.node(id);
    if (node.op->traits.pure || node.op_name() == "_Arg" || node.op_name() == "_Retval") continue;
    const bool reads_handle = std::any_of(
        node.inputs.begin(), node.inputs.end(),
        [&](const OutputRef& input) { return graph.output(input).dtype == DType::kResource; });
    if (!reads_handle) return true;
  }
  return false;
}

class PlannedFunction final : public RunnableFunction {
 public:
  PlannedFunction(std::string name, const NodeTypes& types, std::unique_ptr<Plan> plan,
                  ShapedPlans::Maker maker)
      : RunnableFunction(std::move(name), types.inputs, types.outputs, MayWait(plan->graph())),
        plans_(std::move(plan), std::move(maker)) {}

  Result<std::vector<Tensor>> Run(const StepResources& caller, const CallArgs& args) override {
    TRY(CheckDepth(caller));
    StepRequest request = RequestOf(caller, args);
    Plan& plan = PlanFor(args);
    if (plan.schedule().sequential) return RunStep(plan, request);
    Cancellation inner;
    const Cancellation::Token token = Forward(caller.cancellation, &inner);
    request.cancellation = &inner;
    Result<std::vector<Tensor>> results = RunStep(plan, request);
    if (token != 0) caller.cancellation->DeregisterAndWait(token);
    return results;
  }

  void Start(const StepResources& caller, const CallArgs& args, Done done) override {
    if (!may_wait()) return done(Run(caller, args));
    if (Status status = CheckDepth(caller); !status.ok()) return done(status);
    StepRequest request = RequestOf(caller, args);
    auto inner = std::make_shared<Cancellation>();
    const Cancellation::Token token = Forward(caller.cancellation, inner);
    request.cancellation = inner.get();
    StartStep(PlanFor(args), request,
              [inner, token, outer = caller.cancellation,
               done = std::move(done)](Result<std::vector<Tensor>> results) {
                // Not waiting: this may be the callback's own thread. The callback keeps `inner`.
                if (token != 0) (void)outer->Deregister(token);
                done(std::move(results));
              });
  }

 private:
  Status CheckDepth(const StepResources& caller) const {
    if (caller.call_depth < kMaxCallDepth) return OkStatus();
    return ResourceExhausted(
        "function {} is called inside more than {} other calls: does a function call itself "
        "without end?",
        name(), kMaxCallDepth);
  }

  Plan& PlanFor(const CallArgs& args) {
    return plans_.For(args.taken.empty() ? args.shared : std::span<const Tensor>(args.taken));
  }

  static StepRequest RequestOf(const StepResources& caller, const CallArgs& args) {
    StepRequest request;
    request.args = args.shared;
    request.taken_args = args.taken;
    request.cancellation = caller.cancellation;
    request.state = caller.state;
    request.functions = caller.functions;
    request.rendezvous = caller.rendezvous;
    request.step_id = caller.step_id;
    request.call_depth = caller.call_depth + 1;
    return request;
  }

  // A step that fails cancels its own nodes. Those of the caller are told by the error that the
  // call returns, lest they report the cancelling before it: so the function gets a Cancellation
  // of its own, which the caller's passes on to.
  template <class Inner>
  static Cancellation::Token Forward(Cancellation* outer, Inner inner) {
    if (outer == nullptr) return 0;
    const Cancellation::Token token =
        outer->Register([outer, inner] { inner->Cancel(outer->status()); });
    if (token == 0) inner->Cancel(outer->status());
    return token;
  }

  ShapedPlans plans_;
};

}  // namespace

FunctionRuntime::FunctionRuntime(const Graph& graph, CompileOptions options,
                                 std::shared_ptr<Device> device)
    : graph_(graph),
      options_(std::move(options)),
      device_(std::move(device)),
      library_(std::make_shared<FunctionLibrary>()) {}

FunctionRuntime::~FunctionRuntime() = default;

// Definitions are added, never changed: their number tells whether there is something new.
void FunctionRuntime::Refresh() {
  MutexLock lock(mu_);
  const FunctionLibrary& now = graph_.library();
  if (now.functions.size() != library_->functions.size())
    library_ = std::make_shared<FunctionLibrary>(now);
}

RunnableFunction* FunctionRuntime::FindCompiled(const FunctionName& function) const {
  const auto entries = compiled_.find(function.name);
  if (entries == compiled_.end()) return nullptr;
  for (const Entry& entry : entries->second) {
    if (SameAttrs(entry.first, function.attrs)) return entry.second.get();
  }
  return nullptr;
}

Result<RunnableFunction*> FunctionRuntime::Find(const FunctionName& function) {
  std::shared_ptr<const FunctionLibrary> library;
  for (int attempt = 0;; ++attempt) {
    {
      MutexLock lock(mu_);
      if (RunnableFunction* found = FindCompiled(function)) return found;
      library = library_;
    }
    if (library->functions.contains(function.name)) break;
    if (attempt > 0)
      return InvalidArgument("function {} is not in the library", Printable(function.name));
    Refresh();  // it may have been added after the step was compiled
  }
  TRY_ASSIGN(std::unique_ptr<RunnableFunction> made, MakeFunction(library, function));
  MutexLock lock(mu_);
  // Another thread may have been faster.
  if (RunnableFunction* found = FindCompiled(function)) return found;
  return compiled_[function.name].emplace_back(function.attrs, std::move(made)).second.get();
}

Result<std::unique_ptr<RunnableFunction>> FunctionRuntime::MakeFunction(
    const std::shared_ptr<const FunctionLibrary>& library, const FunctionName& function) const {
  TRY_ASSIGN(const FunctionDef* definition, FindFunction(*library, function.name));
  TRY_ASSIGN(const NodeTypes types, FunctionTypes(*definition, function.attrs));
  TRY_ASSIGN(std::unique_ptr<Plan> general, MakePlan(*library, function, {}));
  ShapedPlans::Maker make_shaped;
  if (!KeepsStateOfItsOwn(general->graph())) {
    make_shaped = [this, library, function](std::span<const Shape> args) {
      return MakePlan(*library, function, args);
    };
  }
  return std::unique_ptr<RunnableFunction>(std::make_unique<PlannedFunction>(
      function.name, types, std::move(general), std::move(make_shaped)));
}

Result<std::unique_ptr<Plan>> FunctionRuntime::MakePlan(const FunctionLibrary& library,
                                                        const FunctionName& function,
                                                        std::span<const Shape> args) const {
  TRY_ASSIGN(FunctionBody body, Instantiate(library, function, graph_.registry()));
  for (size_t i = 0; i < args.size(); ++i) body.graph.node(body.args[i]).outputs[0].shape = args[i];
  CompileRequest request{body.Args(), body.Results(), body.effects};
  if (request.fetches.empty() && request.targets.empty()) {
    TRY_ASSIGN(const NodeId nothing, body.graph.AddNode({.op = "NoOp", .name = "nothing"}));
    request.targets.push_back(nothing);
  }
  const auto context = [&] { return Format("function {}", Printable(function.name)); };
  Result<Compiled> compiled = Compile(body.graph, request, options_);
  if (!compiled.ok()) return compiled.status().Annotate(context());
  Result<std::unique_ptr<Plan>> plan = Plan::Make(
      std::move(compiled->graph), std::move(compiled->schedule), StandardKernels(), device_);
  if (!plan.ok()) return plan.status().Annotate(context());
  return plan;
}

}  // namespace penstock
