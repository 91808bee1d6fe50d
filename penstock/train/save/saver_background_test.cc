#include <gtest/gtest.h>

#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "penstock/io/file_faults.h"
#include "penstock/train/save/saver.h"
#include "penstock/train/testing/small_model.h"

namespace penstock {
namespace {

using SaverBackgroundTest = SaverTest;

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

TEST_F(SaverBackgroundTest, SavesInTheBackground) {
  SmallModel m;
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

TEST_F(SaverBackgroundTest, ErrorsInTheBackgroundAreSeen) {
  SmallModel m;
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

}  // namespace
}  // namespace penstock
