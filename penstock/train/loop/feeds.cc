#include "penstock/train/loop/feeds.h"

#include "penstock/client/error.h"

namespace penstock {
namespace {

class FunctionSource final : public FeedSource {
 public:
  explicit FunctionSource(std::function<NextFeeds(int64_t)> make_epoch)
      : make_epoch_(std::move(make_epoch)) {}

  void StartEpoch(int64_t epoch) override { next_ = make_epoch_(epoch); }
  bool Next(FeedList& feeds) override { return next_ != nullptr && next_(feeds); }

 private:
  const std::function<NextFeeds(int64_t)> make_epoch_;
  NextFeeds next_;
};

}  // namespace

void FeedSource::Seek(const FeedPosition& position) {
  StartEpoch(position.epoch);
  FeedList unused;
  for (int64_t batch = 0; batch < position.batch; ++batch) {
    if (Next(unused)) continue;
    throw Error(FailedPrecondition(
        "the input is not that of the run to go on with: epoch {} ends after {} batches, {} were "
        "read then",
        position.epoch, batch, position.batch));
  }
}

std::unique_ptr<FeedSource> FeedsFrom(NextFeeds next) {
  // It cannot be started again: later epochs find it where the first left it, at its end.
  return FeedsFrom(
      std::function<NextFeeds(int64_t)>([next = std::move(next)](int64_t) { return next; }));
}

std::unique_ptr<FeedSource> FeedsFrom(std::function<NextFeeds(int64_t epoch)> make_epoch) {
  return std::make_unique<FunctionSource>(std::move(make_epoch));
}

Result<std::vector<Tensor>> RunStep(Session& session, const FeedList& feeds,
                                    const std::vector<OutputRef>& fetches,
                                    const std::vector<NodeId>& targets) {
  return RunStep(session, feeds, fetches, targets, session.options(), nullptr);
}

Result<std::vector<Tensor>> RunStep(Session& session, const FeedList& feeds,
                                    const std::vector<OutputRef>& fetches,
                                    const std::vector<NodeId>& targets, const RunOptions& options,
                                    RunMetadata* metadata) {
  CallableSpec spec{.feeds = {}, .fetches = fetches, .targets = targets};
  std::vector<Tensor> values;
  for (const Feed& feed : feeds) {
    spec.feeds.push_back(feed.output());
    values.push_back(feed.value());
  }
  return session.backend().Run(spec, values, options, metadata);
}

int64_t NumExamples(const FeedList& feeds) {
  for (const Feed& feed : feeds)
    if (feed.value().shape().rank() > 0) return feed.value().shape()[0];
  return 1;
}

}  // namespace penstock
