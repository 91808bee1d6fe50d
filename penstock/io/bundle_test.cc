#include "penstock/io/bundle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <tuple>

#include "penstock/io/table.h"

namespace penstock::io {
namespace {

namespace fs = std::filesystem;

class BundleTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!BuildTable({}).ok()) GTEST_SKIP() << "built without LevelDB";
    folder_ = testing::TempDir() + "/bundle_test." +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  std::string folder_;
};

std::string Contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void Overwrite(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<int64_t>(bytes.size()));
}

bool Same(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  if (a.dtype() == DType::kString)
    return std::ranges::equal(a.values<std::string>(), b.values<std::string>());
  return std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

TensorSlice Slice(std::string_view text) { return *TensorSlice::Parse(text); }

std::map<std::string, Tensor> Samples() {
  Tensor bytes(DType::kUint8, Shape{300});
  for (int i = 0; i < 300; ++i) bytes.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i);
  return {{"a/weights", Tensor::FromValues<float>(Shape{2, 3}, {1, 2, 3, 4, 5, 6})},
          {"a/empty", Tensor(DType::kDouble, Shape{0, 4})},
          {"bytes", bytes},
          {"flag", Tensor::Scalar(true)},
          {"step", Tensor::Scalar<int64_t>(-7)},
          {"words", Tensor::FromValues<std::string>(Shape{2, 2},
                                                    {"one", "", std::string(200, 'x'), "\0z"})}};
}

Status Save(const std::string& prefix, const std::map<std::string, Tensor>& tensors) {
  TRY_ASSIGN(BundleWriter writer, BundleWriter::Open(prefix));
  for (const auto& [name, tensor] : tensors) TRY(writer.Add(name, tensor));
  return writer.Finish();
}

TEST_F(BundleTest, ReadsWhatWasWritten) {
  ASSERT_TRUE(Save(Path("deep/folder/p"), Samples()).ok());
  const Result<BundleReader> reader = BundleReader::Open(Path("deep/folder/p"));
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ(reader->Names().size(), Samples().size());
  for (const auto& [name, tensor] : Samples()) {
    const Result<Tensor> got = reader->Read(name);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_TRUE(Same(tensor, *got)) << name << ": " << got->ToString();
  }
  EXPECT_EQ(reader->Read("nothing").status().code(), Code::kNotFound);
  const Result<Tensor> slice = reader->ReadSlice("a/weights", Slice("1,1:1,2"));
  ASSERT_TRUE(slice.ok());
  EXPECT_EQ(slice->ToString(), "float [1,2] {5, 6}");
  EXPECT_FALSE(reader->ReadSlice("a/weights", Slice("1,2:-")).ok());
  int num_files = 0;
  for ([[maybe_unused]] const auto& entry : fs::directory_iterator(Path("deep/folder")))
    ++num_files;
  EXPECT_EQ(num_files, 2);
  EXPECT_EQ(BundleReader::Open(Path("other")).status().code(), Code::kNotFound);
}

TEST_F(BundleTest, NothingAppearsBeforeTheEnd) {
  {
    Result<BundleWriter> writer = BundleWriter::Open(Path("p"));
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->Add("x", Tensor::Scalar(1.f)).ok());
    EXPECT_EQ(writer->Add("x", Tensor::Scalar(1.f)).code(), Code::kInvalidArgument);
    EXPECT_EQ(writer->Add("", Tensor::Scalar(1.f)).code(), Code::kInvalidArgument);
    EXPECT_FALSE(BundleExists(Path("p")));
  }
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(BundleTest, LiesInSeveralFiles) {
  Result<BundleWriter> writer = BundleWriter::Open(Path("p"), 1000);
  ASSERT_TRUE(writer.ok());
  std::map<std::string, Tensor> tensors = Samples();
  tensors["big"] = Tensor(DType::kFloat, Shape{1000});
  std::memset(tensors["big"].mutable_raw(), 1, 4000);
  for (const auto& [name, tensor] : tensors) ASSERT_TRUE(writer->Add(name, tensor).ok());
  ASSERT_TRUE(writer->Finish().ok());
  const Result<BundleReader> reader = BundleReader::Open(Path("p"));
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ(reader->index().num_shards, 3);  // what is before the big one, it, what is after
  for (const auto& [name, tensor] : tensors) {
    EXPECT_TRUE(Same(tensor, *reader->Read(name))) << name;
    EXPECT_TRUE(reader->CheckPlace(name).ok());
  }
  Tensor into(DType::kFloat, Shape{1000});
  ASSERT_TRUE(reader->ReadInto("big", &into).ok());
  EXPECT_TRUE(Same(into, tensors["big"]));
  EXPECT_FALSE(reader->ReadInto("bytes", &into).ok());
}

