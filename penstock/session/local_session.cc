#include <algorithm>
#include <atomic>
#include <shared_mutex>
#include <unordered_map>

#include "penstock/compile/pipeline.h"
#include "penstock/device/device.h"
#include "penstock/execute/plan.h"
#include "penstock/execute/step.h"
#include "penstock/session/deadline_timer.h"
#include "penstock/session/evaluate.h"
#include "penstock/session/function_runtime.h"
#include "penstock/session/partial_run.h"
#include "penstock/session/session.h"
#include "penstock/session/stall_watch.h"
#include "penstock/session/step_table.h"

namespace penstock {
namespace {

// A compiled signature.
struct Callable {
  std::unique_ptr<Plan> plan;
  std::string what;        // for dumps
  bool exchanges = false;  // some node sends or receives
};

bool Exchanges(const Graph& graph) {
  for (NodeId id = 0; id < graph.num_nodes(); ++id) {
    if (!graph.IsLive(id)) continue;
    const std::string& op = graph.node(id).op_name();
    if (op == "_Send" || op == "_Recv" || op == "_HostSend" || op == "_HostRecv") return true;
  }
  return false;
}

// "fetches y:0, z:0; targets init". Made while the graph may be read.
std::string DescribeSpec(const Graph& graph, const CallableSpec& spec) {
  constexpr size_t kNamesShown = 8;
  std::string out;
  auto list = [&](std::string_view what, size_t count, auto name) {
    if (count == 0) return;
    out += std::string(out.empty() ? "" : "; ") + std::string(what);
    for (size_t i = 0; i < std::min(count, kNamesShown); ++i)
      out += (i == 0 ? " " : ", ") + name(i);
    if (count > kNamesShown) out += Format(" and {} more", count - kNamesShown);
  };
  list("fetches", spec.fetches.size(), [&](size_t i) { return graph.NameOf(spec.fetches[i]); });
  list("targets", spec.targets.size(), [&](size_t i) { return graph.node(spec.targets[i]).name; });
  return out;
}

bool SameSpec(const CallableSpec& a, const CallableSpec& b) {
  return a.feeds == b.feeds && a.fetches == b.fetches && a.targets == b.targets;
}

size_t HashSpec(const CallableSpec& spec) {
  size_t hash = 1469598103934665603ull;
  auto mix = [&](int64_t value) { hash = (hash ^ static_cast<size_t>(value)) * 1099511628211ull; };
  for (const OutputRef& ref : spec.feeds) mix(int64_t{ref.node} << 8 ^ ref.port);
  mix(-1);
  for (const OutputRef& ref : spec.fetches) mix(int64_t{ref.node} << 8 ^ ref.port);
  mix(-2);
  for (const NodeId id : spec.targets) mix(id);
  return hash;
}

class LocalSession final : public SessionBackend {
 public:
  LocalSession(const Graph& graph, const LocalSessionOptions& options)
      : graph_(graph),
        options_(options),
        device_(options.device != nullptr ? options.device
                                          : MakeCpuDevice({.threads = options.threads,
                                                           .memory_limit = options.memory_limit})),
        state_(options.state != nullptr ? options.state : std::make_shared<StateRegistry>()),
        functions_(graph, MakeCompileOptions(), device_),
        stall_watch_(options.stall_report_after.count() > 0 ? options.stall_report_after
                                                            : StallLimitFromEnvironment(),
                     {&steps_}, [this] { return DebugString(); }) {
    if (stall_watch_.on()) steps_.OnAdd([this] { stall_watch_.StepAdded(); });
  }

  ~LocalSession() override { (void)Close(); }

  Result<CallableHandle> MakeCallable(const CallableSpec& spec) override {
    TRY_ASSIGN(std::shared_ptr<Callable> callable, FindOrCompile(spec));
    std::unique_lock lock(mu_);
    const CallableHandle handle = next_handle_++;
    handles_.emplace(handle, std::move(callable));
    return handle;
  }

