// What a machine that loses its power leaves behind.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "penstock/train/testing/disturbed_saves.h"

namespace penstock {
namespace {

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
  for (const SaveConfig& config : kConfigs) {
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
