#include "penstock/train/loop/dataset_feeds.h"

#include <optional>

#include "penstock/client/error.h"

namespace penstock::loop_internal {
namespace {

class StageFeeds final : public FeedSource {
 public:
  StageFeeds(data::StagePtr stage, std::function<FeedList(data::Element)> to_feeds)
      : stage_(std::move(stage)), to_feeds_(std::move(to_feeds)) {}
  ~StageFeeds() override { Close(); }

  void StartEpoch(int64_t epoch) override {
    Close();
    stop_ = std::make_shared<data::Stop>();
    data::Pass pass;
    pass.epoch = epoch;
    pass.stop = stop_;
    cursor_ = OrThrow(stage_->Open(pass));
  }

  bool Next(FeedList& feeds) override {
    if (cursor_ == nullptr) StartEpoch(0);
    data::Element element;
    if (!OrThrow(cursor_->Next(&element))) return false;
    feeds = to_feeds_(std::move(element));
    return true;
  }

  std::optional<int64_t> BatchesPerEpoch() const override { return stage_->Size(); }

  void Seek(const FeedPosition& position) override {
    StartEpoch(position.epoch);
    const int64_t skipped = OrThrow(cursor_->Skip(position.batch));
    if (skipped < position.batch) {
      throw Error(
          FailedPrecondition("the input has {} batches, and the run stopped after {}: it is "
                             "not the input of that run",
                             skipped, position.batch));
    }
  }

 private:
  // Threads that read ahead are told before they are joined.
  void Close() {
    if (stop_ != nullptr) stop_->Request();
    cursor_ = nullptr;
  }

  const data::StagePtr stage_;
  const std::function<FeedList(data::Element)> to_feeds_;
  std::shared_ptr<data::Stop> stop_;
  std::unique_ptr<data::Cursor> cursor_;
};

}  // namespace

std::unique_ptr<FeedSource> FeedsOfStage(data::StagePtr stage,
                                         std::function<FeedList(data::Element)> to_feeds) {
  return std::make_unique<StageFeeds>(std::move(stage), std::move(to_feeds));
}

}  // namespace penstock::loop_internal
