#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "penstock/client/array.h"
#include "penstock/client/error.h"
#include "penstock/client/output.h"
#include "penstock/session/session.h"

namespace penstock {

// One fed value. {x, 3.f}, {x, std::vector<float>{...}}, {x, tensor}.
class Feed {
 public:
  template <class T>
  Feed(const Output<T>& output, const Array<T>& value)
      : output_(output.ref()), value_(value.tensor()) {}
  template <class T>
  Feed(const Output<T>& output, const std::vector<T>& value) : Feed(output, Array<T>(value)) {}
  template <class T>
  Feed(const Output<T>& output, const std::type_identity_t<T>& value)
      : Feed(output, Array<T>(value)) {}
  // Checked when the step runs.
  template <class T>
  Feed(const Output<T>& output, Tensor value) : output_(output.ref()), value_(std::move(value)) {}

  OutputRef output() const { return output_; }
  const Tensor& value() const { return value_; }

 private:
  OutputRef output_;
  Tensor value_;
};
using Feeds = std::initializer_list<Feed>;

// What a step is to return.
template <class... Ts>
struct Fetches {
  std::tuple<Output<Ts>...> outputs;
};
template <class... Ts>
Fetches<Ts...> Fetch(const Output<Ts>&... outputs) {
  return {std::tuple(outputs...)};
}

struct SessionOptions {
  int threads = 0;           // 0: the budget of the process
  int64_t memory_limit = 0;  // bytes; 0: none
  std::vector<std::string> disabled_passes;
  // DebugString goes to the log when a step makes no progress for so long; 0: as
  // PENSTOCK_STALL_REPORT_MS says, or never.
  std::chrono::milliseconds stall_report_after{0};
};

class PartialStep;

// Runs steps of a graph. The graph must outlive it; nodes may be added between steps.
// Threads: Run may be called concurrently; steps then run at the same time and meet only in
// variables.
class Session {
 public:
  explicit Session(const Graph& graph, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;

  // Runs what the fetches and targets need and returns the fetched values, each as an Array of its
  // type:
  //   auto [loss_value, hits] = session.Run({{x, batch}}, Fetch(loss, correct), train_step);
  template <class... Ts, class... Targets>
  std::tuple<Array<Ts>...> Run(Feeds feeds, const Fetches<Ts...>& fetches,
                               const Targets&... targets) {
    std::vector<OutputRef> refs;
    std::apply([&](const auto&... output) { (refs.push_back(output.ref()), ...); },
               fetches.outputs);
    std::vector<Tensor> values = RunRefs(feeds, std::move(refs), {Operation(targets).node()...});
    return Unpack<Ts...>(std::move(values), std::index_sequence_for<Ts...>());
  }
  template <class... Ts, class... Targets>
  std::tuple<Array<Ts>...> Run(const Fetches<Ts...>& fetches, const Targets&... targets) {
    return Run({}, fetches, targets...);
  }
  // One value.
  template <class T>
  Array<T> Run(Feeds feeds, const Output<T>& output) {
    return std::get<0>(Run(feeds, Fetch(output)));
  }
  template <class T>
  Array<T> Run(const Output<T>& output) {
    return Run({}, output);
  }
  // For effects alone.
  void Run(Feeds feeds, const Operation& target) { RunRefs(feeds, {}, {target.node()}); }
  void Run(const Operation& target) { Run({}, target); }

  // The same for graphs only known at run time: names are "node:port", targets "node".
  std::vector<Tensor> Run(const std::vector<std::pair<std::string, Tensor>>& feeds,
                          const std::vector<std::string>& fetches,
                          const std::vector<std::string>& targets = {},
                          const RunOptions& options = {}, RunMetadata* metadata = nullptr);

  // Compiles a signature now; the result is called with the feeds in order.
  template <class... Ts>
  class Callable;
  template <class... Ts>
  Callable<Ts...> Compile(const std::vector<OutputRef>& feeds, const Fetches<Ts...>& fetches);

  // Starts a step that is fed and fetched in pieces; see PartialStep.
  PartialStep StartPartial(const std::vector<OutputRef>& feeds,
                           const std::vector<OutputRef>& fetches,
                           const std::vector<Operation>& targets = {});

  // Steps in flight, partial runs and state, for a person.
  std::string DebugString() const { return backend_->DebugString(); }
  // Options of every step from now on.
  RunOptions& options() { return options_; }
  SessionBackend& backend() { return *backend_; }

 private:
  friend class PartialStep;

  std::vector<Tensor> RunRefs(Feeds feeds, std::vector<OutputRef> fetches,
                              std::vector<NodeId> targets);
  template <class... Ts, size_t... I>
  static std::tuple<Array<Ts>...> Unpack(std::vector<Tensor> values, std::index_sequence<I...>) {
    return std::tuple<Array<Ts>...>(Array<Ts>(std::move(values[I]))...);
  }

  const Graph* graph_;
  std::unique_ptr<SessionBackend> backend_;
  RunOptions options_;
};

// A compiled signature: no lookup, no allocation that grows with the graph.
// Threads: may be called concurrently. The session must outlive it.
template <class... Ts>
class Session::Callable {
 public:
  Callable(Session* session, CallableHandle handle) : session_(session), handle_(handle) {}

