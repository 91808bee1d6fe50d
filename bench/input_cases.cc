// What reading data costs: records parsed and batched, with nobody who uses them.
#include <sys/stat.h>

#include <cstdlib>

#include "bench/bench.h"
#include "penstock/client/queue_runner.h"
#include "penstock/client/variable.h"
#include "penstock/io/record.h"
#include "penstock/io/wire_writer.h"
#include "penstock/train/data/input_queue.h"
#include "penstock/train/data/tf_examples.h"

namespace penstock::bench {
namespace {

constexpr int64_t kExamples = 100'000, kPixels = 784, kBatch = 128;

// An Example of the size of Fashion-MNIST's: {"image": 784 bytes, "label": 0 to 9}. peers/peer.py
// writes the same.
std::string MakeExample(int64_t i) {
  using io::WireWriter;
  std::string image(kPixels, '\0');
  for (int64_t p = 0; p < kPixels; ++p) image[p] = static_cast<char>(i * 7 + p);
  const auto entry = [](const char* name, uint32_t kind, const std::string& list) {
    const std::string feature = WireWriter().Bytes(kind, list).text();
    return WireWriter().Bytes(1, name).Bytes(2, feature).text();
  };
  const std::string label(1, static_cast<char>(i % 10));
  const std::string features = WireWriter()
                                   .Bytes(1, entry("image", 1, WireWriter().Bytes(1, image).text()))
                                   .Bytes(1, entry("label", 3, WireWriter().Bytes(1, label).text()))
                                   .text();
  return WireWriter().Bytes(1, features).text();
}

// The file that both sides read; written once.
std::string ExamplesFile() {
  const char* folder = std::getenv("TMPDIR");
  const std::string path =
      std::string(folder == nullptr ? "/tmp" : folder) + "/penstock_bench_examples.tfrecord";
  const int64_t record = static_cast<int64_t>(MakeExample(0).size()) + 16;
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && info.st_size == kExamples * record) return path;
  io::RecordWriter writer = OrThrow(io::RecordWriter::Open(path));
  for (int64_t i = 0; i < kExamples; ++i) OrThrow(writer.Write(MakeExample(i)));
  OrThrow(writer.Close());
  return path;
}

const Feature<uint8_t> kImage{.name = "image", .shape = {kPixels}};
const Feature<int64_t> kLabel{.name = "label", .limit = 10};

Figure InputTfRecord(const Options& options) {
  const auto data = TfExamples({ExamplesFile()}, {.threads = options.threads}, kImage, kLabel)
                        .Batch(kBatch)
                        .Prefetch(2);
  int64_t count = 0;
  const auto read = [&] {
    count = 0;
    for (const auto& [images, labels] : data) count += labels.size();
  };
  const double ms = MedianMs(read, 5, 1);
  if (count != kExamples) throw Error(DataLoss("expected {} examples, got {}", kExamples, count));
  return {kExamples / ms * 1e3, "examples/s"};
}

Figure InputQueueCase(const Options& options) {
  const auto read = [&, file = ExamplesFile()] {
    Graph g;
    auto [images, labels] =
        InputQueue(g, {file}, {.batch = kBatch, .threads = options.threads, .read_block = kBatch},
                   kImage, kLabel);
    Session session(g);
    session.Run(InitVariables(g));
    Coordinator coordinator;
    StartQueueRunners(g, session, coordinator);
    int64_t count = 0;
    while (count < kExamples) count += std::get<1>(session.Run(Fetch(images, labels))).size();
    coordinator.RequestStop();
    coordinator.Join();
  };
  return {kExamples / MedianMs(read, 3, 1) * 1e3, "examples/s"};
}

}  // namespace

void AddInputCases(std::vector<Case>& cases) {
  cases.push_back({"input_tfrecord",
                   "100,000 Examples of 784 bytes and a label, parsed in batches of 128",
                   InputTfRecord});
  cases.push_back(
      {"input_queue", "the same through the graph's readers and queues", InputQueueCase});
}

}  // namespace penstock::bench
