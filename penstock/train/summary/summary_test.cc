#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "penstock/client/constant.h"
#include "penstock/client/operators.h"
#include "penstock/client/session.h"
#include "penstock/io/event_file.h"
#include "penstock/io/image/png.h"
#include "penstock/io/wire_reader.h"
#include "penstock/train/summary/summary_ops.h"
#include "penstock/train/summary/summary_writer.h"
#include "penstock/train/testing/log_lines.h"

namespace penstock {
namespace {

using io::Event;

std::string NewFolder(const std::string& name) {
  const std::string folder = testing::TempDir() + "summary_test_" + name;
  std::filesystem::remove_all(folder);
  return folder;
}

std::vector<Event> ReadEvents(const std::string& path) {
  std::vector<Event> events;
  Result<io::RecordReader> reader = io::RecordReader::Open(path);
  EXPECT_TRUE(reader.ok()) << reader.status().ToString();
  std::string record;
  while (true) {
    const Result<bool> more = reader->Read(&record);
    if (!more.ok() || !*more) return events;
    const Result<Event> event = io::ParseEvent(record);
    EXPECT_TRUE(event.ok()) << event.status().ToString();
    events.push_back(*event);
  }
}

std::string Hex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

// The first field of that number of a message, by a path of numbers.
std::string Field(std::string_view message, std::initializer_list<uint32_t> path) {
  std::string found(message);
  for (const uint32_t field : path) {
    io::WireReader reader(found);
    bool has = false;
    while (!has && reader.Next()) has = reader.Is(field, io::WireReader::kBytes);
    if (!has) return "(none)";
    found = std::string(reader.bytes());
  }
  return found;
}

// While it lives, no file can grow past `bytes`: what a full disk looks like from here.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &old_);
    old_handler_ = signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_);
    signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_;
  sighandler_t old_handler_;
};

// Recorded from the messages of TensorBoard 2.21.
TEST(HyperParameters, AreTheBytesOfTensorBoard) {
  const std::string head =
      "1c5f68706172616d735f2f73657373696f6e5f73746172745f696e666f4206080112021200";
  EXPECT_EQ(Hex(RunStartSummary({{"act", "relu"}}, 1.5)),
            "0a4f0a" + head +
                "4a270a250a0768706172616d73121a1a180a0d0a0361637412061a0472656c75"
                "29000000000000f83f");
  EXPECT_EQ(Hex(RunStartSummary({{"layers", 3}}, 1.5)),
            "0a550a" + head +
                "4a2d0a2b0a0768706172616d7312201a1e0a130a066c61796572731209110000000000000840"
                "29000000000000f83f");
  EXPECT_EQ(Hex(RunStartSummary({{"nesterov", true}}, 1.5)),
            "0a500a" + head +
                "4a280a260a0768706172616d73121b1a190a0e0a086e65737465726f7612022001"
                "29000000000000f83f");
  EXPECT_EQ(Hex(RunEndSummary(true, 2.5)),
            "0a400a1a5f68706172616d735f2f73657373696f6e5f656e645f696e666f42060801120212004a1a"
            "0a180a0768706172616d73120d220b0801110000000000000440");
  EXPECT_EQ(Hex(ExperimentSummary({{"act", "relu"}, {"layers", 3}, {"nesterov", true}}, {"loss"})),
            "0a5c0a145f68706172616d735f2f6578706572696d656e7442060801120212004a3c0a3a0a0768706172"
            "616d73122f122d22070a036163742001220a0a066c61796572732003220c0a086e65737465726f762002"
            "2a080a0612046c6f7373");
}

