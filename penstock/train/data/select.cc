#include <algorithm>
#include <utility>

#include "penstock/core/checked.h"
#include "penstock/train/data/stages.h"

// Stages that give some elements of another, or all of them again.

namespace penstock::data {
namespace {

class TakeCursor final : public Cursor {
 public:
  TakeCursor(std::unique_ptr<Cursor> input, int64_t left) : input_(std::move(input)), left_(left) {}

  Result<bool> Next(Element* element) override {
    if (left_ == 0) return false;
    --left_;
    return input_->Next(element);
  }
  Result<int64_t> Skip(int64_t n) override {
    const int64_t wanted = std::min(n, left_);
    left_ -= wanted;
    return input_->Skip(wanted);
  }
  Result<int64_t> NextRows(int64_t n, Element* rows) override {
    const int64_t wanted = std::min(n, left_);
    if (wanted == 0) return int64_t{0};
    left_ -= wanted;
    return input_->NextRows(wanted, rows);
  }

 private:
  const std::unique_ptr<Cursor> input_;
  int64_t left_;
};

// Elements first, first + step, first + 2 * step, ...
class EveryCursor final : public Cursor {
 public:
  EveryCursor(std::unique_ptr<Cursor> input, int64_t first, int64_t step)
      : input_(std::move(input)), gap_(first), step_(step) {}

  Result<bool> Next(Element* element) override {
    TRY_ASSIGN(const bool more, PassGap());
    if (!more) return false;
    gap_ = step_ - 1;
    return input_->Next(element);
  }
  Result<int64_t> Skip(int64_t n) override { return step_ == 1 ? SkipAll(n) : Cursor::Skip(n); }
  Result<int64_t> NextRows(int64_t n, Element* rows) override {
    if (step_ != 1) return Cursor::NextRows(n, rows);
    TRY_ASSIGN(const bool more, PassGap());
    return more ? input_->NextRows(n, rows) : Result<int64_t>(int64_t{0});
  }

 private:
  Result<bool> PassGap() {
    if (gap_ == 0) return true;
    TRY_ASSIGN(const int64_t passed, input_->Skip(gap_));
    const bool more = passed == gap_;
    gap_ = 0;
    return more;
  }
  Result<int64_t> SkipAll(int64_t n) {
    TRY_ASSIGN(const bool more, PassGap());
    return more ? input_->Skip(n) : Result<int64_t>(int64_t{0});
  }

  const std::unique_ptr<Cursor> input_;
  int64_t gap_;  // elements to pass over before the next
  const int64_t step_;
};

// Elements [first, first + count * step) of the input, every step-th; count -1: to the end.
class Range final : public Stage {
 public:
  Range(StagePtr input, int64_t first, int64_t count, int64_t step, std::string name)
      : input_(std::move(input)),
        first_(first),
        count_(count),
        step_(step),
        name_(std::move(name)) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    TRY_ASSIGN(std::unique_ptr<Cursor> input, input_->Open(pass));
    if (count_ >= 0) return std::unique_ptr<Cursor>(new TakeCursor(std::move(input), count_));
    return std::unique_ptr<Cursor>(new EveryCursor(std::move(input), first_, step_));
  }
  std::optional<int64_t> Size() const override {
    const std::optional<int64_t> all = input_->Size();
    if (!all) return std::nullopt;
    if (count_ >= 0) return std::min(count_, *all);
    return *all <= first_ ? 0 : (*all - first_ - 1) / step_ + 1;
  }
  std::string Describe() const override { return input_->Describe() + " > " + name_; }

 private:
  const StagePtr input_;
  const int64_t first_, count_, step_;
  const std::string name_;
};

// Opens its input again for each epoch. Within other epochs (a Repeat of a Repeat) the numbers go
// on, so that a shuffle below never sees one twice.
class RepeatCursor final : public Cursor {
 public:
  RepeatCursor(StagePtr input, int64_t count, Pass pass)
      : input_(std::move(input)), count_(count), pass_(std::move(pass)) {}

