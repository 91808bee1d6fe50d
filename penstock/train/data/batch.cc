#include <algorithm>
#include <utility>

#include "penstock/core/checked.h"
#include "penstock/train/data/rows.h"
#include "penstock/train/data/stages.h"

namespace penstock::data {
namespace {

std::optional<int64_t> NumBatches(std::optional<int64_t> elements, int64_t size, bool drop) {
  if (!elements) return std::nullopt;
  return *elements / size + (!drop && *elements % size != 0 ? 1 : 0);
}

// Passes over whole batches of an input of which each `size` elements make one.
Result<int64_t> SkipBatches(Cursor& input, int64_t n, int64_t size, bool drop) {
  const std::optional<int64_t> elements = CheckedMul(n, size);
  if (!elements) return InvalidArgument("cannot pass over {} batches of {}", n, size);
  TRY_ASSIGN(const int64_t passed, input.Skip(*elements));
  return *NumBatches(passed, size, drop);
}

class BatchCursor final : public Cursor {
 public:
  BatchCursor(std::unique_ptr<Cursor> input, int64_t size, bool drop)
      : input_(std::move(input)), size_(size), drop_(drop) {}

  Result<bool> Next(Element* element) override {
    if (ended_) return false;
    TRY_ASSIGN(const int64_t rows, input_->NextRows(size_, element));
    ended_ = rows < size_;
    return rows == size_ || (rows > 0 && !drop_);
  }
  Result<int64_t> Skip(int64_t n) override {
    TRY_ASSIGN(const int64_t passed, SkipBatches(*input_, n, size_, drop_));
    ended_ = passed < n;
    return passed;
  }

 private:
  const std::unique_ptr<Cursor> input_;
  const int64_t size_;
  const bool drop_;
  bool ended_ = false;
};

class Batch final : public Stage {
 public:
  Batch(StagePtr input, int64_t size, bool drop)
      : input_(std::move(input)), fused_(input_->Batched(size, drop)), size_(size), drop_(drop) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    if (fused_ != nullptr) return fused_->Open(pass);
    TRY_ASSIGN(std::unique_ptr<Cursor> input, input_->Open(pass));
    return std::unique_ptr<Cursor>(new BatchCursor(std::move(input), size_, drop_));
  }
  std::optional<int64_t> Size() const override { return NumBatches(input_->Size(), size_, drop_); }
  std::string Describe() const override {
    return Format("{} > Batch({}{})", input_->Describe(), size_, drop_ ? ", full" : "");
  }

 private:
  const StagePtr input_;
  const StagePtr fused_;  // null: none
  const int64_t size_;
  const bool drop_;
};

// Sorts elements by length, and gives a bucket when it is full. One bucket makes padded batches.
class BucketCursor final : public Cursor {
 public:
  BucketCursor(std::unique_ptr<Cursor> input, std::shared_ptr<const Buckets> options, Pass pass)
      : input_(std::move(input)),
        options_(std::move(options)),
        pass_(std::move(pass)),
        buckets_(options_->limits.size() + 1) {}

  Result<bool> Next(Element* element) override {
    while (!ended_) {
      TRY(pass_.CheckStop());
      Element next;
      TRY_ASSIGN(const bool more, input_->Next(&next));
      if (!more) {
        ended_ = true;
        break;
      }
      TRY_ASSIGN(const size_t place, Place(next));
      buckets_[place].push_back(std::move(next));
      if (static_cast<int64_t>(buckets_[place].size()) == options_->size)
        return Give(&buckets_[place], element);
    }
    if (options_->padding.drop_remainder) return false;
    for (std::vector<Element>& bucket : buckets_)
      if (!bucket.empty()) return Give(&bucket, element);
    return false;
  }
  Result<int64_t> Skip(int64_t n) override {
    if (!options_->limits.empty()) return Cursor::Skip(n);
    return SkipBatches(*input_, n, options_->size, options_->padding.drop_remainder);
  }

 private:
  Result<size_t> Place(const Element& element) const {
    if (options_->limits.empty()) return size_t{0};
    TRY_ASSIGN(const int64_t length, options_->length(element));
    const auto& limits = options_->limits;
    return static_cast<size_t>(std::upper_bound(limits.begin(), limits.end(), length) -
                               limits.begin());
  }
  Result<bool> Give(std::vector<Element>* bucket, Element* element) const {
    const std::vector<Element> elements = std::exchange(*bucket, {});
    TRY_ASSIGN(*element, StackPadded(elements, options_->padding.fill, options_->padding.multiple));
    return true;
  }

  const std::unique_ptr<Cursor> input_;
  const std::shared_ptr<const Buckets> options_;
  const Pass pass_;
  std::vector<std::vector<Element>> buckets_;
  bool ended_ = false;
};

class BucketStage final : public Stage {
 public:
  BucketStage(StagePtr input, Buckets options)
      : input_(std::move(input)), options_(std::make_shared<const Buckets>(std::move(options))) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    TRY_ASSIGN(std::unique_ptr<Cursor> input, input_->Open(pass));
    return std::unique_ptr<Cursor>(new BucketCursor(std::move(input), options_, pass));
  }
  std::optional<int64_t> Size() const override {
    if (!options_->limits.empty()) return std::nullopt;
    return NumBatches(input_->Size(), options_->size, options_->padding.drop_remainder);
  }
  std::string Describe() const override {
    std::string text = input_->Describe() + " > ";
    if (options_->limits.empty()) return text + Format("PaddedBatch({})", options_->size);
    text += Format("BucketByLength({}", options_->size);
    for (const int64_t limit : options_->limits) text += Format(", {}", limit);
    return text + ")";
  }

 private:
  const StagePtr input_;
  const std::shared_ptr<const Buckets> options_;
};

Status CheckBatch(std::string_view what, int64_t size, const Padding& padding) {
  if (size < 1) return InvalidArgument("{}: the size must be positive, got {}", what, size);
  if (padding.multiple < 1)
    return InvalidArgument("{}: the multiple must be positive, got {}", what, padding.multiple);
  return OkStatus();
}

}  // namespace

Result<StagePtr> MakeBatch(StagePtr input, int64_t size, bool drop_remainder) {
  TRY(CheckBatch("Batch", size, {}));
  return StagePtr(std::make_shared<Batch>(std::move(input), size, drop_remainder));
}

Result<StagePtr> MakePaddedBatch(StagePtr input, int64_t size, Padding padding) {
  TRY(CheckBatch("PaddedBatch", size, padding));
  return StagePtr(std::make_shared<BucketStage>(std::move(input), Buckets{{}, {}, size, padding}));
}

Result<StagePtr> MakeBuckets(StagePtr input, Buckets buckets) {
  TRY(CheckBatch("BucketByLength", buckets.size, buckets.padding));
  const auto& limits = buckets.limits;
  if (limits.empty() || std::adjacent_find(limits.begin(), limits.end(),
                                           std::greater_equal<int64_t>()) != limits.end())
    return InvalidArgument("BucketByLength: the limits must be one or more, and grow");
  return StagePtr(std::make_shared<BucketStage>(std::move(input), std::move(buckets)));
}

}  // namespace penstock::data
