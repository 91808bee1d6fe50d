#include "penstock/client/queue_runner.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "penstock/core/log.h"
#include "penstock/graph/queue_runner_def.h"

namespace penstock {
namespace {

constexpr char kCollection[] = "queue_runners";

NodeId MustFind(const Graph& graph, const QueueRunner& runner, const std::string& name) {
  const NodeId id = graph.FindNode(name);
  if (id == kNoNode) {
    throw Error(NotFound("queue runner of {}: there is no node {}", Printable(runner.queue),
                         Printable(name)));
  }
  return id;
}

// The nodes of a runner, looked up once: threads do not search the graph.
struct Nodes {
  CallableSpec close;
  CallableSpec cancel;
  std::vector<CallableSpec> enqueue;

  Nodes(const Graph& graph, const QueueRunner& runner)
      : close{{}, {}, {MustFind(graph, runner, runner.close_op)}},
        cancel{{}, {}, {MustFind(graph, runner, runner.cancel_op)}} {
    for (const std::string& name : runner.enqueue_ops)
      enqueue.push_back({{}, {}, {MustFind(graph, runner, name)}});
  }
};

// What the threads of one runner share. Lives as long as the last of them.
class Filling {
 public:
  Filling(const Graph& graph, const QueueRunner& runner, Session& session, Coordinator& coordinator)
      : runner_(runner),
        nodes_(graph, runner),
        session_(session),
        coordinator_(coordinator),
        active_(static_cast<int>(runner.enqueue_ops.size())) {}

  // The body of one thread.
  void Enqueue(size_t index) {
    Status status;
    while (status.ok() && !coordinator_.ShouldStop()) status = RunTarget(nodes_.enqueue[index]);
    if (!status.ok() && !IsEnd(status.code())) coordinator_.RequestStop(status);
    // acq_rel: the last one closes, after all the others have enqueued what they had.
    if (active_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    RunQuietly(nodes_.close, "close");
  }
  void Cancel() { RunQuietly(nodes_.cancel, "cancel"); }

 private:
  bool IsEnd(Code code) const {
    const auto& codes = runner_.closed_codes;
    return std::find(codes.begin(), codes.end(), code) != codes.end() ||
           (coordinator_.ShouldStop() && IsCleanStop(code));
  }
  Status RunTarget(const CallableSpec& spec) {
    return session_.backend().Run(spec, {}, {}, nullptr).status();
  }
  // Cancelled says that it was closed before. A queue that cannot be closed, such as one of a
  // session that is closed, has nobody who waits.
  void RunQuietly(const CallableSpec& spec, std::string_view what) {
    const Status status = RunTarget(spec);
    if (status.ok() || IsCleanStop(status.code())) return;
    Log(LogLevel::kInfo,
        Format("queue runner of {}: {}: {}", runner_.queue, what, status.ToString()));
  }

  const QueueRunner runner_;
  const Nodes nodes_;
  Session& session_;
  Coordinator& coordinator_;
  std::atomic<int> active_;
};

}  // namespace

void QueueRunner::Start(const Graph& graph, Session& session, Coordinator& coordinator) const {
  if (enqueue_ops.empty()) throw Error(InvalidArgument("queue runner of {}: no enqueue op", queue));
  auto filling = std::make_shared<Filling>(graph, *this, session, coordinator);
  for (size_t i = 0; i < enqueue_ops.size(); ++i) {
    coordinator.Start(Format("QueueRunner {} {}", queue, enqueue_ops[i]),
                      [filling, i] { filling->Enqueue(i); });
  }
  coordinator.OnStop([filling] { filling->Cancel(); });
}

void AddQueueRunner(Graph& graph, const QueueRunner& runner) {
  // Queue, close, cancel, the enqueue ops, and kNoNode after each runner: a collection holds nodes.
  std::vector<NodeId> nodes{MustFind(graph, runner, runner.queue),
                            MustFind(graph, runner, runner.close_op),
                            MustFind(graph, runner, runner.cancel_op)};
  for (const std::string& name : runner.enqueue_ops) nodes.push_back(MustFind(graph, runner, name));
  nodes.push_back(kNoNode);
  std::vector<NodeId>& kept = graph.collections[kCollection];
  kept.insert(kept.end(), nodes.begin(), nodes.end());
}

std::vector<QueueRunner> QueueRunners(const Graph& graph) {
  std::vector<QueueRunner> runners;
  const auto found = graph.collections.find(kCollection);
  if (found == graph.collections.end()) return runners;
  std::vector<std::string> names;
  for (const NodeId id : found->second) {
    if (id != kNoNode) {
      names.push_back(graph.IsLive(id) ? graph.node(id).name : std::string());
      continue;
    }
    if (names.size() > 3) {
      QueueRunner& runner = runners.emplace_back();
      runner.queue = names[0];
      runner.close_op = names[1];
      runner.cancel_op = names[2];
      runner.enqueue_ops.assign(names.begin() + 3, names.end());
    }
    names.clear();
  }
  return runners;
}

void AddQueueRunners(MetaGraph& meta) {
  for (const QueueRunnerDef& def : OrThrow(QueueRunnerDefs(meta))) {
    QueueRunner runner;
    runner.queue = def.queue;
    runner.enqueue_ops = def.enqueue_ops;
    runner.close_op = def.close_op;
    runner.cancel_op = def.cancel_op;
    AddQueueRunner(meta.graph, runner);
  }
}

int StartQueueRunners(const Graph& graph, Session& session, Coordinator& coordinator) {
  int threads = 0;
  for (const QueueRunner& runner : QueueRunners(graph)) {
    runner.Start(graph, session, coordinator);
    threads += static_cast<int>(runner.enqueue_ops.size());
  }
  return threads;
}

}  // namespace penstock
