#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "penstock/train/data/dataset.h"
#include "penstock/train/loop/feeds.h"

namespace penstock {

namespace loop_internal {
std::unique_ptr<FeedSource> FeedsOfStage(data::StagePtr stage,
                                         std::function<FeedList(data::Element)> to_feeds);
}  // namespace loop_internal

// The batches of a dataset, an epoch of it for each of the trainer's (so without Epochs or Repeat),
// each field fed to the output in its place:
//
//   trainer.Run(FeedsOf(Digits::Train().Shuffle(1).Batch(32), images, labels));
//
// A run that is resumed goes to its place in the epoch without reading what lies before, where the
// dataset can.
template <class Example, class... Ts>
std::unique_ptr<FeedSource> FeedsOf(const Dataset<Example>& dataset, const Output<Ts>&... outputs) {
  static_assert(std::tuple_size_v<data::FieldsTuple<Example>> == sizeof...(Ts),
                "one output for each field of the dataset's elements");
  return loop_internal::FeedsOfStage(dataset.stage(), [outputs...](data::Element element) {
    FeedList feeds;
    size_t field = 0;
    (feeds.push_back(Feed{outputs, Array<Ts>(std::move(element[field++]))}), ...);
    return feeds;
  });
}

}  // namespace penstock