// The old bundle is whole until the new one is.
TEST_F(BundleTest, IsReplacedAsAWhole) {
  for (int i = 0; i < 4; ++i) {
    const std::map<std::string, Tensor> tensors{{"x", Tensor::Scalar(i)}};
    const Result<BundleReader> before = BundleReader::Open(Path("p"));
    ASSERT_TRUE(Save(Path("p"), tensors).ok());
    EXPECT_TRUE(i == 0 || before->Read("x")->scalar<int>() == i - 1);
    EXPECT_EQ(BundleReader::Open(Path("p"))->Read("x")->scalar<int>(), i);
    // The index, and one data file or two.
    const auto num_files = std::distance(fs::directory_iterator(folder_), {});
    EXPECT_EQ(num_files, i % 2 == 0 ? 2 : 3);
  }
}

TEST_F(BundleTest, PartsOfATensorAreOneAgain) {
  const Tensor whole = Tensor::FromValues<int32_t>(Shape{3, 2}, {1, 2, 3, 4, 5, 6});
  for (const std::string name : {"one", "two"}) {
    Result<BundleWriter> writer = BundleWriter::Open(Path(name));
    ASSERT_TRUE(writer.ok());
    if (name == "one") {
      ASSERT_TRUE(writer->AddSlice("v", Shape{3, 2}, Slice("0,1:-"), whole.Rows(0, 1)).ok());
      ASSERT_TRUE(writer->AddSlice("all", Shape{3, 2}, Slice("-:0,2"), whole).ok());
      EXPECT_FALSE(writer->AddSlice("v", Shape{3, 2}, Slice("1,2:-"), whole.Rows(0, 1)).ok());
      EXPECT_FALSE(writer->AddSlice("v", Shape{4, 2}, Slice("1,1:-"), whole.Rows(0, 1)).ok());
    } else {
      ASSERT_TRUE(writer->AddSlice("v", Shape{3, 2}, Slice("1,2:-"), whole.Rows(1, 3)).ok());
      ASSERT_TRUE(writer->Add("other", Tensor::Scalar(2.f)).ok());
    }
    ASSERT_TRUE(writer->Finish().ok());
  }
  EXPECT_EQ(BundleReader::Open(Path("one"))->Read("v").status().code(), Code::kDataLoss);
  ASSERT_TRUE(
      MergeBundles(std::vector{Path("one"), Path("none"), Path("two")}, Path("m"), true).ok());
  EXPECT_FALSE(BundleExists(Path("one")));
  const Result<BundleReader> merged = BundleReader::Open(Path("m"));
  ASSERT_TRUE(merged.ok()) << merged.status().ToString();
  EXPECT_EQ(merged->Names(), (std::vector<std::string>{"all", "other", "v"}));
  EXPECT_TRUE(Same(*merged->Read("v"), whole));
  EXPECT_TRUE(Same(*merged->Read("all"), whole));
  EXPECT_EQ(merged->ReadSlice("v", Slice("0,2:1,1"))->ToString(), "int32 [2,1] {2, 4}");
  EXPECT_EQ(MergeBundles(std::vector{Path("one")}, Path("n"), false).code(), Code::kNotFound);
}

TEST_F(BundleTest, SlicesAndTheirKeys) {
  EXPECT_EQ(Slice("0,3:-").ToString(), "0,3:-");
  // The example of TensorFlow's format: rows 3 and 4 of "part".
  EXPECT_EQ(SliceKey("part", Slice("3,2:0,3")), std::string("\0part\0\1\1\2\x83\x82\x80\x83", 13));
  EXPECT_EQ(SliceKey("", Slice("64,8191")), std::string("\0\0\1\1\1\xc0\x40\xdf\xff", 9));
  for (const char* bad : {"1", "-1,2", "0,0", "a,1", "0,1:x", "0,99999999999999999999"})
    EXPECT_FALSE(TensorSlice::Parse(bad).ok()) << bad;
  for (const char* bad :
       {"4 4 0,2", "4 4", "x 0,1", "-4 0,1", "4 3,2", "4611686018427387904 4 -:-"})
    EXPECT_FALSE(ParseShapeAndSlice(bad).ok()) << bad;
  EXPECT_EQ(ParseShapeAndSlice("4 5 1,2:-")->slice.Within(Shape{4, 5})->shape(), (Shape{2, 5}));
}

// Damage gives DataLoss or what was written, never something else.
TEST_F(BundleTest, DamageIsFound) {
  ASSERT_TRUE(Save(Path("p"), Samples()).ok());
  const auto samples = Samples();
  const auto check = [&](const std::string& what) {
    const Result<BundleReader> reader = BundleReader::Open(Path("p"));
    if (!reader.ok()) return;
    for (const auto& [name, tensor] : samples) {
      const Result<Tensor> got = reader->Read(name);
      EXPECT_TRUE(!got.ok() || Same(tensor, *got)) << what << ", " << name;
    }
  };
  for (const std::string& path : {BundleIndexPath(Path("p")), BundleDataPath(Path("p"), 0, 1)}) {
    const std::string good = Contents(path);
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
      Overwrite(path, bad);
      check(Format("byte {} of {}", i, path));
      if (i % 7 == 0) {
        Overwrite(path, good.substr(0, i));
        check(Format("{} cut at {}", path, i));
      }
    }
    Overwrite(path, good);
  }
}