  template <class... Values>
  std::tuple<Array<Ts>...> operator()(const Values&... values) const {
    const Tensor feeds[] = {static_cast<const Tensor&>(values)..., Tensor()};
    return Unpack<Ts...>(OrThrow(session_->backend_->RunCallable(
                             handle_, {feeds, sizeof...(Values)}, session_->options_, nullptr)),
                         std::index_sequence_for<Ts...>());
  }

 private:
  Session* session_;
  CallableHandle handle_;
};

template <class... Ts>
Session::Callable<Ts...> Session::Compile(const std::vector<OutputRef>& feeds,
                                          const Fetches<Ts...>& fetches) {
  CallableSpec spec;
  spec.feeds = feeds;
  std::apply([&](const auto&... output) { (spec.fetches.push_back(output.ref()), ...); },
             fetches.outputs);
  return Callable<Ts...>(this, OrThrow(backend_->MakeCallable(spec)));
}

// A step that gets its feeds and gives its fetches piece by piece, each once; every node runs once.
//
//   PartialStep step = session.StartPartial({x.ref(), y.ref()}, {a.ref(), b.ref()});
//   const float a_value = step.Run({{x, 1.f}}, a);
//   const float b_value = step.Run({{y, a_value}}, b);
//
// What was not finished is cancelled when it goes. Threads: Run may be called concurrently. The
// session must outlive it.
class PartialStep {
 public:
  PartialStep(SessionBackend* backend, PartialRunHandle handle, RunOptions options)
      : backend_(backend), handle_(handle), options_(options) {}
  PartialStep(PartialStep&& other) noexcept
      : backend_(std::exchange(other.backend_, nullptr)),
        handle_(other.handle_),
        options_(other.options_) {}
  ~PartialStep() { Abandon(); }

  template <class... Ts>
  std::tuple<Array<Ts>...> Run(Feeds feeds, const Fetches<Ts...>& fetches) {
    std::vector<OutputRef> refs;
    std::apply([&](const auto&... output) { (refs.push_back(output.ref()), ...); },
               fetches.outputs);
    return Session::Unpack<Ts...>(RunRefs(feeds, refs), std::index_sequence_for<Ts...>());
  }
  template <class T>
  Array<T> Run(Feeds feeds, const Output<T>& output) {
    return std::get<0>(Run(feeds, Fetch(output)));
  }
  // Feeds alone.
  void Run(Feeds feeds) { RunRefs(feeds, {}); }
  // Cancels what is still to do.
  void Abandon();

 private:
  std::vector<Tensor> RunRefs(Feeds feeds, const std::vector<OutputRef>& fetches);

  SessionBackend* backend_;
  PartialRunHandle handle_;
  RunOptions options_;
};

}  // namespace penstock
