#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "penstock/io/file_faults.h"
#include "penstock/train/save/saver.h"
#include "penstock/train/testing/small_model.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

using SaverBadInputTest = SaverTest;

TEST_F(SaverBadInputTest, ReportsWhatDoesNotFit) {
  SmallModel m;
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

TEST_F(SaverBadInputTest, BadCheckpointsAreRefused) {
  SmallModel m;
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

TEST_F(SaverBadInputTest, FallsBackToAnOlderOne) {
  SmallModel m;
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

TEST_F(SaverBadInputTest, FullDisksAndReadOnlyFolders) {
  SmallModel m;
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

TEST_F(SaverBadInputTest, VariablesWithoutAValue) {
  SmallModel m;
  Session session(m.g);
  Saver saver(m.g);
  std::string message;
  EXPECT_EQ(CodeOf([&] { saver.Save(session, At("m")); }, &message), Code::kFailedPrecondition);
  EXPECT_NE(message.find("dense/kernel"), std::string::npos) << message;
  EXPECT_EQ(NumFiles(), 0u);
}

}  // namespace
}  // namespace penstock
