#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "penstock/client/constant.h"
#include "penstock/io/file_faults.h"
#include "penstock/io/table.h"
#include "penstock/train/save/saver.h"

// What the tests of checkpoints share: a folder of their own, and a graph with a few variables.

namespace penstock {

class SaverTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!io::BuildTable({}).ok()) GTEST_SKIP() << "built without LevelDB";
    std::string pattern = (std::filesystem::temp_directory_path() / "saver_test_XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override {
    io::SetFileFaults(nullptr);
    if (folder_.empty()) return;
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    std::filesystem::remove_all(folder_);
  }
  std::string At(const std::string& name) const { return (folder_ / name).string(); }
  size_t NumFiles() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }

  std::filesystem::path folder_;
};

// A graph with variables of several types.
struct SmallModel {
  SmallModel() : SmallModel("", {1.5f, -0.0f, std::numeric_limits<float>::infinity(), 4, 5, 6}) {}
  SmallModel(const std::string& scope, const std::vector<float>& weights)
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

// What a call throws; kOk for nothing.
inline Code CodeOf(const std::function<void()>& call, std::string* message = nullptr) {
  try {
    call();
    return Code::kOk;
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return error.code();
  }
}

}  // namespace penstock
