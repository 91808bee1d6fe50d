#include "penstock/ops/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "penstock/graph/scope.h"
#include "penstock/io/bundle.h"
#include "penstock/io/table.h"
#include "penstock/ops/testing/rows.h"
#include "penstock/session/session.h"

namespace penstock::rows {
namespace {

const OpRows kNames{
    Row(ShardedFilename{})
        .Inputs(Scalar<std::string>("a/b"), Scalar<int32_t>(3), Scalar<int32_t>(12))
        .Expect(Scalar<std::string>("a/b-00003-of-00012")),
    Row(ShardedFilename{})
        .Inputs(Vector<std::string>({"a"}), Scalar<int32_t>(3), Scalar<int32_t>(12))
        .Fails(Code::kInvalidArgument, "scalar"),
    Row(ShardedFilespec{})
        .Inputs(Scalar<std::string>("b"), Scalar<int32_t>(2))
        .Expect(Scalar<std::string>("b-????"
                                    "?-of-00002")),
    Row(ShardedFilespec{})
        .Inputs(Scalar<std::string>("b"), Vector<int32_t>({2}))
        .Fails(Code::kInvalidArgument, "scalar"),
    Row(RestoreV2{.dtypes = {DType::kFloat}})
        .Inputs(Scalar<std::string>("/no/such"), Vector<std::string>({"a"}),
                Vector<std::string>({""}))
        .Fails(Code::kNotFound, "Failed to find any matching files for /no/such"),
    Row(RestoreV2{.dtypes = {DType::kFloat}})
        .Inputs(Scalar<std::string>("/no"), Vector<std::string>({"a", "b"}),
                Vector<std::string>({""}))
        .Fails(Code::kInvalidArgument, "must have 1 elements"),
    Row(RestoreV2{.dtypes = {DType::kFloat}})
        .Inputs(Scalar<std::string>("/no"), Vector<std::string>({"a"}),
                Vector<std::string>({"4 5"}))
        .Fails(Code::kInvalidArgument, "slice"),
    Row(RestoreSlice{.dt = DType::kFloat})
        .Inputs(Scalar<std::string>("/no/such*"), Scalar<std::string>("a"), Scalar<std::string>(""))
        .Fails(Code::kNotFound, "matching files"),
    Row(ops::Restore{.dt = DType::kFloat})
        .Inputs(Vector<std::string>({"/no/such"}), Scalar<std::string>("a"))
        .Fails(Code::kInvalidArgument, "scalar"),
};

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!io::BuildTable({}).ok()) GTEST_SKIP() << "built without LevelDB";
    folder_ = testing::TempDir() + "/checkpoint_test." +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  Expr Text(const std::string& text) { return scope_.Constant(Tensor::Scalar(text)); }
  Expr Texts(std::initializer_list<std::string> texts) {
    return scope_.Constant(
        Tensor::FromValues<std::string>(Shape{static_cast<int64_t>(texts.size())}, texts));
  }
  Status Run(const Expr& target) {
    const auto session = MakeLocalSession(graph_);
    return session->Run({{}, {}, {target.ref().node}}, {}, {}, nullptr).status();
  }
  std::string Value(const Expr& fetch) {
    const auto session = MakeLocalSession(graph_);
    const auto out = session->Run({{}, {fetch.ref()}, {}}, {}, {}, nullptr);
    return out.ok() ? (*out)[0].ToString() : out.status().ToString();
  }
  Expr Restored(const std::string& prefix, const std::string& name, const std::string& slice,
                DType dtype) {
    return scope_.Add("RestoreV2", {Text(prefix), Texts({name}), Texts({slice})},
                      {{"dtypes", std::vector<DType>{dtype}}});
  }

  Graph graph_;
  const Scope scope_{graph_};
  std::string folder_;
};

TEST_F(CheckpointTest, SavesMergesAndRestores) {
  const Expr upper = scope_.Constant(Tensor::FromValues<float>(Shape{1, 2}, {1, 2}));
  const Expr lower = scope_.Constant(Tensor::FromValues<float>(Shape{2, 2}, {3, 4, 5, 6}));
  const Expr words = Texts({"x", ""});
  const std::string one = folder_ + "/parts/one", two = folder_ + "/parts/two";
  const std::string all = folder_ + "/all";
  ASSERT_TRUE(Run(scope_.Add("SaveV2", {Text(one), Texts({"m", "w"}), Texts({"3 2 0,1:-", ""}),
                                        upper, words}))
                  .ok());
  ASSERT_TRUE(
      Run(scope_.Add("SaveV2", {Text(two), Texts({"m"}), Texts({"3 2 1,2:-"}), lower})).ok());
  ASSERT_TRUE(Run(scope_.Add("MergeV2Checkpoints", {Texts({one, two}), Text(all)})).ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/parts"));
  EXPECT_EQ(Value(Restored(all, "m", "", DType::kFloat)), "float [3,2] {1, 2, 3, 4, 5, 6}");
  EXPECT_EQ(Value(Restored(all, "m", "3 2 0,2:1,1", DType::kFloat)), "float [2,1] {2, 4}");
  EXPECT_EQ(Restored(all, "m", "3 2 0,2:1,1", DType::kFloat).shape(), (Shape{2, 1}));
  EXPECT_EQ(Value(Restored(all, "w", "", DType::kString)),
            Tensor::FromValues<std::string>(Shape{2}, {"x", ""}).ToString());
  const auto fails = [&](const Expr& fetch, std::string_view part) {
    const std::string text = Value(fetch);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  fails(Restored(all, "m", "", DType::kInt32), "expected dtype int32 does not equal");
  fails(Restored(all, "m", "2 2 -:-", DType::kFloat), "does not match the shape stored");
  fails(Restored(all, "none", "", DType::kFloat), "Key none not found");
  EXPECT_EQ(Run(scope_.Add("SaveV2", {Text(one), Texts({"m", "m"}), Texts({"", ""}), upper, upper}))
                .code(),
            Code::kInvalidArgument);
  EXPECT_EQ(Run(scope_.Add("SaveV2", {Text(one), Texts({"m"}), Texts({"4 2 -:-"}), upper})).code(),
            Code::kInvalidArgument);
  EXPECT_FALSE(io::BundleExists(one));
  EXPECT_EQ(Run(scope_.Add("MergeV2Checkpoints", {Texts({one}), Text(all)})).code(),
            Code::kNotFound);
  EXPECT_TRUE(scope_.status().ok()) << scope_.status().ToString();
}

}  // namespace
}  // namespace penstock::rows