  Result<std::vector<Tensor>> RunCallable(CallableHandle handle, std::span<const Tensor> feeds,
                                          const RunOptions& options,
                                          RunMetadata* metadata) override {
    std::shared_ptr<Callable> callable;
    {
      std::shared_lock lock(mu_);
      const auto it = handles_.find(handle);
      if (it == handles_.end()) return NotFound("there is no callable with handle {}", handle);
      callable = it->second;
    }
    return RunPlan(*callable, feeds, options, metadata);
  }

  Status ReleaseCallable(CallableHandle handle) override {
    std::unique_lock lock(mu_);
    if (handles_.erase(handle) == 0) return NotFound("there is no callable with handle {}", handle);
    return OkStatus();
  }

  Result<std::vector<Tensor>> Run(const CallableSpec& spec, std::span<const Tensor> feeds,
                                  const RunOptions& options, RunMetadata* metadata) override {
    TRY_ASSIGN(const std::shared_ptr<Callable> callable, FindOrCompile(spec));
    return RunPlan(*callable, feeds, options, metadata);
  }

  Result<PartialRunHandle> PartialRunSetup(const CallableSpec& spec) override;
  Result<std::vector<Tensor>> PartialRun(PartialRunHandle handle,
                                         std::span<const std::pair<OutputRef, Tensor>> feeds,
                                         std::span<const OutputRef> fetches,
                                         const RunOptions& options) override;
  Status PartialRunAbandon(PartialRunHandle handle) override {
    return partial_runs_.Abandon(handle, Cancelled("the partial run was abandoned"));
  }

  std::string DebugString() const override {
    return "steps in flight:\n" + steps_.DebugString() + "partial runs:\n" +
           partial_runs_.DebugString() + "state:\n" + state_->DebugString();
  }

  Status Reset(std::span<const std::string> containers) override {
    if (containers.empty()) state_->Clear(StateRegistry::kDefaultContainer);
    for (const std::string& container : containers) state_->Clear(container);
    return OkStatus();
  }

  Status Close() override {
    const Status why = Cancelled("Step was cancelled by an explicit call to `Session::Close()`.");
    steps_.Close(why);
    partial_runs_.Close(why);
    steps_.WaitUntilEmpty();
    return OkStatus();
  }

 private:
  CompileOptions MakeCompileOptions() const {
    CompileOptions options;
    options.disabled_passes = options_.disabled_passes;
    options.threads = device_->pool()->threads();
    options.evaluator = [device = device_](const Node& node, const std::vector<Tensor>& inputs) {
      return EvaluateNode(node, inputs, StandardKernels(), *device);
    };
    return options;
  }

  Status CheckSpec(const CallableSpec& spec) const {
    auto check = [&](OutputRef ref, std::string_view what) -> Status {
      if (!graph_.IsLive(ref.node)) return NotFound("{} {} is not in the graph", what, ref.node);
      if (!InRange(ref.port, static_cast<int64_t>(graph_.node(ref.node).outputs.size()))) {
        return InvalidArgument("{}: {} has {} outputs, no output {}", what,
                               graph_.Describe(ref.node), graph_.node(ref.node).outputs.size(),
                               ref.port);
      }
      return OkStatus();
    };
    for (const OutputRef& ref : spec.feeds) TRY(check(ref, "feed"));
    for (const OutputRef& ref : spec.fetches) TRY(check(ref, "fetch"));
    for (const NodeId id : spec.targets) {
      if (!graph_.IsLive(id)) return NotFound("target {} is not in the graph", id);
    }
    return OkStatus();
  }

