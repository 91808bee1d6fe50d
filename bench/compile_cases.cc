// What building and compiling a graph costs, in time and memory.
#include <chrono>
#include <string>

#include "bench/bench.h"
#include "penstock/device/device.h"
#include "penstock/penstock.h"

namespace penstock::bench {
namespace {

double Seconds(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// A chain of additions.
Output<float> BuildGraph(const Output<float>& x, int nodes) {
  Output<float> y = x;
  for (int i = 1; i < nodes; ++i) y = y + x;
  return y;
}

Figure BuildAndCompile(const Options& options, int nodes) {
  return {Seconds([&] {
            Graph g;
            const auto x = Placeholder<float>(g, Shape{4});
            const auto y = BuildGraph(x, nodes);
            Session session(g,
                            {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}});
            session.Run({{x, std::vector<float>(4, 1.f)}}, y);
          }) * 1e3,
          "ms"};
}

Figure BytesPerNode(const Options&) {
  Graph g;
  BuildGraph(Placeholder<float>(g, Shape{4}), 100'000);
  return {static_cast<double>(g.MemoryBytes()) / g.num_nodes(), "B/node"};
}

// 100 layers over 16M floats with fusion off, in buffers of 64 MiB at the peak.
Figure ChainMemory(const Options& options) {
  constexpr int64_t kElements = 16 << 20;
  Graph g;
  const auto x = Placeholder<float>(g, Shape{kElements});
  Output<float> y = x;
  for (int i = 0; i < 100; ++i) y = Tanh(y);
  LocalSessionOptions local;
  local.device = MakeCpuDevice({.threads = options.threads});
  local.disabled_passes = {"fuse"};
  const auto session = MakeLocalSession(g, local);
  const Tensor feed = Array<float>(std::vector<float>(kElements, 0.5f)).tensor();
  OrThrow(session->Run({{x.ref()}, {y.ref()}, {}}, {&feed, 1}, {}, nullptr));
  return {static_cast<double>(local.device->allocator()->stats().peak_bytes) /
              (kElements * sizeof(float)),
          "buffers"};
}

}  // namespace

void AddCompileCases(std::vector<Case>& cases) {
  for (const int nodes : {10'000, 100'000, 1'000'000}) {
    cases.push_back({"graph_" + std::to_string(nodes / 1000) + "k",
                     "build, compile and run once a graph of so many nodes",
                     [nodes](const Options& options) { return BuildAndCompile(options, nodes); }});
  }
  cases.push_back({"graph_bytes", "memory of a node of a graph of 100,000", BytesPerNode});
  cases.push_back(
      {"chain_memory", "peak of 100 element-wise layers over 16M floats, unfused", ChainMemory});
}

}  // namespace penstock::bench
