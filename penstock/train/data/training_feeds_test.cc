#include "penstock/train/data/training_feeds.h"

#include <gtest/gtest.h>

#include "penstock/client/constant.h"

namespace penstock {
namespace {

std::vector<float> Rest(FeedSource& source) {
  std::vector<float> values;
  FeedList feeds;
  while (source.Next(feeds))
    for (const float value : feeds[0].value().values<float>()) values.push_back(value);
  return values;
}

TEST(TrainingFeeds, AnEpochIsAPassThatItsNumberShuffles) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1});
  const auto data = FromArrays(Array<float>(std::vector<float>{0, 1, 2, 3, 4, 5, 6}));
  const auto batches = data.Shuffle(3).Batch(2).Prefetch(2);
  const auto source = FeedsOf(batches, [&](const Array<float>& values) {
    return FeedList{{x, values}};
  });
  std::vector<std::vector<float>> epochs;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    source->StartEpoch(epoch);
    epochs.push_back(Rest(*source));
  }
  EXPECT_NE(epochs[0], epochs[1]);
  // As Epochs would have it.
  std::vector<float> all, expected;
  for (const auto& epoch : epochs) all.insert(all.end(), epoch.begin(), epoch.end());
  for (const auto& [values] : batches.Epochs(3))
    expected.insert(expected.end(), values.begin(), values.end());
  EXPECT_EQ(all, expected);

  source->Seek({1, 2});
  EXPECT_EQ(Rest(*source), std::vector<float>(epochs[1].begin() + 4, epochs[1].end()));
  source->StartEpoch(0);
  EXPECT_EQ(Rest(*source), epochs[0]);
  EXPECT_THROW(source->Seek({1, 5}), Error);
  EXPECT_THROW(source->Seek({-1, 0}), Error);
}

}  // namespace
}  // namespace penstock
