// What a fault leaves behind, at every change that saves make on the disk: the state of the last
// save that was acknowledged, or of one that came after it.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "penstock/core/check.h"
#include "penstock/train/testing/disturbed_saves.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

enum class Act { kKill, kTear, kNoSpace, kBroken, kShort };

class FaultAt final : public io::FileFaults {
 public:
  FaultAt(int event, Act act) : left_(event), act_(act) {}
  bool happened() const { return left_ < 0; }
  io::FileFault Before(const io::FileEvent& event) override {
    if (torn_) raise(SIGKILL);
    if (left_-- != 0) return {};
    const bool is_write = event.action == io::FileAction::kWrite;
    switch (act_) {
      case Act::kKill:
        raise(SIGKILL);
        break;
      case Act::kTear:
        if (!is_write) raise(SIGKILL);
        torn_ = true;  // half of the bytes, and the end comes before the next change
        return {.bytes = event.bytes / 2};
      case Act::kNoSpace:
        return {.error = ENOSPC, .bytes = 0};
      case Act::kBroken:
        return {.error = EIO, .bytes = event.bytes / 2};
      case Act::kShort:
        return {.bytes = event.bytes / 2};
    }
    return {};
  }

 private:
  int left_;
  const Act act_;
  bool torn_ = false;
};

// Runs the saves in a process of its own with the fault, and returns how many it acknowledged
// before it was killed.
int SavesBeforeTheEnd(const fs::path& folder, const SaveConfig& config, int event, Act act) {
  int channel[2];
  CHECK(pipe(channel) == 0);
  const pid_t child = fork();
  if (child == 0) {
    FaultAt fault(event, act);
    io::SetFileFaults(&fault);
    int failed = 0;
    // Told at once: what comes after may be the end.
    SaveAll(folder, config, &failed, [&](int) { (void)!write(channel[1], "x", 1); });
    _exit(0);
  }
  close(channel[1]);
  char told[kSaves + 1];
  int acknowledged = 0;
  for (ssize_t n; (n = read(channel[0], told, sizeof told)) > 0;)
    acknowledged += static_cast<int>(n);
  close(channel[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  return acknowledged;
}

TEST_F(SaverFaultTest, KilledAtEveryChange) {
  for (const SaveConfig& config : kConfigs) {
    const std::vector<io::FileAction> events = EventsOf(config);
    EXPECT_GT(events.size(), 30u);
    for (const Act act : {Act::kKill, Act::kTear}) {
      for (size_t event = 0; event < events.size(); ++event) {
        if (act == Act::kTear && events[event] != io::FileAction::kWrite) continue;
        Clear();
        const int acknowledged = SavesBeforeTheEnd(folder_, config, static_cast<int>(event), act);
        EXPECT_GE(Restored(folder_), acknowledged) << event;
        if (event % 3 != 0) continue;
        // The next one clears up what was left, and goes on.
        int failed = 0;
        SaveAll(folder_, config, &failed);
        EXPECT_EQ(failed, 0);
        EXPECT_EQ(Restored(folder_), kSaves);
        // Two checkpoints, which may have an empty file more when they were saved again, and the
        // state.
        EXPECT_LE(NumFiles(folder_), config.max_shard_bytes == 8 ? 11u : 7u) << event;
      }
    }
  }
}

TEST_F(SaverFaultTest, FailedAtEveryChange) {
  for (const SaveConfig& config : kConfigs) {
    for (const Act act : {Act::kNoSpace, Act::kBroken, Act::kShort}) {
      for (int event = 0;; ++event) {
        Clear();
        FaultAt fault(event, act);
        io::SetFileFaults(&fault);
        int acknowledged = 0, failed = 0;
        SaveAll(folder_, config, &failed, [&](int i) { acknowledged = i; });
        io::SetFileFaults(nullptr);
        EXPECT_GE(Restored(folder_), acknowledged) << event;
        EXPECT_LE(failed, 1);
        if (!fault.happened()) break;
        for (const auto& entry : fs::directory_iterator(folder_))
          EXPECT_EQ(entry.path().string().find(".tmp-"), std::string::npos) << entry.path();
      }
    }
  }
}

}  // namespace
}  // namespace penstock
