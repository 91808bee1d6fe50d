// What queues cost: elements between nodes of one step, and between the steps of many clients.
#include <atomic>
#include <thread>

#include "bench/bench.h"
#include "penstock/penstock.h"

namespace penstock::bench {
namespace {

// A queue of float scalars, and nodes that use it.
struct QueueGraph {
  explicit QueueGraph(int64_t capacity) {
    NodeSpec spec;
    spec.op = "FIFOQueueV2";
    spec.attrs = {{"component_types", std::vector<DType>{DType::kFloat}},
                  {"shapes", std::vector<Shape>{Shape()}},
                  {"capacity", capacity}};
    queue = OrThrow(graph.AddNode(spec));
    NodeSpec constant;
    constant.op = "Const";
    constant.attrs = {{"value", Tensor::Scalar(1.f)}, {"dtype", DType::kFloat}};
    one = OrThrow(graph.AddNode(constant));
  }
  Operation Enqueue() {
    NodeSpec spec;
    spec.op = "QueueEnqueueV2";
    spec.inputs = {{queue, 0}, {one, 0}};
    return Operation(graph, OrThrow(graph.AddNode(spec)));
  }
  Operation Dequeue() {
    NodeSpec spec;
    spec.op = "QueueDequeueV2";
    spec.inputs = {{queue, 0}};
    spec.attrs = {{"component_types", std::vector<DType>{DType::kFloat}}};
    return Operation(graph, OrThrow(graph.AddNode(spec)));
  }

  Graph graph;
  NodeId queue = kNoNode;
  NodeId one = kNoNode;
};

SessionOptions With(const Options& options) {
  return {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}};
}

Figure Queue1000(const Options& options) {
  QueueGraph g(1000);
  std::vector<Operation> all;
  for (int i = 0; i < 500; ++i) all.push_back(g.Enqueue());
  for (int i = 0; i < 500; ++i) all.push_back(g.Dequeue());
  const Operation step = Group(all);
  Session session(g.graph, With(options));
  return {1000 / MedianMs([&] { session.Run(step); }, 100, 10) * 1e3, "ops/s"};
}

Figure Queue1000Clients(const Options& options) {
  constexpr int kClients = 4, kSteps = 125;
  QueueGraph g(1000);
  const Operation put = g.Enqueue(), get = g.Dequeue();
  Session session(g.graph, With(options));
  session.Run(put);
  session.Run(get);
  auto thousand = [&] {
    std::vector<std::thread> threads;
    for (int c = 0; c < kClients; ++c) {
      for (const Operation& operation : {put, get}) {
        threads.emplace_back([&session, operation] {
          for (int i = 0; i < kSteps; ++i) session.Run(operation);
        });
      }
    }
    for (std::thread& thread : threads) thread.join();
  };
  return {1000 / MedianMs(thousand, 30, 3) * 1e3, "ops/s"};
}

}  // namespace

void AddQueueCases(std::vector<Case>& cases) {
  cases.push_back(
      {"queue_1000", "one step of 500 enqueues and 500 dequeues of a scalar", Queue1000});
  cases.push_back({"queue_1000_clients",
                   "4 clients that enqueue a scalar a step, 4 that dequeue one; 1,000 steps",
                   Queue1000Clients});
}

}  // namespace penstock::bench
