#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/client/session.h"

// Where a training loop gets its batches from.

namespace penstock {

// What one step is fed.
using FeedList = std::vector<Feed>;

// A place in the input: this many batches of this epoch were read.
struct FeedPosition {
  int64_t epoch = 0;
  int64_t batch = 0;
  bool operator==(const FeedPosition&) const = default;
};

// Batches, epoch by epoch. What an epoch holds should depend on its number alone: then a run that
// was stopped goes on as if it had not been. Threads: one at a time. Functions throw Error.
class FeedSource {
 public:
  virtual ~FeedSource() = default;
  // Goes to the beginning of an epoch.
  virtual void StartEpoch(int64_t epoch) = 0;
  // Reads the next batch over `feeds`; false at the end of the epoch.
  virtual bool Next(FeedList& feeds) = 0;
  // How many batches an epoch has, where that is known before they are read.
  virtual std::optional<int64_t> BatchesPerEpoch() const { return std::nullopt; }
  // Goes to a place where a run stopped. Unless a source knows a faster way, by reading up to it.
  virtual void Seek(const FeedPosition& position);
};

// A source of one epoch, or of one that never ends: true while there was a batch.
using NextFeeds = std::function<bool(FeedList& feeds)>;
std::unique_ptr<FeedSource> FeedsFrom(NextFeeds next);
// A source that makes the reader of each epoch by its number.
std::unique_ptr<FeedSource> FeedsFrom(std::function<NextFeeds(int64_t epoch)> make_epoch);

// The elements of a range, from its beginning in each epoch:
//
//   FeedsOver(batches, [&](const Batch& b) { return FeedList{{x, b.images}, {y, b.labels}}; });
//
// The range must outlive the source.
template <class Range, class ToFeeds>
std::unique_ptr<FeedSource> FeedsOver(Range& range, ToFeeds to_feeds) {
  return FeedsFrom(std::function<NextFeeds(int64_t)>([&range, to_feeds](int64_t) -> NextFeeds {
    return [it = range.begin(), end = range.end(), to_feeds](FeedList& feeds) mutable {
      if (!(it != end)) return false;
      feeds = to_feeds(*it);
      ++it;
      return true;
    };
  }));
}

// Runs a step with feeds only known at run time.
Result<std::vector<Tensor>> RunStep(Session& session, const FeedList& feeds,
                                    const std::vector<OutputRef>& fetches,
                                    const std::vector<NodeId>& targets);
Result<std::vector<Tensor>> RunStep(Session& session, const FeedList& feeds,
                                    const std::vector<OutputRef>& fetches,
                                    const std::vector<NodeId>& targets, const RunOptions& options,
                                    RunMetadata* metadata);

// The batch size: the first extent of the first value that has one; 1 when none has.
int64_t NumExamples(const FeedList& feeds);

}  // namespace penstock
