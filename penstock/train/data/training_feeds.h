#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "penstock/train/data/dataset.h"
#include "penstock/train/loop/feeds.h"

namespace penstock {

namespace data {
std::unique_ptr<FeedSource> FeedsOfStage(StagePtr stage, std::function<FeedList(Element)> to_feeds);
}  // namespace data

// The batches of a dataset as what a Trainer reads. A pass over the dataset is an epoch of the
// training, shuffled by its number: leave Epochs to the Trainer, which so knows where it stands,
// and resumes there.
//
//   trainer.Run(FeedsOf(Digits::Train().Shuffle(1).Batch(32).Prefetch(),
//                       [&](Array<float> images, Array<int32_t> labels) {
//                         return FeedList{{x, images}, {y, labels}};
//                       }));
template <class Example, class ToFeeds>
std::unique_ptr<FeedSource> FeedsOf(const Dataset<Example>& dataset, ToFeeds to_feeds) {
  return data::FeedsOfStage(
      dataset.stage(), [to_feeds = std::move(to_feeds)](data::Element element) mutable -> FeedList {
        return data::CallWith(to_feeds, data::FromElement<Example>(std::move(element)));
      });
}

}  // namespace penstock
