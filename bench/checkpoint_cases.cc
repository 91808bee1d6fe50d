// What saving and restoring a checkpoint of 1 GB costs, beside the disk: bench/checkpoint_rate sets
// the disk's own rate beside it.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/bench.h"
#include "penstock/penstock.h"
#include "penstock/train/save/saver.h"

namespace penstock::bench {
namespace {

constexpr int kVariables = 16;
constexpr int64_t kElements = 16 << 20;  // 64 MB each
constexpr double kMegabytes = 1024.0 * 1024 * 1024 * 1e-6;

// $PENSTOCK_BENCH_FOLDER, else the working folder: /tmp may lie in memory.
std::string Folder() {
  const char* folder = std::getenv("PENSTOCK_BENCH_FOLDER");
  return std::string(folder != nullptr ? folder : ".") + "/checkpoint_bench_" +
         std::to_string(getpid());
}

// The most that the process has held since `Reset`.
class PeakMemory {
 public:
  PeakMemory() { std::ofstream("/proc/self/clear_refs") << "5"; }
  double Megabytes() const {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("VmHWM:")) return std::strtod(line.c_str() + 6, nullptr) * 1024e-6;
    }
    return 0;
  }
};

struct Model {
  explicit Model(const Options& options) : session(graph, With(options)) {
    for (int i = 0; i < kVariables; ++i) {
      // No constant of that size, which the graph would keep.
      const Output<float> value = Fill(graph, kElements, static_cast<float>(i));
      Variable<float>(graph, value, "v" + std::to_string(i));
    }
    init = InitVariables(graph);
    saver.emplace(graph);
  }
  static SessionOptions With(const Options& options) {
    return {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}};
  }
  static Output<float> Fill(Graph& graph, int64_t elements, float value) {
    NodeSpec spec;
    spec.op = "Fill";
    spec.inputs = {Constant(graph, Array<int64_t>(std::vector<int64_t>{elements})).ref(),
                   Constant<float>(graph, value).ref()};
    const NodeId node = OrThrow(graph.AddNode(spec));
    graph.node(node).outputs[0].shape = Shape{elements};
    return Output<float>(graph, {node, 0});
  }

  Graph graph;
  Session session;
  Operation init;
  std::optional<Saver> saver;
};

double Seconds(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

enum class Figures { kWrite, kRead, kWriteMemory, kReadMemory };

// Saves, and restores over the values that are there.
Figure Measure(const Options& options, Figures which) {
  const std::string folder = Folder();
  Model model(options);
  model.session.Run(model.init);
  std::filesystem::create_directories(folder);
  const PeakMemory before_write;
  const double start = before_write.Megabytes();
  const double write = Seconds([&] { model.saver->Save(model.session, folder + "/m"); });
  const double write_memory = before_write.Megabytes() - start;
  const PeakMemory before_read;
  const double again = before_read.Megabytes();
  const double read = Seconds([&] { model.saver->Restore(model.session, folder + "/m"); });
  const double read_memory = before_read.Megabytes() - again;
  std::filesystem::remove_all(folder);
  switch (which) {
    case Figures::kWrite:
      return {kMegabytes / write, "MB/s"};
    case Figures::kRead:
      return {kMegabytes / read, "MB/s"};
    case Figures::kWriteMemory:
      return {write_memory, "MB"};
    case Figures::kReadMemory:
      return {read_memory, "MB"};
  }
  return {};
}

}  // namespace

void AddCheckpointCases(std::vector<Case>& cases) {
  const auto add = [&](const char* name, const char* what, Figures which) {
    cases.push_back(
        {name, what, [which](const Options& options) { return Measure(options, which); }});
  };
  add("checkpoint_write_1GB", "save 16 variables of 64 MB until they are on the disk",
      Figures::kWrite);
  add("checkpoint_read_1GB", "restore 16 variables of 64 MB from the disk", Figures::kRead);
  add("checkpoint_write_memory", "memory beside the variables while they are saved",
      Figures::kWriteMemory);
  add("checkpoint_read_memory", "memory beside the variables while they are restored",
      Figures::kReadMemory);
}

}  // namespace penstock::bench
