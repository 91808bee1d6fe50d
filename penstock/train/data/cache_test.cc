#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "penstock/train/data/dataset.h"
#include "penstock/train/data/element_bytes.h"
#include "penstock/train/data/testing/temp_folder.h"

namespace penstock {
namespace {

using testing_data::TempFolder;

TEST(ElementBytes, RoundTripAndEveryPrefixIsAnError) {
  const data::Element element = {Tensor::FromValues<float>(Shape{2, 1}, {1.5f, -3}),
                                 Tensor::Scalar<int64_t>(7),
                                 Tensor::FromValues<std::string>(Shape{3}, {"", "ab", "c"}),
                                 Tensor(DType::kInt32, Shape{0, 4})};
  const std::string bytes = OrThrow(data::ElementToBytes(element));
  const data::Element back = OrThrow(data::ElementFromBytes(bytes));
  ASSERT_EQ(back.size(), element.size());
  for (size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i].ToString(), element[i].ToString());
    EXPECT_EQ(back[i].shape(), element[i].shape());
  }
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(data::ElementFromBytes(std::string_view(bytes).substr(0, size)).ok()) << size;
  EXPECT_FALSE(data::ElementFromBytes(bytes + "x").ok());
  // A float of 2^60 elements.
  EXPECT_FALSE(data::ElementFromBytes("\x01\x01\x01\x80\x80\x80\x80\x80\x80\x80\x80\x10").ok());
}

struct Counted {
  std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  Dataset<Array<int64_t>> data;

  explicit Counted(int64_t n) : data(nullptr) {
    std::vector<int64_t> values(static_cast<size_t>(n));
    std::iota(values.begin(), values.end(), 0);
    data = Dataset<Array<int64_t>>(FromArrays(Array<int64_t>(values)).stage())
               .Map([calls = calls](int64_t x) {
                 ++*calls;
                 return Array<int64_t>(x);
               });
  }
};

int64_t Sum(const Dataset<Array<int64_t>>& data) {
  int64_t sum = 0;
  for (const auto& element : data) sum += int64_t{element};
  return sum;
}

TEST(FileCache, IsFoundByTheNextRun) {
  const TempFolder folder;
  const Counted counted(10);
  const std::string path = folder / "cache";
  EXPECT_EQ(Sum(counted.data.Cache(path).Take(3)), 3);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "a pass that was left keeps nothing";
  EXPECT_EQ(Sum(counted.data.Cache(path).Epochs(3)), 3 * 45);
  EXPECT_EQ(*counted.calls, 13);
  const Counted again(10);
  EXPECT_EQ(Sum(again.data.Cache(path)), 45);
  EXPECT_EQ(*again.calls, 0);
  EXPECT_THROW(Sum(Counted(11).data.Cache(path)), Error) << "made from other data";
  EXPECT_THROW(Sum(counted.data.Cache(folder / "no/such/folder")), Error);
}

TEST(FileCache, DamagedFilesAreErrors) {
  const TempFolder folder;
  const Counted counted(3);
  const std::string path = folder / "cache";
  Sum(counted.data.Cache(path));
  const std::string bytes = folder.Read("cache");
  for (size_t size = 0; size < bytes.size(); ++size) {
    folder.Write("cache", bytes.substr(0, size));
    EXPECT_THROW(Sum(counted.data.Cache(path)), Error) << size;
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string bad = bytes;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    folder.Write("cache", bad);
    EXPECT_THROW(Sum(counted.data.Cache(path)), Error) << at;
  }
}

}  // namespace
}  // namespace penstock
