#include "penstock/train/data/dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <numeric>
#include <stdexcept>
#include <thread>

namespace penstock {
namespace {

// 0, 1, ..., n - 1
Dataset<Array<int64_t>> Numbers(int64_t n) {
  std::vector<int64_t> values(static_cast<size_t>(n));
  std::iota(values.begin(), values.end(), 0);
  return Dataset<Array<int64_t>>(FromArrays(Array<int64_t>(values)).stage());
}
// The same, read as a stream: nothing is known of it in advance.
Dataset<Array<int64_t>> Stream(int64_t n) {
  return Numbers(n).Filter([](const Array<int64_t>&) { return true; });
}

template <class Data>
std::vector<int64_t> All(const Data& data) {
  std::vector<int64_t> values;
  for (const auto& element : data)
    for (const int64_t value : element) values.push_back(value);
  return values;
}

using Ints = std::vector<int64_t>;

TEST(Dataset, ElementsOfArraysComeInOrderAndAgain) {
  const auto data = FromArrays(Array<float>(Shape{3, 2}, {1, 2, 3, 4, 5, 6}),
                               Array<int32_t>(std::vector<int32_t>{7, 8, 9}));
  EXPECT_EQ(data.Size(), 3);
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<float> sums;
    for (auto [x, y] : data) {
      EXPECT_EQ(x.shape(), (Shape{2}));
      sums.push_back(x[0] + x[1] + static_cast<float>(int32_t{y}));
    }
    EXPECT_EQ(sums, (std::vector<float>{10, 15, 20}));
  }
}

struct Named {
  Array<float> image;
  Array<int32_t> label;
};

TEST(Dataset, AnElementMayBeAStruct) {
  const auto data =
      FromArrays(Array<float>(std::vector<float>{1, 2}), Array<int32_t>(std::vector<int32_t>{3, 4}))
          .Map([](Array<float> x, Array<int32_t> y) {
            return Named{x, Array<int32_t>(int32_t{y} * 10)};
          });
  std::vector<int32_t> labels;
  for (const Named& element : data.Filter([](const Named& n) { return float{n.image} > 1; }))
    labels.push_back(element.label);
  EXPECT_EQ(labels, (std::vector<int32_t>{40}));
  for (auto [image, label] : data.Take(1)) EXPECT_EQ(int32_t{label}, 30);
}

TEST(Dataset, BatchKeepsOrDropsTheRemainder) {
  for (const auto& data : {Numbers(7), Stream(7)}) {
    std::vector<Shape> shapes;
    for (const auto& batch : data.Batch(3)) shapes.push_back(batch.shape());
    EXPECT_EQ(shapes.size(), 3u);
    EXPECT_EQ(shapes[0], (Shape{3}));
    EXPECT_EQ(shapes[2], (Shape{1}));
    EXPECT_EQ(All(data.Batch(3)), (Ints{0, 1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(All(data.Batch(3, {.drop_remainder = true})), (Ints{0, 1, 2, 3, 4, 5}));
    EXPECT_EQ(All(data.Batch(100)).size(), 7u);
  }
  EXPECT_EQ(Numbers(7).Batch(3).Size(), 3);
  EXPECT_EQ(Numbers(7).Batch(3, {.drop_remainder = true}).Size(), 2);
  EXPECT_EQ(Stream(7).Batch(3).Size(), std::nullopt);
}

TEST(Dataset, SelectionsAndCombinations) {
  for (const auto& data : {Numbers(6), Stream(6)}) {
    EXPECT_EQ(All(data.Take(2)), (Ints{0, 1}));
    EXPECT_EQ(All(data.Take(0)), Ints());
    EXPECT_EQ(All(data.Take(99)).size(), 6u);
    EXPECT_EQ(All(data.Skip(4)), (Ints{4, 5}));
    EXPECT_EQ(All(data.Skip(99)), Ints());
    EXPECT_EQ(All(data.Shard(4, 1)), (Ints{1, 5}));
    EXPECT_EQ(All(data.Shard(4, 3)), (Ints{3}));
    EXPECT_EQ(All(data.Shard(1, 0)).size(), 6u);
    EXPECT_EQ(All(data.Take(2).Epochs(3)), (Ints{0, 1, 0, 1, 0, 1}));
    EXPECT_EQ(All(data.Take(2).Repeat().Take(5)), (Ints{0, 1, 0, 1, 0}));
    EXPECT_EQ(All(data.Epochs(0)), Ints());
    EXPECT_EQ(All(data.Take(1).Concatenate(data.Skip(5)).Epochs(2)), (Ints{0, 5, 0, 5}));
    EXPECT_EQ(All(data.Filter([](int64_t x) { return x % 2 == 1; })), (Ints{1, 3, 5}));
    EXPECT_EQ(All(data.Take(0).Repeat()), Ints()) << "an empty epoch ends a Repeat without end";
  }
  Ints sums;
  for (const auto& [a, b] : Zip(Numbers(4), Stream(9).Skip(2)))
    sums.push_back(10 * int64_t{a} + int64_t{b});
  EXPECT_EQ(sums, (Ints{2, 13, 24, 35}));
  EXPECT_EQ(Numbers(10).Shard(3, 1).Size(), 3);
  EXPECT_EQ(Numbers(10).Skip(4).Take(9).Epochs(2).Size(), 12);
  EXPECT_EQ(Zip(Numbers(4), Numbers(9)).Size(), 4);
  EXPECT_EQ(Numbers(4).Concatenate(Numbers(9)).Size(), 13);
}

TEST(Dataset, InterleaveTakesBlocksInTurn) {
  const auto data = Numbers(3).Interleave(
      [](int64_t n) {
        return Numbers(n + 2).Map([n](int64_t i) { return Array<int64_t>(10 * n + i); });
      },
      2, 2);
  // 0: 0 1; 1: 10 11 12; 2: 20 21 22 23
  EXPECT_EQ(All(data), (Ints{0, 1, 10, 11, 20, 21, 12, 22, 23}));
}

TEST(Dataset, ShuffleIsAPermutationThatTheSeedAndTheEpochDecide) {
  for (const auto& data : {Numbers(100), Stream(100)}) {
    for (const int64_t buffer : {0, 1, 10, 1000}) {
      const Ints once = All(data.Shuffle(5, buffer));
      EXPECT_EQ(All(data.Shuffle(5, buffer)), once);
      Ints sorted = once;
      std::sort(sorted.begin(), sorted.end());
      EXPECT_EQ(sorted, All(Numbers(100)));
      if (buffer == 1) {
        EXPECT_EQ(once, sorted);
        continue;
      }
      EXPECT_NE(once, sorted);
      EXPECT_NE(All(data.Shuffle(6, buffer)), once);
      const Ints two = All(data.Shuffle(5, buffer).Epochs(2));
      EXPECT_EQ(Ints(two.begin(), two.begin() + 100), once);
      EXPECT_NE(Ints(two.begin() + 100, two.end()), once);
    }
  }
  // A buffer of ten lets no element come more than nine places too early.
  const Ints mixed = All(Stream(100).Shuffle(1, 10));
  for (size_t i = 0; i < mixed.size(); ++i) EXPECT_LE(mixed[i], static_cast<int64_t>(i) + 9);
}

TEST(Dataset, ShuffleIsFair) {
  // Where element 0 of 4 ends up, over many seeds: each place within 5 deviations of a quarter.
  std::vector<int> places(4);
  constexpr int kRounds = 4000;
  for (int seed = 0; seed < kRounds; ++seed) {
    const Ints order = All(Numbers(4).Shuffle(static_cast<uint64_t>(seed)));
    ++places[static_cast<size_t>(std::find(order.begin(), order.end(), 0) - order.begin())];
  }
  for (const int count : places) EXPECT_NEAR(count, kRounds / 4, 5 * 27.4);
}

TEST(Dataset, MapKeepsTheOrderWhateverTheThreads) {
  auto slow = [](int64_t x) {
    if (x % 7 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
    return Array<int64_t>(x * x);
  };
  const Ints expected = All(Numbers(200).Map(slow));
  EXPECT_EQ(expected[14], 196);
  for (const int threads : {1, 2, 3, 8})
    EXPECT_EQ(All(Stream(200).Map(slow, {.threads = threads})), expected) << threads;
}

TEST(Dataset, RandomMapsDependOnTheElementAndTheEpochAlone) {
  auto draw = [](uint64_t seed, int64_t) { return Array<int64_t>(static_cast<int64_t>(seed)); };
  const Ints serial = All(Numbers(20).MapRandom(9, draw).Epochs(2));
  EXPECT_EQ(All(Numbers(20).MapRandom(9, draw, {.threads = 4}).Epochs(2)), serial);
  Ints sorted = serial;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

TEST(Dataset, PaddedBatchFillsUp) {
  const auto data = Numbers(3).Map([](int64_t n) {
    return Array<int64_t>(Shape{n, 2}, std::vector<int64_t>(static_cast<size_t>(2 * n), n));
  });
  Ints rows;
  for (const auto& batch : data.PaddedBatch(2, {.fill = -1})) {
    rows.push_back(batch.shape().dim(0) * 100 + batch.shape().dim(1) * 10 + batch.shape().dim(2));
    for (const int64_t value : batch) rows.push_back(value);
  }
  EXPECT_EQ(rows, (Ints{212, -1, -1, 1, 1, 122, 2, 2, 2, 2}));
  for (const auto& batch : data.Skip(1).PaddedBatch(2, {.multiple = 4}))
    EXPECT_EQ(batch.shape(), (Shape{2, 4, 4}));
  EXPECT_THROW(All(data.Batch(3)), Error) << "of different shapes";
}

TEST(Dataset, BucketsHoldElementsOfSimilarLength) {
  const Ints lengths = {1, 5, 2, 9, 6, 1, 7, 3};
  const auto data =
      Dataset<Array<int64_t>>(FromArrays(Array<int64_t>(lengths)).stage()).Map([](int64_t n) {
        return Array<int64_t>(std::vector<int64_t>(static_cast<size_t>(n), n));
      });
  auto length = [](const Array<int64_t>& x) { return x.size(); };
  std::vector<Ints> firsts;
  for (const auto& batch : data.BucketByLength(length, {4, 8}, 2)) {
    Ints first;
    for (int64_t row = 0; row < batch.shape().dim(0); ++row) first.push_back(batch(row, 0));
    firsts.push_back(first);
  }
  // Buckets: below 4, below 8, others; what is left comes at the end, the shortest first.
  EXPECT_EQ(firsts, (std::vector<Ints>{{1, 2}, {5, 6}, {1, 3}, {7}, {9}}));
  EXPECT_THROW(data.BucketByLength(length, {4, 4}, 2), Error);
}

TEST(Dataset, CacheReadsItsInputOnce) {
  const auto calls = std::make_shared<std::atomic<int>>(0);
  const auto counted = Numbers(5).Map([calls](int64_t x) {
    ++*calls;
    return Array<int64_t>(x);
  });
  const auto cached = counted.Cache();
  EXPECT_EQ(All(cached.Take(2)), (Ints{0, 1}));
  EXPECT_EQ(*calls, 2) << "a pass that was not finished keeps nothing";
  EXPECT_EQ(All(cached.Epochs(3)).size(), 15u);
  EXPECT_EQ(*calls, 7);
  EXPECT_EQ(All(cached).size(), 5u);
  EXPECT_EQ(*calls, 7);
  EXPECT_EQ(cached.Size(), 5);
}

TEST(Dataset, LoadKeepsElementsByNumber) {
  const auto loaded = Stream(50).Load();
  EXPECT_EQ(loaded.Size(), 50);
  EXPECT_EQ(All(loaded), All(Numbers(50)));
  EXPECT_EQ(All(loaded.Shuffle(3)), All(Numbers(50).Shuffle(3)));
  EXPECT_THROW(Stream(0).Load(), Error);
}

TEST(Dataset, ArgumentsAreChecked) {
  const auto data = Numbers(3);
  EXPECT_THROW(data.Batch(0), Error);
  EXPECT_THROW(data.Shard(0, 0), Error);
  EXPECT_THROW(data.Shard(2, 2), Error);
  EXPECT_THROW(data.Take(-1), Error);
  EXPECT_THROW(data.Skip(-1), Error);
  EXPECT_THROW(data.Epochs(-2), Error);
  EXPECT_THROW(data.Shuffle(1, -1), Error);
  EXPECT_THROW(data.Prefetch(0), Error);
  EXPECT_THROW(data.Map([](int64_t x) { return Array<int64_t>(x); }, {.threads = -1}), Error);
  EXPECT_THROW(data.PaddedBatch(2, {.multiple = 0}), Error);
  EXPECT_THROW(data.Interleave([&](int64_t) { return data; }, 0), Error);
  EXPECT_THROW(
      FromArrays(Array<float>(std::vector<float>{1, 2}), Array<float>(std::vector<float>{1, 2, 3})),
      Error);
  EXPECT_THROW(FromArrays(Array<float>(1.f)), Error) << "a scalar has no rows";
}

TEST(DatasetErrors, WhatAFunctionThrowsNamesItsElement) {
  for (const int threads : {1, 4}) {
    const auto data = Numbers(100).Map(
        [](int64_t x) {
          if (x == 17) throw std::runtime_error("seventeen");
          if (x == 16 + 64) throw 5;
          return Array<int64_t>(x);
        },
        {.threads = threads});
    auto reader = data.Read();
    for (int64_t i = 0; i < 17; ++i) ASSERT_EQ(int64_t{*reader.Next()}, i);
    for (int again = 0; again < 2; ++again) {
      try {
        reader.Next();
        FAIL() << "it must throw";
      } catch (const Error& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("element 17 of epoch 0"), std::string::npos) << what;
        EXPECT_NE(what.find("seventeen"), std::string::npos) << what;
        EXPECT_NE(what.find("dataset_test.cc"), std::string::npos) << what;
      }
    }
    EXPECT_THROW(All(data.Skip(18)), Error) << "also what is no exception";
  }
}

TEST(DatasetErrors, OtherFieldsThanTheTypeSaysAreRefused) {
  const Dataset<std::tuple<Array<float>>> wrong(Numbers(2).stage());
  EXPECT_THROW(wrong.Read().Next(), Error);
  const DatasetOf<int64_t, int64_t> few(Numbers(2).stage());
  EXPECT_THROW(few.Read().Next(), Error);
}

TEST(DatasetThreads, PrefetchReadsAhead) {
  const auto calls = std::make_shared<std::atomic<int>>(0);
  const auto data = Numbers(100).Map([calls](int64_t x) {
    ++*calls;
    return Array<int64_t>(x);
  });
  auto reader = data.Prefetch(4).Read();
  ASSERT_EQ(int64_t{*reader.Next()}, 0);
  while (*calls < 6) std::this_thread::yield();  // 1 given, 4 waiting, 1 in hand
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(*calls, 6) << "no more than the buffer";
  EXPECT_EQ(All(data.Prefetch(3).Batch(7).Prefetch(2)), All(Numbers(100)));
}

TEST(DatasetThreads, AReaderMayLeaveAtAnyTime) {
  auto work = [](int64_t x) { return Array<int64_t>(x + 1); };
  const auto data = Numbers(1000)
                        .Map(work, {.threads = 3})
                        .Prefetch(2)
                        .Shuffle(1, 16)
                        .Map(work, {.threads = 2})
                        .Batch(4)
                        .Repeat()
                        .Prefetch(3);
  for (int taken = 0; taken < 20; ++taken) {
    auto reader = data.Read();
    for (int i = 0; i < taken; ++i) ASSERT_TRUE(reader.Next());
  }
  for (const auto& batch : data) {
    EXPECT_EQ(batch.size(), 4);
    break;
  }
}

TEST(DatasetThreads, ALoopWithoutEndIsLeftToo) {
  // The second element never comes: the thread that looks for it must see that nobody waits.
  const auto data = Numbers(3)
                        .Repeat()
                        .Filter([first = std::make_shared<std::atomic<bool>>(true)](int64_t) {
                          return first->exchange(false);
                        })
                        .Prefetch(2);
  auto reader = data.Read();
  ASSERT_TRUE(reader.Next());
  {
    auto other = data.Take(0).Epochs(2).Read();
    EXPECT_FALSE(other.Next());
  }
}

TEST(DatasetStats, CountWhatWentThrough) {
  auto reader = Numbers(10).Batch(4).Read();
  EXPECT_EQ(reader.stats().elements, 0);
  while (reader.Next()) {
  }
  EXPECT_EQ(reader.stats().elements, 3);
  EXPECT_GE(reader.stats().seconds, reader.stats().waited);
  DataStats stats{1200, 96'100'000, 3, 3.1, 0.372};
  EXPECT_EQ(stats.ToString(),
            "1200 elements in 3.1 s (387/s), 96.1 MB (31.0 MB/s), waited 12%, 3 bad records "
            "skipped");
}

}  // namespace
}  // namespace penstock
