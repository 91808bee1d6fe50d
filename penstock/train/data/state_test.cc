#include <gtest/gtest.h>

#include <atomic>
#include <numeric>

#include "penstock/train/data/dataset.h"
#include "penstock/train/data/testing/temp_folder.h"

// A reader that is restored gives what the one that was saved would have given.

namespace penstock {
namespace {

Dataset<Array<int64_t>> Numbers(int64_t n) {
  std::vector<int64_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return Dataset<Array<int64_t>>(FromArrays(Array<int64_t>(values)).stage());
}

Array<int64_t> Square(int64_t x) { return Array<int64_t>(x * x); }
bool Odd(int64_t x) { return x % 2 == 1; }

std::vector<std::string> Rest(DatasetReader<Array<int64_t>>& reader) {
  std::vector<std::string> rest;
  while (auto element = reader.Next()) rest.push_back(element->ToString());
  return rest;
}

void ExpectResumable(const Dataset<Array<int64_t>>& data) {
  SCOPED_TRACE(data.Describe());
  auto whole = data.Read();
  const std::vector<std::string> all = Rest(whole);
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    auto saved = data.Read();
    for (size_t i = 0; i < cut; ++i) ASSERT_TRUE(saved.Next());
    const DataState state = OrThrow(DataState::Parse(saved.SaveState().ToString()));
    auto resumed = data.Read();
    if (cut % 2 == 1) resumed.Next();  // from wherever it stands
    resumed.RestoreState(state);
    const std::vector<std::string> rest(all.begin() + static_cast<int64_t>(cut), all.end());
    ASSERT_EQ(Rest(resumed), rest) << "after " << cut;
  }
}

TEST(DatasetState, EveryPipelineGoesOnWhereItWasSaved) {
  const auto numbers = Numbers(11);
  const auto stream = numbers.Filter([](int64_t) { return true; });
  for (const auto& data : {numbers, stream}) {
    ExpectResumable(data);
    ExpectResumable(data.Shuffle(3).Batch(4).Epochs(3));
    ExpectResumable(data.Shuffle(3, 5).Batch(4, {.drop_remainder = true}).Epochs(3));
    ExpectResumable(data.Shuffle(3).Epochs(2).Batch(3));
    ExpectResumable(data.Shuffle(3).Batch(2).Epochs(3).Prefetch(2));
    ExpectResumable(data.Map(Square, {.threads = 3}).Shuffle(1).Prefetch(2).Epochs(2));
    ExpectResumable(data.Filter(Odd, {.threads = 2}).Map(Square).Epochs(3));
    ExpectResumable(data.Epochs(2).Map(Square, {.threads = 2}).Batch(4));
    ExpectResumable(data.Shuffle(3).Repeat().Take(30));
    ExpectResumable(data.Cache().Shuffle(2).Batch(3).Epochs(2));
    ExpectResumable(data.Shuffle(2).Epochs(2).Epochs(2).Batch(5));
    ExpectResumable(data.Take(5).Concatenate(data.Skip(7)).Shard(3, 1).Epochs(2));
    ExpectResumable(data.PaddedBatch(3).Epochs(2));
    ExpectResumable(data.Filter(Odd, {.threads = 2}).Batch(4).Epochs(2));
    ExpectResumable(data.Map(Square, {.threads = 2}).Batch(4));
    ExpectResumable(data.Prefetch(2).Batch(4).Epochs(2));
    const testing_data::TempFolder folder;
    ExpectResumable(data.Cache(folder / "cache").Batch(4).Epochs(2));
    ExpectResumable(data.BucketByLength([](int64_t x) { return x % 3; }, {1, 2}, 2).Epochs(2));
    ExpectResumable(data.Take(3).Interleave([&](int64_t n) { return Numbers(n + 1); }, 2));
  }
}

TEST(DatasetState, RandomMapsGoOnWithTheirSeeds) {
  ExpectResumable(Numbers(7)
                      .MapRandom(4,
                                 [](uint64_t seed, int64_t x) {
                                   return Array<int64_t>(static_cast<int64_t>(seed % 1000) + x);
                                 },
                                 {.threads = 2})
                      .Epochs(3));
}

TEST(DatasetState, SkippedElementsAreNotComputed) {
  const auto calls = std::make_shared<std::atomic<int>>(0);
  const auto data = Numbers(100)
                        .Shuffle(1)
                        .Map([calls](int64_t x) {
                          ++*calls;
                          return Array<int64_t>(x);
                        })
                        .Batch(10)
                        .Epochs(10);
  auto reader = data.Read();
  reader.RestoreState({9, 9, data.Describe()});
  EXPECT_TRUE(reader.Next());
  EXPECT_EQ(*calls, 10);
  EXPECT_FALSE(reader.Next());
}

TEST(DatasetState, SaysWhereItStands) {
  auto reader = Numbers(5).Shuffle(1).Batch(2).Epochs(9).Read();
  for (int i = 0; i < 4; ++i) reader.Next();
  EXPECT_EQ(reader.SaveState().ToString(),
            "epoch 1 index 1 of arrays[5] > Shuffle(seed 1) > Batch(2) > Epochs");
}

TEST(DatasetState, StatesOfOtherDataAreRefused) {
  auto reader = Numbers(5).Shuffle(1).Epochs(2).Read();
  const DataState good = reader.SaveState();
  auto refused = [&](const DataState& state) {
    EXPECT_THROW(reader.RestoreState(state), Error) << state.ToString();
  };
  refused(Numbers(5).Shuffle(2).Epochs(2).Read().SaveState());
  refused(Numbers(6).Shuffle(1).Epochs(2).Read().SaveState());
  refused({0, 6, good.pipeline});
  refused({3, 0, good.pipeline});
  // Training longer, or reading ahead, are the same data.
  reader.RestoreState(Numbers(5).Shuffle(1).Epochs(7).Prefetch(2).Read().SaveState());
  EXPECT_TRUE(reader.Next());
  for (const char* text : {"", "epoch", "epoch 1 index", "epoch -1 index 0 of x", "epoch 1 index 2",
                           "epoch 99999999999999999999 index 0 of x"})
    EXPECT_FALSE(DataState::Parse(text).ok()) << text;
}

}  // namespace
}  // namespace penstock
