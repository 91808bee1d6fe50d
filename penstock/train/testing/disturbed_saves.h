#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "penstock/client/constant.h"
#include "penstock/core/log.h"
#include "penstock/io/file_faults.h"
#include "penstock/io/table.h"
#include "penstock/train/save/saver.h"

// Saves in a row, to be disturbed at any change that they make on the disk.

namespace penstock {

inline constexpr int kSaves = 3;

// In memory where possible: thousands of syncs.
inline std::filesystem::path MakeFolder() {
  const std::filesystem::path root =
      std::filesystem::exists("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
  std::string pattern = (root / "saver_fault_XXXXXX").string();
  return mkdtemp(pattern.data());
}

struct SaveConfig {
  uint64_t max_shard_bytes;
  bool by_step;  // else each save replaces the one before
};
inline constexpr SaveConfig kConfigs[] = {{UINT64_MAX, true}, {8, true}, {UINT64_MAX, false}};

inline SessionOptions OneThread() {
  SessionOptions options;
  options.threads = 1;
  return options;
}

struct CountingModel {
  Graph g;
  Variable<int64_t> a{g, Constant<int64_t>(g, 0), "a"};
  Variable<int64_t> b{g, Constant<int64_t>(g, 0), "b"};
  Variable<int64_t> c{g, Constant<int64_t>(g, 0), "c"};
  Operation add = Group({a.AssignAdd(Constant<int64_t>(g, 1)), b.AssignAdd(Constant<int64_t>(g, 1)),
                         c.AssignAdd(Constant<int64_t>(g, 1))});
  Operation init = InitVariables(g);
};

// Saves the values 1, 2, 3, and calls `acknowledge` with each that was.
inline void SaveAll(
    const std::filesystem::path& folder, const SaveConfig& config, int* failed,
    const std::function<void(int)>& acknowledge = [](int) {}) {
  CountingModel m;
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
inline int64_t Restored(const std::filesystem::path& folder) {
  static CountingModel& m = *new CountingModel;
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

inline size_t NumFiles(const std::filesystem::path& folder) {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

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
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  // The changes that the saves make.
  std::vector<io::FileAction> EventsOf(const SaveConfig& config) const {
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
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      std::filesystem::remove_all(entry);
  }

  std::filesystem::path folder_;
};

}  // namespace penstock
