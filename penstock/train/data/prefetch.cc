#include <deque>
#include <thread>
#include <utility>

#include "penstock/train/data/stages.h"

namespace penstock::data {
namespace {

constexpr int64_t kMaxBuffer = int64_t{1} << 20;

// Reads ahead of its reader on a thread of its own, at most `limit` elements.
class PrefetchCursor final : public Cursor {
 public:
  PrefetchCursor(std::unique_ptr<Cursor> input, int64_t limit, std::shared_ptr<Stop> stop)
      : stop_(std::move(stop)), limit_(limit), input_(std::move(input)) {}

  ~PrefetchCursor() override {
    stop_->Request();
    {
      MutexLock lock(mu_);
      leaving_ = true;
    }
    room_.NotifyOne();
    if (thread_.joinable()) thread_.join();
  }

  Result<bool> Next(Element* element) override {
    if (given_all_) return false;
    // Not when it was made: until then it can be sent to a position.
    if (!thread_.joinable()) thread_ = std::thread([this] { Work(); });
    MutexLock lock(mu_);
    while (ahead_.empty()) filled_.Wait(mu_);
    Item item = std::move(ahead_.front());
    ahead_.pop_front();
    room_.NotifyOne();
    given_all_ = !item.more.ok() || !*item.more;
    if (given_all_) return item.more;
    *element = std::move(item.element);
    position_ = item.position;
    return true;
  }
  Result<int64_t> Skip(int64_t n) override {
    return thread_.joinable() ? Cursor::Skip(n) : input_->Skip(n);
  }
  std::optional<Position> position() const override { return position_; }
  Status Seek(const Position& position) override { return input_->Seek(position); }

 private:
  struct Item {
    Result<bool> more = false;
    Element element;
    std::optional<Position> position;  // of the input after it
  };

  void Work() {
    while (true) {
      Item item;
      item.more = input_->Next(&item.element);
      item.position = input_->position();
      const bool last = !item.more.ok() || !*item.more;
      MutexLock lock(mu_);
      while (!leaving_ && static_cast<int64_t>(ahead_.size()) >= limit_) room_.Wait(mu_);
      if (leaving_) return;
      ahead_.push_back(std::move(item));
      filled_.NotifyOne();
      if (last) return;
    }
  }

  const std::shared_ptr<Stop> stop_;
  const int64_t limit_;
  const std::unique_ptr<Cursor> input_;  // belongs to the thread once it runs
  Mutex mu_;
  CondVar room_, filled_;
  std::deque<Item> ahead_ GUARDED_BY(mu_);
  bool leaving_ GUARDED_BY(mu_) = false;
  bool given_all_ = false;
  std::optional<Position> position_;  // of what was given last
  std::thread thread_;
};

class Prefetch final : public Stage {
 public:
  Prefetch(StagePtr input, int64_t buffer) : input_(std::move(input)), buffer_(buffer) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    auto stop = std::make_shared<Stop>(pass.stop);
    TRY_ASSIGN(std::unique_ptr<Cursor> input, input_->Open(pass.WithStop(stop)));
    return std::unique_ptr<Cursor>(new PrefetchCursor(std::move(input), buffer_, stop));
  }
  std::optional<int64_t> Size() const override { return input_->Size(); }
  std::string Describe() const override { return input_->Describe(); }

 private:
  const StagePtr input_;
  const int64_t buffer_;
};

}  // namespace

Result<StagePtr> MakePrefetch(StagePtr input, int64_t buffer) {
  if (buffer < 1 || buffer > kMaxBuffer)
    return InvalidArgument("Prefetch: the buffer must have 1 to {} elements, got {}", kMaxBuffer,
                           buffer);
  return StagePtr(std::make_shared<Prefetch>(std::move(input), buffer));
}

}  // namespace penstock::data
