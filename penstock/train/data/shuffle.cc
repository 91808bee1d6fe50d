#include <algorithm>
#include <numeric>
#include <utility>

#include "penstock/train/data/random.h"
#include "penstock/train/data/stages.h"

namespace penstock::data {
namespace {

// Rows by number, in an order drawn when the pass begins.
class PermutedCursor final : public Cursor {
 public:
  PermutedCursor(StagePtr keep, const Indexed* rows, Random random)
      : keep_(std::move(keep)), rows_(rows), order_(static_cast<size_t>(rows->num_rows())) {
    std::iota(order_.begin(), order_.end(), 0);
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random.Below(i)]);
  }

  Result<bool> Next(Element* element) override {
    if (at_ == order_.size()) return false;
    TRY_ASSIGN(*element, rows_->Row(order_[at_]));
    ++at_;
    return true;
  }
  Result<int64_t> Skip(int64_t n) override {
    const size_t count = Left(n);
    at_ += count;
    return static_cast<int64_t>(count);
  }
  Result<int64_t> NextRows(int64_t n, Element* rows) override {
    const size_t count = Left(n);
    if (count == 0) return 0;
    TRY_ASSIGN(*rows, rows_->Rows({order_.data() + at_, count}));
    at_ += count;
    return static_cast<int64_t>(count);
  }

 private:
  size_t Left(int64_t n) const {
    return std::min(static_cast<size_t>(std::max<int64_t>(n, 0)), order_.size() - at_);
  }

  const StagePtr keep_;
  const Indexed* const rows_;
  std::vector<int64_t> order_;
  size_t at_ = 0;
};

// A buffer that is kept full: each element given is a random one of it, replaced by the next of the
// input.
class BufferedCursor final : public Cursor {
 public:
  BufferedCursor(std::unique_ptr<Cursor> input, int64_t size, Random random, Pass pass)
      : input_(std::move(input)), size_(size), random_(random), pass_(std::move(pass)) {}

  Result<bool> Next(Element* element) override {
    while (!ended_ && (size_ == 0 || static_cast<int64_t>(buffer_.size()) < size_)) {
      TRY(pass_.CheckStop());
      Element next;
      TRY_ASSIGN(const bool more, input_->Next(&next));
      if (more) buffer_.push_back(std::move(next));
      ended_ = !more;
    }
    if (buffer_.empty()) return false;
    std::swap(buffer_[random_.Below(buffer_.size())], buffer_.back());
    *element = std::move(buffer_.back());
    buffer_.pop_back();
    return true;
  }

 private:
  const std::unique_ptr<Cursor> input_;
  const int64_t size_;  // 0: all
  Random random_;
  const Pass pass_;
  std::vector<Element> buffer_;
  bool ended_ = false;
};

class Shuffle final : public Stage {
 public:
  Shuffle(StagePtr input, uint64_t seed, int64_t buffer)
      : input_(std::move(input)), seed_(seed), buffer_(buffer) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    const Random random(Random::Combine(seed_, static_cast<uint64_t>(pass.epoch)));
    if (const Indexed* rows = input_->indexed(); rows != nullptr && buffer_ == 0)
      return std::unique_ptr<Cursor>(new PermutedCursor(input_, rows, random));
    TRY_ASSIGN(std::unique_ptr<Cursor> input, input_->Open(pass));
    return std::unique_ptr<Cursor>(new BufferedCursor(std::move(input), buffer_, random, pass));
  }
  std::optional<int64_t> Size() const override { return input_->Size(); }
  std::string Describe() const override {
    return input_->Describe() + (buffer_ == 0
                                     ? Format(" > Shuffle(seed {})", seed_)
                                     : Format(" > Shuffle(seed {}, buffer {})", seed_, buffer_));
  }

 private:
  const StagePtr input_;
  const uint64_t seed_;
  const int64_t buffer_;
};

}  // namespace

Result<StagePtr> MakeShuffle(StagePtr input, uint64_t seed, int64_t buffer) {
  if (buffer < 0)
    return InvalidArgument("Shuffle: the buffer must not be negative, got {}", buffer);
  return StagePtr(std::make_shared<Shuffle>(std::move(input), seed, buffer));
}

}  // namespace penstock::data
