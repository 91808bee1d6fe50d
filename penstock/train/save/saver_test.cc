#include "penstock/train/save/saver.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>

#include "penstock/client/constant.h"
#include "penstock/io/bundle.h"
#include "penstock/io/file_faults.h"
#include "penstock/io/table.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

class SaverTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!io::BuildTable({}).ok()) GTEST_SKIP() << "built without LevelDB";
    std::string pattern = (fs::temp_directory_path() / "saver_test_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override {
    io::SetFileFaults(nullptr);
    if (folder_.empty()) return;
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  size_t NumFiles() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

// A graph with variables of several types.
struct Model {
  Model() : Model("", {1.5f, -0.0f, std::numeric_limits<float>::infinity(), 4, 5, 6}) {}
  Model(const std::string& scope, const std::vector<float>& weights)
      : w(g, Array<float>(Shape{2, 3}, weights), scope + "dense/kernel"),
        b(g, Array<double>(std::vector<double>{0.1, 0.2}), scope + "dense/bias"),
        n(Variable<int64_t>::NotTrainable(g, Constant<int64_t>(g, 7), scope + "step")) {
    bump = Group(
        {w.AssignAdd(Constant<float>(g, Shape{2, 3}, 1.f)), n.AssignAdd(Constant<int64_t>(g, 1))});
    init = InitVariables(g);
  }

  Graph g;
  Variable<float> w;
  Variable<double> b;
  Variable<int64_t> n;
  Operation bump, init;
};

Code CodeOf(const std::function<void()>& call, std::string* message = nullptr) {
  try {
    call();
    return Code::kOk;
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
}

TEST_F(SaverTest, RestoresBitForBit) {
  Model m;
  Session session(m.g);
  session.Run(m.init);
  // A NaN with a payload.
  Tensor odd(DType::kFloat, Shape{2, 3});
  const uint32_t bits[6] = {0x7fc12345, 0xffa00001, 0x80000000, 1, 0x7f800000, 0x3f800000};
  std::memcpy(odd.mutable_raw(), bits, sizeof bits);
  const VariableValues::Assignment assignment(0, odd);
  VariableValues(m.g).Assign(session, {&assignment, 1});
  Saver saver(m.g);
  EXPECT_EQ(saver.Save(session, At("run/model.ckpt"), {.step = 3}), At("run/model.ckpt-3"));
  EXPECT_EQ(LatestCheckpoint(At("run")), At("run/model.ckpt-3"));

  Model fresh;
  Session other(fresh.g);  // nothing is initialized
  Saver reader(fresh.g);
  const RestoreReport report = reader.Restore(other, At("run/model.ckpt-3"));
  EXPECT_TRUE(report.complete()) << report.ToString();
  EXPECT_TRUE(report.unused.empty());
  EXPECT_EQ(std::memcmp(other.Run(fresh.w.Read()).data(), bits, sizeof bits), 0);
  EXPECT_EQ(other.Run(fresh.b.Read())[1], 0.2);
  EXPECT_EQ(static_cast<int64_t>(other.Run(fresh.n.Read())), 7);
  // What is restored is a variable like any other.
  other.Run(fresh.bump);
  EXPECT_EQ(static_cast<int64_t>(other.Run(fresh.n.Read())), 8);
  EXPECT_EQ(static_cast<int64_t>(session.Run(m.n.Read())), 7);
}

TEST_F(SaverTest, SavesWhatItWasAskedTo) {
  Model m;
  Session session(m.g);
  session.Run(m.init);
  Saver some(m.g, {.variables = {ParameterOf(m.g, m.b.handle())}});
  some.Save(session, At("b"), {.extra = {{"input/position", Tensor::Scalar<int64_t>(99)}}});
  EXPECT_EQ(io::BundleReader::Open(At("b"))->Names(),
            (std::vector<std::string>{"dense/bias", "input/position"}));
  EXPECT_EQ(ReadSaved(At("b"), "input/position").scalar<int64_t>(), 99);
  EXPECT_EQ(CodeOf([&] { ReadSaved(At("b"), "none"); }), Code::kNotFound);
  EXPECT_EQ(CodeOf([&] {
              some.Save(session, At("b"), {.extra = {{"dense/bias", Tensor()}}});
            }),
            Code::kInvalidArgument);
  const Parameter b = ParameterOf(m.g, m.b.handle());
  EXPECT_EQ(CodeOf([&] { Saver twice(m.g, {.variables = {b, b}}); }), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf([&] { some.Save(session, At("") + "/"); }), Code::kInvalidArgument);
}

TEST_F(SaverTest, RetainsTheMostRecentAlsoAfterARestart) {
  for (int start = 0; start < 2; ++start) {
    Model m;
    Session session(m.g);
    session.Run(m.init);
    Saver saver(m.g, {.retention = {.max_to_keep = 2}});
    for (int step = 0; step < 3; ++step) {
      session.Run(m.bump);
      saver.Save(session, At("m"), {.step = 10 * start + step});
    }
  }
  EXPECT_EQ(CheckpointsIn(folder_), (std::vector<std::string>{At("m-12"), At("m-11")}));
  EXPECT_EQ(NumFiles(), 5u);
}

TEST_F(SaverTest, LiesInSeveralFiles) {
  Model m;
  Session session(m.g);
  session.Run(m.init);
  Saver saver(m.g, {.max_shard_bytes = 16});
  saver.Save(session, At("m"));
  EXPECT_EQ(io::ReadBundleIndex(At("m"))->num_shards, 3);
  session.Run(m.bump);
  EXPECT_TRUE(saver.Restore(session, At("m")).complete());
  EXPECT_EQ(static_cast<int64_t>(session.Run(m.n.Read())), 7);
}

TEST_F(SaverTest, ReportsWhatDoesNotFit) {
  Model m;
  Session session(m.g);
  session.Run(m.init);
  Saver(m.g).Save(session, At("m"));

  Graph g;
  Variable<float> kernel(g, Array<float>(Shape{3, 2}, std::vector<float>(6)), "dense/kernel");
  Variable<float> bias(g, Array<float>(std::vector<float>{1, 2}), "dense/bias");
  Variable<float> more(g, Array<float>(std::vector<float>{3}), "more");
  Variable<int64_t> step(g, Constant<int64_t>(g, 0), "step");
  Session other(g);
  other.Run(InitVariables(g));
  Saver saver(g);
  std::string message;
  EXPECT_EQ(CodeOf([&] { saver.Restore(other, At("m")); }, &message), Code::kNotFound);
  for (const char* part : {"1 missing (more)",
                           "1 other shape (dense/kernel: saved float [2,3], "
                           "wanted float [3,2])",
                           "1 other dtype (dense/bias: saved double [2], wanted float [2])"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_EQ(static_cast<int64_t>(other.Run(step.Read())), 0);  // nothing was touched
  const RestoreReport report = saver.Restore(other, At("m"), {.partial = true});
  EXPECT_EQ(static_cast<int64_t>(other.Run(step.Read())), 7);
  EXPECT_EQ(static_cast<float>(other.Run(more.Read())), 3);
  EXPECT_EQ(report.Count(Match::kRestored), 1u);
  EXPECT_EQ(report.ToString(), At("m") +
                                   ": 1 of 4 variables restored\n"
                                   "  variable      result       wanted       saved\n"
                                   "  dense/kernel  other shape  float [3,2]  float [2,3]\n"
                                   "  dense/bias    other dtype  float [2]    double [2]\n"
                                   "  more          missing      float [1]    -\n");
}

TEST_F(SaverTest, MapsNames) {
  Model m("old/", std::vector<float>(6, 2.f));
  Session session(m.g);
  session.Run(m.init);
  Saver(m.g).Save(session, At("m"));
  Model fresh("new/net/", std::vector<float>(6));
  Session other(fresh.g);
  Saver saver(fresh.g);
  EXPECT_EQ(CodeOf([&] { saver.Restore(other, At("m")); }), Code::kNotFound);
  const RestoreReport report = saver.Restore(
      other, At("m"),
      {.names = {{"nothing/", ""}, {"old/", "new/net/"}, {"old/step", "new/net/step"}}});
  EXPECT_TRUE(report.complete()) << report.ToString();
  EXPECT_EQ(other.Run(fresh.w.Read())[0], 2.f);
  EXPECT_NE(report.ToString().find("restored (as old/dense/kernel)"), std::string::npos);
}

// Variables larger than what is held at once are read into their own memory.
TEST_F(SaverTest, LargeVariables) {
  constexpr int64_t kElements = 10 << 20;  // 40 MB
  Graph g;
  Variable<float> v(g, Constant<float>(g, Shape{kElements}, 1.f), "v");
  Variable<float> small(g, Constant<float>(g, 5.f), "small");
  const Operation add = v.AssignAdd(Constant<float>(g, Shape{kElements}, 1.f));
  Session session(g);
  session.Run(InitVariables(g));
  Saver saver(g);
  saver.Save(session, At("m"));
  session.Run(add);
  const float* const memory = session.Run(v.Read()).data();
  saver.Restore(session, At("m"));
  const Array<float> value = session.Run(v.Read());
  EXPECT_EQ(value.data(), memory);
  EXPECT_EQ(value[0], 1.f);
  EXPECT_EQ(value[kElements - 1], 1.f);
  session.Run(add);  // `value` is held: the variable leaves it behind
  saver.Restore(session, At("m"));
  EXPECT_EQ(session.Run(v.Read())[kElements / 2], 1.f);
  // Damage: an error, and what was small enough to be read before is not lost.
  {
    std::fstream file(At("m.data-00000-of-00001"), std::ios::in | std::ios::out);
    file.seekp(1 << 20);
    file.put('x');
  }
  EXPECT_EQ(CodeOf([&] { saver.Restore(session, At("m")); }), Code::kDataLoss);
  EXPECT_EQ(static_cast<float>(session.Run(small.Read())), 5.f);
  EXPECT_EQ(CodeOf([&] { session.Run(v.Read()); }), Code::kFailedPrecondition);
  session.Run(InitVariables(g));
}

TEST_F(SaverTest, BadCheckpointsAreRefused) {
  Model m;
  Session session(m.g);
  session.Run(m.init);
  Saver saver(m.g);
  saver.Save(session, At("m"));
  session.Run(m.bump);
  std::string message;
  const auto restore = [&](const std::string& prefix) {
    return CodeOf([&] { saver.Restore(session, prefix); }, &message);
  };
  EXPECT_EQ(restore(At("none")), Code::kNotFound);
  EXPECT_EQ(restore(folder_), Code::kNotFound);
  EXPECT_NE(message.find("is a folder"), std::string::npos) << message;
  EXPECT_EQ(restore(At("m.index")), Code::kNotFound);
  EXPECT_NE(message.find("expected its prefix"), std::string::npos) << message;
  std::ofstream(At("x.h5")) << "\x89HDF\r\n";
  EXPECT_EQ(restore(At("x.h5")), Code::kInvalidArgument);
  EXPECT_NE(message.find("HDF5"), std::string::npos) << message;
  fs::create_directory(At("d.index"));
  EXPECT_EQ(restore(At("d")), Code::kNotFound);
  // Cut files, cut anywhere.
  const std::string data = At("m.data-00000-of-00001"), index = At("m.index");
  for (const std::string& path : {data, index}) {
    const auto size = fs::file_size(path);
    fs::copy(path, At("good"));
    for (uintmax_t cut = 0; cut < size; cut += 5) {
      fs::resize_file(path, cut);
      EXPECT_EQ(restore(At("m")), Code::kDataLoss) << path << " cut at " << cut;
    }
    fs::rename(At("good"), path);
  }
  // Every byte changed.
  const auto size = fs::file_size(data);
  for (uintmax_t i = 0; i < size; ++i) {
    std::fstream file(data, std::ios::in | std::ios::out);
    file.seekg(static_cast<int64_t>(i));
    const int old = file.get();
    file.seekp(static_cast<int64_t>(i));
    file.put(static_cast<char>(old ^ 4));
    file.close();
    EXPECT_EQ(restore(At("m")), Code::kDataLoss) << i;
    std::fstream again(data, std::ios::in | std::ios::out);
    again.seekp(static_cast<int64_t>(i));
    again.put(static_cast<char>(old));
  }
  fs::rename(data, At("away"));
  EXPECT_EQ(restore(At("m")), Code::kNotFound);
  fs::rename(At("away"), data);
  // A small checkpoint is restored whole or not at all: nothing above has changed a variable.
  EXPECT_EQ(static_cast<int64_t>(session.Run(m.n.Read())), 8);
  EXPECT_EQ(session.Run(m.w.Read())[3], 5);
  EXPECT_EQ(restore(At("m")), Code::kOk) << message;
  EXPECT_EQ(static_cast<int64_t>(session.Run(m.n.Read())), 7);
}

TEST_F(SaverTest, FallsBackToAnOlderOne) {
  Model m;
  Session session(m.g);
  session.Run(m.init);
  Saver saver(m.g);
  EXPECT_EQ(CodeOf([&] { saver.RestoreLatest(session, folder_); }), Code::kNotFound);
  EXPECT_EQ(CodeOf([&] { saver.RestoreLatest(session, At("none")); }), Code::kNotFound);
  for (int step = 0; step < 3; ++step) {
    saver.Save(session, At("m"), {.step = step});
    session.Run(m.bump);
  }
  fs::resize_file(At("m-2.data-00000-of-00001"), 3);
  EXPECT_EQ(saver.RestoreLatest(session, folder_).checkpoint, At("m-1"));
  EXPECT_EQ(static_cast<int64_t>(session.Run(m.n.Read())), 8);
  fs::remove(At("m-1.index"));
  EXPECT_EQ(saver.RestoreLatest(session, folder_).checkpoint, At("m-0"));
  // Without a state file, or with a damaged one, the folder says what there is.
  std::ofstream(At("checkpoint")) << "model_checkpoint_pa";
  EXPECT_EQ(saver.RestoreLatest(session, folder_).checkpoint, At("m-0"));
  fs::remove(At("checkpoint"));
  EXPECT_EQ(saver.RestoreLatest(session, folder_).checkpoint, At("m-0"));
  saver.Save(session, At("m"), {.step = 3});
  // A folder that was moved.
  const std::string moved = At("").substr(0, At("").size() - 1) + "_moved";
  fs::rename(folder_, moved);
  EXPECT_EQ(LatestCheckpoint(moved), moved + "/m-3");
  fs::rename(moved, folder_);
}

TEST_F(SaverTest, FullDisksAndReadOnlyFolders) {
  Model m;
  Session session(m.g);
  session.Run(m.init);
  Saver saver(m.g);
  saver.Save(session, At("m"), {.step = 1});
  struct Full final : io::FileFaults {
    io::FileFault Before(const io::FileEvent& event) override {
      if (event.action != io::FileAction::kWrite) return {};
      return {.error = ENOSPC, .bytes = event.bytes / 2};
    }
  } full;
  io::SetFileFaults(&full);
  std::string message;
  EXPECT_EQ(CodeOf([&] { saver.Save(session, At("m"), {.step = 2}); }, &message),
            Code::kResourceExhausted);
  EXPECT_NE(message.find("m-2"), std::string::npos) << message;
  io::SetFileFaults(nullptr);
  EXPECT_EQ(NumFiles(), 3u);
  struct ReadOnly final : io::FileFaults {
    io::FileFault Before(const io::FileEvent&) override { return {.error = EROFS}; }
  } read_only;
  io::SetFileFaults(&read_only);
  EXPECT_EQ(CodeOf([&] { saver.Save(session, At("m"), {.step = 2}); }), Code::kPermissionDenied);
  EXPECT_EQ(CodeOf([&] { saver.Save(session, At("new/m")); }), Code::kPermissionDenied);
  io::SetFileFaults(nullptr);
  EXPECT_EQ(NumFiles(), 3u);
  // Where a file is in the way of a folder.
  EXPECT_EQ(CodeOf([&] { saver.Save(session, At("checkpoint/m")); }), Code::kInvalidArgument);
  if (geteuid() != 0) {
    fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(CodeOf([&] { saver.Save(session, At("m"), {.step = 2}); }), Code::kPermissionDenied);
    EXPECT_EQ(CodeOf([&] { saver.Save(session, At("new/m")); }), Code::kPermissionDenied);
    fs::permissions(folder_, fs::perms::owner_all);
  }
  EXPECT_EQ(CodeOf([&] { saver.Save(session, "/proc/none/m"); }), Code::kNotFound);
  saver.RestoreLatest(session, folder_);
  saver.Save(session, At("m"), {.step = 2});
}

// Holds writes back until it is opened.
class Gate final : public io::FileFaults {
 public:
  explicit Gate(int error) : error_(error) {}
  io::FileFault Before(const io::FileEvent& event) override {
    if (event.action != io::FileAction::kWrite) return {};
    std::unique_lock lock(mu_);
    opened_.wait(lock, [&] { return is_open_; });
    return {.error = error_};
  }
  void Open() {
    std::lock_guard lock(mu_);
    is_open_ = true;
    opened_.notify_all();
  }

 private:
  const int error_;
  std::mutex mu_;
  std::condition_variable opened_;
  bool is_open_ = false;
};

TEST_F(SaverTest, SavesInTheBackground) {
  Model m;
  Session session(m.g);
  session.Run(m.init);
  Saver saver(m.g);
  Gate gate(0);
  io::SetFileFaults(&gate);
  EXPECT_EQ(saver.SaveAsync(session, At("m"), {.step = 1}), At("m-1"));
  EXPECT_TRUE(saver.is_saving());
  for (int i = 0; i < 10; ++i) session.Run(m.bump);  // does not wait for the disk
  std::string message;
  EXPECT_EQ(
      CodeOf([&] { saver.SaveAsync(session, At("m"), {.step = 2}, Saver::WhenBusy::kRefuse); },
             &message),
      Code::kUnavailable);
  EXPECT_NE(message.find("m-1"), std::string::npos) << message;
  EXPECT_FALSE(LatestCheckpoint(folder_).has_value());
  gate.Open();
  saver.SaveAsync(session, At("m"), {.step = 2});  // waits for the first
  saver.Wait();
  EXPECT_FALSE(saver.is_saving());
  io::SetFileFaults(nullptr);
  // As they were when it was asked for.
  saver.Restore(session, At("m-1"));
  EXPECT_EQ(static_cast<int64_t>(session.Run(m.n.Read())), 7);
  EXPECT_EQ(session.Run(m.w.Read())[3], 4);
  saver.Restore(session, At("m-2"));
  EXPECT_EQ(static_cast<int64_t>(session.Run(m.n.Read())), 17);
}

TEST_F(SaverTest, ErrorsInTheBackgroundAreSeen) {
  Model m;
  Session session(m.g);
  session.Run(m.init);
  Saver saver(m.g);
  Gate gate(ENOSPC);
  gate.Open();
  io::SetFileFaults(&gate);
  std::string message;
  saver.SaveAsync(session, At("m"), {.step = 1});
  EXPECT_EQ(CodeOf([&] { saver.Wait(); }, &message), Code::kResourceExhausted);
  EXPECT_NE(message.find("saving " + At("m-1")), std::string::npos) << message;
  EXPECT_EQ(CodeOf([&] { saver.Wait(); }), Code::kOk);  // once
  saver.SaveAsync(session, At("m"), {.step = 2});
  while (saver.is_saving()) std::this_thread::yield();
  io::SetFileFaults(nullptr);
  EXPECT_EQ(CodeOf([&] { saver.SaveAsync(session, At("m"), {.step = 3}); }),
            Code::kResourceExhausted);
  saver.SaveAsync(session, At("m"), {.step = 3});
  saver.Wait();
  EXPECT_EQ(CheckpointsIn(folder_), std::vector<std::string>{At("m-3")});
  EXPECT_EQ(NumFiles(), 3u);
}

TEST_F(SaverTest, VariablesWithoutAValue) {
  Model m;
  Session session(m.g);
  Saver saver(m.g);
  std::string message;
  EXPECT_EQ(CodeOf([&] { saver.Save(session, At("m")); }, &message), Code::kFailedPrecondition);
  EXPECT_NE(message.find("dense/kernel"), std::string::npos) << message;
  EXPECT_EQ(NumFiles(), 0u);
}

// Graphs that were read have no collections; their variables may be references.
TEST_F(SaverTest, VariablesByReference) {
  Graph g;
  const NodeId v = OrThrow(g.AddNode(
      {.op = "VariableV2", .name = "v", .attrs = {{"dtype", DType::kFloat}, {"shape", Shape{2}}}}));
  const NodeId value = Constant(g, Array<float>(std::vector<float>{1, 2})).ref().node;
  const NodeId assign =
      OrThrow(g.AddNode({.op = "Assign", .name = "a", .inputs = {{v, 0}, {value, 0}}}));
  Session session(g);
  session.Run(Operation(g, assign));
  Saver saver(g);
  ASSERT_EQ(saver.variables().size(), 1u);
  saver.Save(session, At("m"));
  Session other(g);
  saver.Restore(other, At("m"));
  EXPECT_EQ(VariableValues(g).Read(other)[0].ToString(), "float [2] {1, 2}");
}

}  // namespace
}  // namespace penstock
