// What a fault leaves behind, at every change that saves make on the disk: the state of the last
// save that was acknowledged, or of one that came after it.

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "penstock/client/constant.h"
#include "penstock/core/check.h"
#include "penstock/core/log.h"
#include "penstock/io/file_faults.h"
#include "penstock/io/table.h"
#include "penstock/train/save/saver.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr int kSaves = 3;

// In memory where possible: thousands of syncs.
fs::path MakeFolder() {
  const fs::path root = fs::exists("/dev/shm") ? "/dev/shm" : fs::temp_directory_path();
  std::string pattern = (root / "saver_fault_XXXXXX").string();
  return mkdtemp(pattern.data());
}

struct Config {
  uint64_t max_shard_bytes;
  bool by_step;  // else each save replaces the one before
};
constexpr Config kConfigs[] = {{UINT64_MAX, true}, {8, true}, {UINT64_MAX, false}};

SessionOptions OneThread() {
  SessionOptions options;
  options.threads = 1;
  return options;
}

struct Model {
  Graph g;
  Variable<int64_t> a{g, Constant<int64_t>(g, 0), "a"};
  Variable<int64_t> b{g, Constant<int64_t>(g, 0), "b"};
  Variable<int64_t> c{g, Constant<int64_t>(g, 0), "c"};
  Operation add = Group({a.AssignAdd(Constant<int64_t>(g, 1)), b.AssignAdd(Constant<int64_t>(g, 1)),
                         c.AssignAdd(Constant<int64_t>(g, 1))});
  Operation init = InitVariables(g);
};

// Saves the values 1, 2, 3, and calls `acknowledge` with each that was.
void SaveAll(
    const fs::path& folder, const Config& config, int* failed,
    const std::function<void(int)>& acknowledge = [](int) {}) {
  Model m;
  Session session(m.g, OneThread());
  session.Run(m.init);
  Saver saver(m.g, {.retention = {.max_to_keep = 2}, .max_shard_bytes = config.max_shard_bytes});
  for (int i = 1; i <= kSaves; ++i) {
    session.Run(m.add);
    SaveRequest request;
    if (config.by_step) request.step = i;
    try {
      saver.Save(session, folder / "m", request);
      acknowledge(i);
    } catch (const Error&) {
      ++*failed;
    }
  }
}

// The value that the folder restores to; 0 when there is no checkpoint.
int64_t Restored(const fs::path& folder) {
  static Model& m = *new Model;
  static Session& session = *new Session(m.g, OneThread());
  static Saver& saver = *new Saver(m.g);
  try {
    saver.RestoreLatest(session, folder);
  } catch (const Error& error) {
    return error.code() == Code::kNotFound ? 0 : -1;
  }
  const int64_t a = session.Run(m.a.Read()), b = session.Run(m.b.Read()),
                c = session.Run(m.c.Read());
  return a == b && b == c ? a : -2;  // never a mix of two steps
}

size_t NumFiles(const fs::path& folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), {}));
}

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

class SaverFaultTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!io::BuildTable({}).ok()) GTEST_SKIP() << "built without LevelDB";
    folder_ = MakeFolder();
    SetLogSink([](LogLevel, std::string_view) {});  // it would tell of every damage
  }
  void TearDown() override {
    io::SetFileFaults(nullptr);
    SetLogSink({});
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  // The changes that the saves make.
  std::vector<io::FileAction> EventsOf(const Config& config) const {
    struct Recorder final : io::FileFaults {
      io::FileFault Before(const io::FileEvent& event) override {
        actions.push_back(event.action);
        return {};
      }
      std::vector<io::FileAction> actions;
    } recorder;
    Clear();
    io::SetFileFaults(&recorder);
    int failed = 0;
    SaveAll(folder_, config, &failed);
    io::SetFileFaults(nullptr);
    return recorder.actions;
  }
  void Clear() const {
    for (const auto& entry : fs::directory_iterator(folder_)) fs::remove_all(entry);
  }

  fs::path folder_;
};

// Runs the saves in a process of its own with the fault, and returns how many it acknowledged
// before it was killed.
int SavesBeforeTheEnd(const fs::path& folder, const Config& config, int event, Act act) {
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
  for (const Config& config : kConfigs) {
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
  for (const Config& config : kConfigs) {
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

// The disk as a machine that loses its power leaves it: what was not synced is gone.
class Disk final : public io::FileFaults {
 public:
  struct World {
    std::map<std::string, std::string> files;
    int acknowledged;
  };

  explicit Disk(const int* acknowledged) : acknowledged_(acknowledged) {}
  const std::vector<World>& worlds() const { return worlds_; }

  io::FileFault Before(const io::FileEvent& event) override {
    Apply();
    Keep();
    pending_ = {event.action, std::string(event.path), std::string(event.target)};
    return {};
  }
  // What is there before the next change.
  void Keep() {
    World world{{}, *acknowledged_};
    for (const auto& [path, file] : durable_names_) world.files[path] = durable_bytes_[file];
    worlds_.push_back(std::move(world));
  }

 private:
  struct Change {
    io::FileAction action;
    std::string path, target;
  };

  // The change before, which has happened by now.
  void Apply() {
    if (!pending_.has_value()) return;
    const Change& change = *pending_;
    switch (change.action) {
      case io::FileAction::kCreate:
        names_[change.path] = next_file_++;
        break;
      case io::FileAction::kRename:
        names_[change.target] = names_[change.path];
        names_.erase(change.path);
        break;
      case io::FileAction::kRemove:
        names_.erase(change.path);
        break;
      case io::FileAction::kSync: {
        std::ifstream in(change.path, std::ios::binary);
        durable_bytes_[names_[change.path]] = std::string(std::istreambuf_iterator<char>(in), {});
        break;
      }
      case io::FileAction::kSyncFolder:
        durable_names_ = names_;
        break;
      default:
        break;
    }
    pending_.reset();
  }

  const int* const acknowledged_;
  std::optional<Change> pending_;
  int next_file_ = 0;
  std::map<std::string, int> names_, durable_names_;
  std::map<int, std::string> durable_bytes_;
  std::vector<World> worlds_;
};

TEST_F(SaverFaultTest, PowerLostAtEveryChange) {
  for (const Config& config : kConfigs) {
    Clear();
    int acknowledged = 0, failed = 0;
    Disk disk(&acknowledged);
    io::SetFileFaults(&disk);
    SaveAll(folder_, config, &failed, [&](int i) { acknowledged = i; });
    io::SetFileFaults(nullptr);
    disk.Keep();
    EXPECT_EQ(acknowledged, kSaves);
    EXPECT_GT(disk.worlds().size(), 30u);
    for (size_t i = 0; i < disk.worlds().size(); ++i) {
      const Disk::World& world = disk.worlds()[i];
      Clear();
      for (const auto& [path, bytes] : world.files)
        std::ofstream(path, std::ios::binary)
            .write(bytes.data(), static_cast<int64_t>(bytes.size()));
      EXPECT_GE(Restored(folder_), world.acknowledged) << "before change " << i;
    }
  }
}

}  // namespace
}  // namespace penstock