// Sizes that a good checksum vouches for, too.
TEST_F(BundleTest, HostileIndices) {
  ASSERT_TRUE(Save(Path("p"), Samples()).ok());
  const BundleIndex good = *ReadBundleIndex(Path("p"));
  const auto outcome = [&](const std::string& name,
                           const std::function<void(BundleIndex&)>& change) {
    BundleIndex index = good;
    change(index);
    Overwrite(BundleIndexPath(Path("p")), *SerializeBundleIndex(index));
    const Result<BundleReader> reader = BundleReader::Open(Path("p"));
    if (!reader.ok()) return reader.status().code();
    return reader->Read(name).status().code();
  };
  using Index = BundleIndex&;
  EXPECT_EQ(outcome("step", [](Index) {}), Code::kOk);
  EXPECT_EQ(outcome("step", [](Index i) { i.entries["step"].offset = INT64_MAX; }),
            Code::kDataLoss);
  EXPECT_EQ(outcome("step", [](Index i) { i.entries["step"].size = UINT64_MAX; }), Code::kDataLoss);
  EXPECT_EQ(outcome("step", [](Index i) { i.entries["step"].size = 4; }), Code::kDataLoss);
  EXPECT_EQ(outcome("step", [](Index i) { i.entries["step"].shard = 1; }), Code::kDataLoss);
  EXPECT_EQ(outcome("step", [](Index i) { i.entries["step"].shape = Shape{int64_t{1} << 62}; }),
            Code::kDataLoss);
  EXPECT_EQ(outcome("words", [](Index i) { i.entries["words"].shape = Shape{int64_t{1} << 40}; }),
            Code::kDataLoss);
  EXPECT_EQ(outcome("words", [](Index i) { i.entries["words"].shape = Shape{3}; }),
            Code::kDataLoss);
  EXPECT_EQ(outcome("step", [](Index i) { i.entries["step"].dtype = DType::kVariant; }),
            Code::kUnimplemented);
  EXPECT_EQ(outcome("step", [](Index i) { i.num_shards = 0; }), Code::kDataLoss);
  EXPECT_EQ(outcome("step", [](Index i) { i.num_shards = 2; }), Code::kNotFound);
  EXPECT_EQ(outcome("big",
                    [](Index i) {
                      BundleEntry& big = i.entries["big"];
                      big.dtype = DType::kFloat;
                      big.shape = Shape{int64_t{1} << 40};
                      big.slices = {Slice("0,1")};
                    }),
            Code::kDataLoss);
}

// What TensorFlow wrote is read, and written again byte for byte where it is one file.
TEST_F(BundleTest, CheckpointsOfTensorFlow) {
  const char* shared = std::getenv("PENSTOCK_SHARED");
  const fs::path root = fs::path(shared != nullptr ? shared : "../../shared") / "models";
  if (!fs::exists(root)) GTEST_SKIP() << "PENSTOCK_SHARED may name the folder of the models";
  int num_read = 0, num_written = 0;
  for (const auto& found : fs::recursive_directory_iterator(root)) {
    const std::string path = found.path();
    if (!path.ends_with(".index")) continue;
    const std::string prefix = path.substr(0, path.size() - 6);
    const Result<BundleReader> reader = BundleReader::Open(prefix);
    ASSERT_TRUE(reader.ok()) << reader.status().ToString();
    std::vector<std::tuple<uint64_t, uint64_t, std::string>> order;  // the order of writing
    bool in_parts = reader->index().num_shards > 1;
    for (const std::string& name : reader->Names()) {
      const BundleEntry& entry = **reader->Find(name);
      in_parts |= !entry.slices.empty();
      order.emplace_back(entry.offset, entry.size, name);
      const Result<Tensor> value = reader->Read(name);
      ASSERT_TRUE(value.ok()) << value.status().ToString();
    }
    ++num_read;
    if (in_parts) continue;
    std::ranges::sort(order);
    fs::remove_all(folder_);
    Result<BundleWriter> writer = BundleWriter::Open(Path("copy"));
    ASSERT_TRUE(writer.ok());
    for (const auto& [offset, size, name] : order)
      ASSERT_TRUE(writer->Add(name, *reader->Read(name)).ok());
    ASSERT_TRUE(writer->Finish().ok());
    const std::string index = Contents(path), copy = Contents(BundleIndexPath(Path("copy")));
    // A few were written with compression, by builds that are not TensorFlow's releases.
    EXPECT_TRUE(index == copy || index.size() < copy.size()) << path;
    num_written += index == copy;
    EXPECT_TRUE(Contents(BundleDataPath(prefix, 0, 1)) ==
                Contents(BundleDataPath(Path("copy"), 0, 1)))
        << path;
  }
  EXPECT_GT(num_read, 0);
  EXPECT_GT(num_written, num_read / 2);
}

}  // namespace
}  // namespace penstock::io
