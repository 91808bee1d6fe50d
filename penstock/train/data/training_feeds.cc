#include "penstock/train/data/training_feeds.h"

namespace penstock::data {
namespace {

class StageFeeds final : public FeedSource {
 public:
  StageFeeds(StagePtr stage, std::function<FeedList(Element)> to_feeds)
      : reader_(std::move(stage)), to_feeds_(std::move(to_feeds)) {}

  void StartEpoch(int64_t epoch) override { OrThrow(reader_.StartEpoch(epoch)); }
  bool Next(FeedList& feeds) override {
    Element element;
    if (!OrThrow(reader_.Next(&element))) return false;
    feeds = to_feeds_(std::move(element));
    return true;
  }
  void Seek(const FeedPosition& position) override {
    OrThrow(reader_.StartEpoch(position.epoch, position.batch));
  }

 private:
  Reader reader_;
  std::function<FeedList(Element)> to_feeds_;
};

}  // namespace

std::unique_ptr<FeedSource> FeedsOfStage(StagePtr stage,
                                         std::function<FeedList(Element)> to_feeds) {
  return std::make_unique<StageFeeds>(std::move(stage), std::move(to_feeds));
}

}  // namespace penstock::data
