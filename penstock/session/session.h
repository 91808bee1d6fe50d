#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/cancellation.h"
#include "penstock/core/tensor.h"
#include "penstock/graph/graph.h"

namespace penstock {

class Device;
class StateRegistry;
struct CompileOptions;

// What a step gets besides feeds and fetches.
struct RunOptions {
  std::chrono::milliseconds timeout{0};  // 0: none
  bool trace = false;
  Cancellation* cancellation = nullptr;  // the caller's means to stop the step; may be null
};

// What a step tells about itself when it was traced.
struct RunMetadata {
  std::string chrome_trace;  // JSON for chrome://tracing and Perfetto
  std::string step_stats;    // a serialized StepStats message
};

// A signature that was compiled once: feeds are positional.
using CallableHandle = int64_t;

// A step that is fed and fetched in pieces.
using PartialRunHandle = int64_t;

struct CallableSpec {
  std::vector<OutputRef> feeds;
  std::vector<OutputRef> fetches;
  std::vector<NodeId> targets;
};

// Runs steps of one graph: here, or across a cluster.
// Threads: all methods may be called concurrently.
class SessionBackend {
 public:
  virtual ~SessionBackend() = default;
  // Compiles the signature once and keeps it.
  virtual Result<CallableHandle> MakeCallable(const CallableSpec& spec) = 0;
  // Runs a step with these feeds; returns the fetches in the order of the spec.
  virtual Result<std::vector<Tensor>> RunCallable(CallableHandle handle,
                                                  std::span<const Tensor> feeds,
                                                  const RunOptions& options,
                                                  RunMetadata* metadata) = 0;
  virtual Status ReleaseCallable(CallableHandle handle) = 0;
  // The same for any combination of feeds, fetches and targets; signatures are cached.
  virtual Result<std::vector<Tensor>> Run(const CallableSpec& spec, std::span<const Tensor> feeds,
                                          const RunOptions& options, RunMetadata* metadata) = 0;

  // Starts a step that gets its feeds and gives its fetches by calls of PartialRun, in any order;
  // each node runs once, as soon as it can.
  virtual Result<PartialRunHandle> PartialRunSetup(const CallableSpec& spec) = 0;
  // Gives some of the feeds, then waits for some of the fetches and returns them in this order. The
  // call that uses the last feed or fetch waits for the whole step. Then, and when the step fails,
  // the handle is gone. InvalidArgument, and the step goes on, for what was not in the setup, was
  // used before, or depends on feeds that have not been given.
  virtual Result<std::vector<Tensor>> PartialRun(
      PartialRunHandle handle, std::span<const std::pair<OutputRef, Tensor>> feeds,
      std::span<const OutputRef> fetches, const RunOptions& options) = 0;
  // Cancels the step and forgets the handle.
  virtual Status PartialRunAbandon(PartialRunHandle handle) = 0;

  // For a person: the steps in flight with the nodes that wait, the partial runs that are open, and
  // the state by container with its bytes.
  virtual std::string DebugString() const = 0;
  // Drops the state in these containers, or in the default one when none is named. Steps in flight
  // go on with what they hold, or fail.
  virtual Status Reset(std::span<const std::string> containers) = 0;
  // Cancels the steps in flight, waits for them, and refuses new ones.
  virtual Status Close() = 0;
};

struct LocalSessionOptions {
  std::shared_ptr<Device> device;            // null: a CPU device of its own
  std::shared_ptr<StateRegistry> state;      // null: private to the session
  std::vector<std::string> disabled_passes;  // see CompileOptions
  int threads = 0;                           // of a device of its own; 0: the budget of the process
  int64_t memory_limit = 0;                  // bytes of a device of its own; 0: none
  // DebugString goes to the log when a step makes no progress for so long; 0: as
  // PENSTOCK_STALL_REPORT_MS says, or never.
  std::chrono::milliseconds stall_report_after{0};
};

// Runs `graph` in this process. REQUIRES: the graph outlives the session, and nodes are not added
// while a step is compiled.
std::unique_ptr<SessionBackend> MakeLocalSession(const Graph& graph,
                                                 const LocalSessionOptions& options = {});

}  // namespace penstock