  Result<std::shared_ptr<Callable>> FindOrCompile(const CallableSpec& spec) {
    const size_t hash = HashSpec(spec);
    {
      std::shared_lock lock(mu_);
      const auto [begin, end] = cache_.equal_range(hash);
      for (auto it = begin; it != end; ++it) {
        if (SameSpec(it->second.first, spec)) return it->second.second;
      }
    }
    TRY(CheckSpec(spec));
    functions_.Refresh();
    auto callable = std::make_shared<Callable>();
    TRY_ASSIGN(callable->plan,
               MakePlan(graph_, {spec.feeds, spec.fetches, spec.targets}, MakeCompileOptions()));
    callable->what = DescribeSpec(graph_, spec);
    callable->exchanges = Exchanges(callable->plan->graph());
    std::unique_lock lock(mu_);
    cache_.emplace(hash, std::pair(spec, callable));
    return callable;
  }

  Result<std::unique_ptr<Plan>> MakePlan(const Graph& graph, const CompileRequest& request,
                                         const CompileOptions& options) {
    TRY_ASSIGN(Compiled compiled, Compile(graph, request, options));
    return Plan::Make(std::move(compiled.graph), std::move(compiled.schedule), StandardKernels(),
                      device_);
  }

  static Status CheckFeeds(const Plan& plan, std::span<const Tensor> feeds) {
    if (static_cast<int>(feeds.size()) != plan.num_args()) {
      return InvalidArgument("the step takes {} feeds, got {}", plan.num_args(), feeds.size());
    }
    for (int i = 0; i < plan.num_args(); ++i) {
      const OutputInfo& wanted = plan.arg(i);
      const Tensor& feed = feeds[i];
      if (feed.dtype() == wanted.dtype && wanted.shape.IsCompatibleWith(feed.shape())) continue;
      return FeedError(plan, i, feed);
    }
    return OkStatus();
  }

  static Status FeedError(const Plan& plan, int index, const Tensor& feed) {
    const OutputInfo& wanted = plan.arg(index);
    std::string where;
    for (const NodeId id : plan.schedule().order) {
      const Node& node = plan.graph().node(id);
      if (node.op_name() != "_Arg" || *FindAttr(node.attrs, "index")->Get<int64_t>() != index)
        continue;
      where = node.name.substr(std::string_view("_arg_").size());
      if (node.site.known()) where += " (" + node.site.ToString() + ")";
    }
    if (!feed.initialized()) return InvalidArgument("the feed for {} holds no value", where);
    return InvalidArgument("the feed for {} must be {} {}, got {} {}", where, wanted.dtype,
                           wanted.shape, feed.dtype(), feed.shape());
  }

  // What every step of this session gets.
  StepRequest MakeRequest() {
    StepRequest request;
    request.state = state_.get();
    request.functions = &functions_;
    request.step_id = next_step_.fetch_add(1, std::memory_order_relaxed);
    return request;
  }

  Result<std::vector<Tensor>> RunPlan(const Callable& callable, std::span<const Tensor> feeds,
                                      const RunOptions& options, RunMetadata* metadata) {
    Plan& plan = *callable.plan;
    TRY(CheckFeeds(plan, feeds));
    StepRequest request = MakeRequest();
    ActiveStep step;
    step.id = request.step_id;
    step.plan = &plan;
    step.what = callable.what;
    // Counting slows a sequence of cheap nodes, which cannot wait anyway.
    step.counted = !plan.schedule().sequential || stall_watch_.on();
    TRY(steps_.Add(&step));
    Cancellation& cancellation = step.cancellation;
    Cancellation::Token token = 0;
    if (options.cancellation != nullptr) {
      token = options.cancellation->Register(
          [&cancellation, outer = options.cancellation] { cancellation.Cancel(outer->status()); });
      if (token == 0) cancellation.Cancel(options.cancellation->status());
    }
    DeadlineTimer::Token alarm = 0;
    if (options.timeout.count() > 0) {
      alarm = timer_.Set(
          std::chrono::steady_clock::now() + options.timeout,
          [&cancellation, ms = options.timeout.count()] {
            cancellation.Cancel(DeadlineExceeded("the step did not finish within {} ms", ms));
          });
    }
    Trace trace;
    const std::unique_ptr<Rendezvous> rendezvous =
        callable.exchanges ? MakeLocalRendezvous() : nullptr;
    request.args = feeds;
    request.rendezvous = rendezvous.get();
    request.cancellation = &cancellation;
    request.trace = options.trace ? &trace : nullptr;
    request.progress = step.counted ? &step.progress : nullptr;
    Result<std::vector<Tensor>> results = RunStep(plan, request);
    if (alarm != 0) timer_.Remove(alarm);
    if (options.cancellation != nullptr && token != 0)
      options.cancellation->DeregisterAndWait(token);
    steps_.Remove(&step);
    if (options.trace && metadata != nullptr) {
      metadata->chrome_trace = trace.ToChromeJson(plan.graph(), device_->name());
      metadata->step_stats = trace.ToStepStats(plan.graph(), device_->name());
    }
    return results;
  }