TEST(SummaryWriter, WritesEachKindOnce) {
  const std::string folder = NewFolder("kinds");
  Graph graph;
  Constant(graph, 1.f);
  std::string path;
  {
    SummaryWriter writer(folder);
    path = writer.path();
    writer.AddScalar("loss", 0.5, 1);
    writer.AddHistogram("w", Tensor::FromValues<float>({3}, {-1, 0, 2}), 2);
    writer.AddImages("x", Tensor::FromValues<uint8_t>({1, 2, 1}, {0, 255}), 3);
    writer.AddText("note", "*hello*", 4);
    writer.AddGraph(graph);
    writer.AddRunMetadata("step5", {.chrome_trace = "", .step_stats = "stats"}, 5);
    writer.AddHyperParameters({{"rate", 0.1}}, {"loss"});
    writer.AddRunEnd(true);
  }
  const std::vector<Event> events = ReadEvents(path);
  ASSERT_EQ(events.size(), 10u);
  EXPECT_EQ(events[0].content, "brain.Event:2");
  for (int64_t i = 1; i <= 4; ++i) EXPECT_EQ(events[i].step, i);
  EXPECT_EQ(Field(events[1].content, {1, 1}), "loss");
  EXPECT_EQ(Field(events[2].content, {1, 5}).substr(0, 1), "\x09");
  EXPECT_EQ(Field(events[3].content, {1, 9, 1, 1}), "images");
  EXPECT_EQ(Field(events[4].content, {1, 8, 8}), "*hello*");
  EXPECT_EQ(events[5].kind, Event::kGraph);
  EXPECT_EQ(events[6].kind, Event::kRunMetadata);
  EXPECT_EQ(Field(events[6].content, {2, 1}), "stats");
  EXPECT_EQ(Field(events[7].content, {1, 1}), "_hparams_/experiment");
  EXPECT_EQ(Field(events[8].content, {1, 1}), "_hparams_/session_start_info");
  EXPECT_EQ(Field(events[9].content, {1, 1}), "_hparams_/session_end_info");
  EXPECT_GT(events[1].wall_time, 1.7e9);
}

TEST(SummaryWriter, FlushesByTime) {
  SummaryWriter writer(NewFolder("time"), {.flush_every = std::chrono::milliseconds(20)});
  writer.AddScalar("a", 1, 1);
  for (int i = 0; i < 500 && ReadEvents(writer.path()).size() < 2; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(ReadEvents(writer.path()).size(), 2u);
}

TEST(SummaryWriter, FlushesWhenAsked) {
  SummaryWriter writer(NewFolder("asked"), {.flush_every = std::chrono::hours(1)});
  for (int64_t step = 0; step < 1000; ++step) writer.AddScalar("a", 1, step);
  writer.Flush();
  EXPECT_EQ(ReadEvents(writer.path()).size(), 1001u);
  writer.Flush();  // with nothing to write
}

TEST(SummaryWriter, HistogramsLeaveOutWhatIsNotFinite) {
  LogLines log;
  const std::string folder = NewFolder("nan");
  SummaryWriter writer(folder);
  writer.AddHistogram("w", Tensor::FromValues<float>({3}, {1, NAN, INFINITY}), 1);
  writer.AddHistogram("all", Tensor::FromValues<float>({1}, {NAN}), 1);
  writer.Flush();
  EXPECT_EQ(ReadEvents(writer.path()).size(), 2u);
  EXPECT_TRUE(log.Has("w at step 1: 2 of 3 values are not finite")) << log.text();
  EXPECT_THROW(writer.AddHistogram("s", Tensor::Scalar(std::string("x")), 1), Error);
}

TEST(SummaryWriter, ImagesMayBeFloats) {
  SummaryWriter writer(NewFolder("images"));
  writer.AddImages("x", Tensor::FromValues<float>({1, 1, 4, 1}, {-1, 0.5, 2, NAN}), 1);
  writer.Flush();
  const std::string tensor = Field(ReadEvents(writer.path())[1].content, {1, 8});
  std::string png;
  for (io::WireReader reader(tensor); reader.Next();)
    if (reader.Is(8, io::WireReader::kBytes)) png = reader.bytes();  // the last
  std::vector<uint8_t> pixels;
  ASSERT_TRUE(io::DecodePng(png, {}, [&](const io::ImageExtent& extent) -> Result<uint8_t*> {
                pixels.resize(extent.height * extent.width * extent.channels);
                return pixels.data();
              }).ok());
  EXPECT_EQ(pixels, (std::vector<uint8_t>{0, 128, 255, 0}));
  EXPECT_THROW(writer.AddImages("x", Tensor::Scalar(1.f), 1), Error);
  EXPECT_THROW(writer.AddImages("x", Tensor(DType::kFloat, {1, 1, 1, 2}), 1), Error);
  EXPECT_THROW(writer.AddImages("x", Tensor(DType::kFloat, {1, 0, 1, 1}), 1), Error);
}

TEST(SummaryWriter, AReadOnlyFolderIsAnError) {
  if (geteuid() == 0) {
    // Root may write anywhere, but not into a file's place or /proc.
    EXPECT_THROW(SummaryWriter("/proc/penstock"), Error);
    return;
  }
  const std::string folder = NewFolder("read_only");
  std::filesystem::create_directories(folder);
  ASSERT_EQ(chmod(folder.c_str(), 0500), 0);
  try {
    SummaryWriter writer(folder);
    ADD_FAILURE() << "it could be written";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(folder), std::string::npos) << error.what();
  }
}

