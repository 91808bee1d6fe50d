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
#include "penstock/session/session.h"

namespace penstock {
namespace {

// A compiled signature.
struct Callable {
  std::unique_ptr<Plan> plan;
};

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
        functions_(graph, MakeCompileOptions(), device_) {}

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
    return RunPlan(*callable->plan, feeds, options, metadata);
  }

  Status ReleaseCallable(CallableHandle handle) override {
    std::unique_lock lock(mu_);
    if (handles_.erase(handle) == 0) return NotFound("there is no callable with handle {}", handle);
    return OkStatus();
  }

  Result<std::vector<Tensor>> Run(const CallableSpec& spec, std::span<const Tensor> feeds,
                                  const RunOptions& options, RunMetadata* metadata) override {
    TRY_ASSIGN(const std::shared_ptr<Callable> callable, FindOrCompile(spec));
    return RunPlan(*callable->plan, feeds, options, metadata);
  }

  Status Reset(std::span<const std::string> containers) override {
    if (containers.empty()) state_->Clear(StateRegistry::kDefaultContainer);
    for (const std::string& container : containers) state_->Clear(container);
    return OkStatus();
  }

  Status Close() override {
    MutexLock lock(steps_mu_);
    closed_ = true;
    for (Cancellation* step : steps_) {
      step->Cancel(Cancelled("Step was cancelled by an explicit call to `Session::Close()`."));
    }
    while (!steps_.empty()) no_steps_.Wait(steps_mu_);
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
    TRY_ASSIGN(Compiled compiled,
               Compile(graph_, {spec.feeds, spec.fetches, spec.targets}, MakeCompileOptions()));
    auto callable = std::make_shared<Callable>();
    TRY_ASSIGN(callable->plan, Plan::Make(std::move(compiled.graph), std::move(compiled.schedule),
                                          StandardKernels(), device_));
    std::unique_lock lock(mu_);
    cache_.emplace(hash, std::pair(spec, callable));
    return callable;
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

  Result<std::vector<Tensor>> RunPlan(Plan& plan, std::span<const Tensor> feeds,
                                      const RunOptions& options, RunMetadata* metadata) {
    TRY(CheckFeeds(plan, feeds));
    Cancellation cancellation;
    TRY(AddStep(&cancellation));
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
    StepRequest request;
    request.args = feeds;
    request.cancellation = &cancellation;
    request.state = state_.get();
    request.functions = &functions_;
    request.step_id = next_step_.fetch_add(1, std::memory_order_relaxed);
    request.trace = options.trace ? &trace : nullptr;
    Result<std::vector<Tensor>> results = RunStep(plan, request);
    if (alarm != 0) timer_.Remove(alarm);
    if (options.cancellation != nullptr && token != 0)
      options.cancellation->DeregisterAndWait(token);
    RemoveStep(&cancellation);
    if (options.trace && metadata != nullptr) {
      metadata->chrome_trace = trace.ToChromeJson(plan.graph(), device_->name());
      metadata->step_stats = trace.ToStepStats(plan.graph(), device_->name());
    }
    return results;
  }

  Status AddStep(Cancellation* step) {
    MutexLock lock(steps_mu_);
    if (closed_) return FailedPrecondition("the session is closed");
    steps_.push_back(step);
    return OkStatus();
  }
  void RemoveStep(Cancellation* step) {
    MutexLock lock(steps_mu_);
    steps_.erase(std::find(steps_.begin(), steps_.end(), step));
    if (steps_.empty() && closed_) no_steps_.NotifyAll();
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

  Mutex steps_mu_;
  CondVar no_steps_;
  std::vector<Cancellation*> steps_ GUARDED_BY(steps_mu_);  // in flight
  bool closed_ GUARDED_BY(steps_mu_) = false;
};

}  // namespace

std::unique_ptr<SessionBackend> MakeLocalSession(const Graph& graph,
                                                 const LocalSessionOptions& options) {
  return std::make_unique<LocalSession>(graph, options);
}

}  // namespace penstock