  const Graph& graph_;
  const LocalSessionOptions options_;
  const std::shared_ptr<Device> device_;
  const std::shared_ptr<StateRegistry> state_;
  FunctionRuntime functions_;
  DeadlineTimer timer_;
  std::atomic<int64_t> next_step_{1};

  std::shared_mutex mu_;  // guards the three below
  std::unordered_multimap<size_t, std::pair<CallableSpec, std::shared_ptr<Callable>>> cache_;
  std::unordered_map<CallableHandle, std::shared_ptr<Callable>> handles_;
  CallableHandle next_handle_ = 0;

  StepTable steps_;
  PartialRunTable partial_runs_;
  StallWatch stall_watch_;  // last: it looks at the rest
};

Result<PartialRunHandle> LocalSession::PartialRunSetup(const CallableSpec& spec) {
  TRY(CheckSpec(spec));
  CompileRequest wanted{spec.feeds, {}, spec.targets};
  for (const OutputRef& ref : spec.fetches) {
    // Each fetch is taken once, however often it was named.
    if (std::find(wanted.fetches.begin(), wanted.fetches.end(), ref) == wanted.fetches.end())
      wanted.fetches.push_back(ref);
  }
  TRY_ASSIGN(PartialGraph partial, MakePartialGraph(graph_, wanted, device_->name()));
  // A node that was fused with others would wait for feeds that its own value does not need.
  functions_.Refresh();
  CompileOptions options = MakeCompileOptions();
  options.disabled_passes.insert(options.disabled_passes.end(), {"epilogue", "fuse"});
  TRY_ASSIGN(std::unique_ptr<Plan> plan,
             MakePlan(partial.graph, {{}, {}, partial.targets}, options));
  partial.graph = Graph(graph_.registry());  // the plan has what it needs
  const StepRequest request = MakeRequest();
  auto run = std::make_shared<OpenPartialRun>(std::move(partial), std::move(plan),
                                              DescribeSpec(graph_, spec), request.step_id);
  TRY_ASSIGN(const PartialRunHandle handle, partial_runs_.Add(run));
  run->Start(request);
  return handle;
}

Result<std::vector<Tensor>> LocalSession::PartialRun(
    PartialRunHandle handle, std::span<const std::pair<OutputRef, Tensor>> feeds,
    std::span<const OutputRef> fetches, const RunOptions& options) {
  TRY_ASSIGN(const std::shared_ptr<OpenPartialRun> run, partial_runs_.Find(handle));
  bool ended = false;
  Result<std::vector<Tensor>> values = run->Run(feeds, fetches, options, &steps_, &ended);
  if (ended) partial_runs_.Remove(handle);
  return values;
}

}  // namespace

std::unique_ptr<SessionBackend> MakeLocalSession(const Graph& graph,
                                                 const LocalSessionOptions& options) {
  return std::make_unique<LocalSession>(graph, options);
}

}  // namespace penstock