TEST(SummaryWriter, GoesOnWhenTheDiskIsFull) {
  LogLines log;
  const std::string folder = NewFolder("full");
  SummaryWriter writer(folder, {.flush_every = std::chrono::hours(1)});
  const std::string first = writer.path();
  {
    FullDisk full(64);
    writer.AddText("long", std::string(1000, 'x'), 1);
    writer.Flush();
    EXPECT_EQ(writer.num_lost_events(), 1);
    EXPECT_TRUE(log.Has("training goes on without them")) << log.text();
  }
  writer.AddScalar("a", 1, 2);
  writer.Flush();
  EXPECT_EQ(writer.num_lost_events(), 1);
  EXPECT_NE(writer.path(), first) << "the first file ends inside a record";
  EXPECT_EQ(ReadEvents(first).size(), 1u);
  EXPECT_EQ(ReadEvents(writer.path()).size(), 2u);
}

TEST(SummaryWriter, ThrowsWhenTheDiskIsFullAndThatIsAsked) {
  LogLines log;
  SummaryWriter writer(NewFolder("throws"), {.on_error = OnWriteError::kThrow});
  FullDisk full(64);
  writer.AddText("long", std::string(1000, 'x'), 1);
  EXPECT_THROW(writer.Flush(), Error);
  EXPECT_THROW(writer.AddScalar("a", 1, 1), Error);
}

TEST(SummaryWriter, ManyThreadsMayWrite) {
  SummaryWriter writer(NewFolder("threads"));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int64_t step = 0; step < 250; ++step) writer.AddScalar("a", 1, step);
      writer.Flush();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(ReadEvents(writer.path()).size(), 1001u);
}

TEST(SummaryOps, GiveWhatTheWriterTakes) {
  Graph graph;
  const auto x = Constant(graph, Array<float>(std::vector<float>{1, 2}));
  const auto loss = Constant(graph, 0.25f);
  EXPECT_THROW(MergeAllSummaries(graph), Error);
  ScalarSummary("loss", loss);
  HistogramSummary("x", x);
  ImageSummary("image", Constant(graph, Array<float>({1, 1, 1, 1}, {1})), 1);
  const auto all = MergeAllSummaries(graph);
  Session session(graph);
  const std::string bytes = session.Run(all)[0];
  EXPECT_EQ(Hex(bytes).substr(0, 26), "0a0b0a046c6f7373150000803e");
  SummaryWriter writer(NewFolder("ops"));
  writer.AddSummary(bytes, 7);
  writer.Flush();
  const std::vector<Event> events = ReadEvents(writer.path());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[1].step, 7);
  EXPECT_EQ(events[1].content, bytes);
}

// What tests/interop/tensorboard_reader.py reads with TensorBoard itself.
TEST(SummaryWriter, WritesForTensorBoard) {
  const char* folder = std::getenv("PENSTOCK_EVENTS_FOLDER");
  if (folder == nullptr) GTEST_SKIP() << "run by tests/interop/tensorboard";
  Graph graph;
  const auto x = Constant(graph, Array<float>({1, 2, 2, 1}, {0, 1, 2, NAN}));
  const auto summary =
      MergeSummaries({ScalarSummary("op/loss", Constant(graph, 0.125f)),
                      HistogramSummary("op/w", Constant(graph, 3.f)), ImageSummary("op/x", x, 1)});
  Session session(graph);
  RunMetadata metadata;
  const RunOptions options{.trace = true};
  const std::vector<Tensor> fetched = session.Run({}, {summary.name()}, {}, options, &metadata);
  SummaryWriter writer(folder);
  for (int64_t step = 1; step <= 100; ++step) writer.AddScalar("loss", 1.0 / step, step);
  writer.AddHistogram("w", Tensor::FromValues<double>({4}, {-1.5, 0, 0.25, 7}), 5);
  writer.AddImages("digits", Tensor::FromValues<float>({2, 1, 2, 1}, {0, 1, 0.5, 0}), 6);
  writer.AddText("note", "**bold**", 7);
  writer.AddGraph(graph);
  writer.AddRunMetadata("step8", metadata, 8);
  writer.AddSummary(fetched[0].scalar<std::string>(), 9);
  writer.AddHyperParameters({{"rate", 0.1}, {"layers", 3}, {"act", "relu"}, {"nesterov", true}},
                            {"loss"});
  writer.AddRunEnd(true);
}

}  // namespace
}  // namespace penstock