  Result<bool> Next(Element* element) override {
    while (count_ < 0 || epoch_ < count_) {
      TRY(pass_.CheckStop());
      TRY(EnsureOpen());
      TRY_ASSIGN(const bool more, cursor_->Next(element));
      if (more) {
        ++index_;
        return true;
      }
      // An input without elements would be asked for ever.
      if (index_ == 0) return false;
      NextEpoch();
    }
    return false;
  }
  Result<int64_t> Skip(int64_t n) override {
    int64_t passed = 0;
    const std::optional<int64_t> size = input_->Size();
    while (passed < n && (count_ < 0 || epoch_ < count_)) {
      TRY(pass_.CheckStop());
      if (size && cursor_ == nullptr && *size > 0 && n - passed >= *size) {
        passed += *size;
        NextEpoch();
        continue;
      }
      TRY(EnsureOpen());
      TRY_ASSIGN(const int64_t now, cursor_->Skip(n - passed));
      passed += now;
      index_ += now;
      if (passed == n) break;
      if (index_ == 0) break;
      NextEpoch();
    }
    return passed;
  }
  std::optional<Position> position() const override { return Position{epoch_, index_}; }
  Status Seek(const Position& position) override {
    if (position.epoch < 0 || (count_ >= 0 && position.epoch >= count_ &&
                               !(position.epoch == count_ && position.index == 0)))
      return OutOfRange("the data have {} epochs, the position is in epoch {}", count_,
                        position.epoch);
    epoch_ = position.epoch;
    if (position.index == 0) return OkStatus();
    TRY(EnsureOpen());
    index_ = position.index;
    return cursor_->Seek({0, position.index});
  }

 private:
  Status EnsureOpen() {
    if (cursor_ != nullptr) return OkStatus();
    const int64_t base = count_ < 0 ? 0 : pass_.epoch * count_;
    TRY_ASSIGN(cursor_, input_->Open(pass_.OfEpoch(base + epoch_)));
    return OkStatus();
  }
  void NextEpoch() {
    cursor_.reset();
    ++epoch_;
    index_ = 0;
  }

  const StagePtr input_;
  const int64_t count_;
  const Pass pass_;
  int64_t epoch_ = 0;
  int64_t index_ = 0;
  std::unique_ptr<Cursor> cursor_;
};

class Repeat final : public Stage {
 public:
  Repeat(StagePtr input, int64_t count) : input_(std::move(input)), count_(count) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    return std::unique_ptr<Cursor>(new RepeatCursor(input_, count_, pass));
  }
  std::optional<int64_t> Size() const override {
    const std::optional<int64_t> size = input_->Size();
    if (!size || count_ < 0) return size == 0 ? size : std::nullopt;
    return CheckedMul(*size, count_);
  }
  // Without the count: who trains longer goes on where he stopped.
  std::string Describe() const override { return input_->Describe() + " > Epochs"; }

 private:
  const StagePtr input_;
  const int64_t count_;
};

}  // namespace

Result<StagePtr> MakeTake(StagePtr input, int64_t count) {
  if (count < 0) return InvalidArgument("Take: the count must not be negative, got {}", count);
  return StagePtr(
      std::make_shared<Range>(std::move(input), 0, count, 1, Format("Take({})", count)));
}

Result<StagePtr> MakeSkip(StagePtr input, int64_t count) {
  if (count < 0) return InvalidArgument("Skip: the count must not be negative, got {}", count);
  return StagePtr(
      std::make_shared<Range>(std::move(input), count, -1, 1, Format("Skip({})", count)));
}

Result<StagePtr> MakeShard(StagePtr input, int64_t num_shards, int64_t index) {
  if (num_shards < 1 || !InRange(index, num_shards))
    return InvalidArgument("Shard: the index must be in [0, shards), got {} of {}", index,
                           num_shards);
  return StagePtr(std::make_shared<Range>(std::move(input), index, -1, num_shards,
                                          Format("Shard({}, {})", num_shards, index)));
}

Result<StagePtr> MakeRepeat(StagePtr input, int64_t count) {
  if (count < -1) return InvalidArgument("Epochs: the count must not be negative, got {}", count);
  return StagePtr(std::make_shared<Repeat>(std::move(input), count));
}

}  // namespace penstock::data
