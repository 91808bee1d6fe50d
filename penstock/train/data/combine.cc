#include <utility>

#include "penstock/train/data/stages.h"

// Stages over several others.

namespace penstock::data {
namespace {

class ZipCursor final : public Cursor {
 public:
  explicit ZipCursor(std::vector<std::unique_ptr<Cursor>> inputs) : inputs_(std::move(inputs)) {}

  Result<bool> Next(Element* element) override {
    Element all;
    for (const auto& input : inputs_) {
      Element part;
      TRY_ASSIGN(const bool more, input->Next(&part));
      if (!more) return false;
      for (Tensor& tensor : part) all.push_back(std::move(tensor));
    }
    *element = std::move(all);
    return true;
  }
  Result<int64_t> Skip(int64_t n) override {
    for (const auto& input : inputs_) {
      TRY_ASSIGN(n, input->Skip(n));
    }
    return n;
  }

 private:
  const std::vector<std::unique_ptr<Cursor>> inputs_;
};

std::string DescribeAll(const std::vector<StagePtr>& inputs, std::string_view name) {
  std::string text(name);
  for (size_t i = 0; i < inputs.size(); ++i) text += (i == 0 ? "(" : "; ") + inputs[i]->Describe();
  return text + ")";
}

class Zip final : public Stage {
 public:
  explicit Zip(std::vector<StagePtr> inputs) : inputs_(std::move(inputs)) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    std::vector<std::unique_ptr<Cursor>> cursors;
    for (const StagePtr& input : inputs_) {
      TRY_ASSIGN(cursors.emplace_back(), input->Open(pass));
    }
    return std::unique_ptr<Cursor>(new ZipCursor(std::move(cursors)));
  }
  std::optional<int64_t> Size() const override {
    std::optional<int64_t> least;
    for (const StagePtr& input : inputs_) {
      const std::optional<int64_t> size = input->Size();
      if (!size) return std::nullopt;
      if (!least || *size < *least) least = size;
    }
    return least;
  }
  std::string Describe() const override { return DescribeAll(inputs_, "Zip"); }

 private:
  const std::vector<StagePtr> inputs_;
};

class ConcatenateCursor final : public Cursor {
 public:
  ConcatenateCursor(const std::vector<StagePtr>* inputs, Pass pass)
      : inputs_(*inputs), pass_(std::move(pass)) {}

  Result<bool> Next(Element* element) override {
    for (; at_ < inputs_.size(); Advance()) {
      TRY(EnsureOpen());
      TRY_ASSIGN(const bool more, cursor_->Next(element));
      if (more) return true;
    }
    return false;
  }
  Result<int64_t> Skip(int64_t n) override {
    int64_t passed = 0;
    while (at_ < inputs_.size()) {
      TRY(EnsureOpen());
      TRY_ASSIGN(const int64_t now, cursor_->Skip(n - passed));
      passed += now;
      if (passed == n) break;
      Advance();
    }
    return passed;
  }

 private:
  Status EnsureOpen() {
    if (cursor_ != nullptr) return OkStatus();
    TRY_ASSIGN(cursor_, inputs_[at_]->Open(pass_));
    return OkStatus();
  }
  void Advance() {
    cursor_.reset();
    ++at_;
  }

  const std::vector<StagePtr> inputs_;
  const Pass pass_;
  size_t at_ = 0;
  std::unique_ptr<Cursor> cursor_;
};

class Concatenate final : public Stage {
 public:
  explicit Concatenate(std::vector<StagePtr> inputs) : inputs_(std::move(inputs)) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    return std::unique_ptr<Cursor>(new ConcatenateCursor(&inputs_, pass));
  }
  std::optional<int64_t> Size() const override {
    int64_t sum = 0;
    for (const StagePtr& input : inputs_) {
      const std::optional<int64_t> size = input->Size();
      if (!size) return std::nullopt;
      sum += *size;
    }
    return sum;
  }
  std::string Describe() const override { return DescribeAll(inputs_, "Concatenate"); }

 private:
  const std::vector<StagePtr> inputs_;
};

// A ring of open cursors; each gives a block in its turn, and the next element of the input takes
// the place of one that has ended.
class InterleaveCursor final : public Cursor {
 public:
  InterleaveCursor(std::unique_ptr<Cursor> input, std::shared_ptr<const Interleaving> options,
                   Pass pass)
      : input_(std::move(input)),
        options_(std::move(options)),
        pass_(std::move(pass)),
        ring_(static_cast<size_t>(options_->cycle)) {}

  Result<bool> Next(Element* element) override {
    for (size_t idle = 0; idle < ring_.size();) {
      TRY(pass_.CheckStop());
      if (ring_[at_].cursor == nullptr) TRY(Refill());
      if (ring_[at_].cursor == nullptr) {
        ++idle;
        Turn();
        continue;
      }
      TRY_ASSIGN(const bool more, ring_[at_].cursor->Next(element));
      if (more) {
        if (++given_ == options_->block) Turn();
        return true;
      }
      ring_[at_] = {};
      given_ = 0;
      idle = 0;
    }
    return false;
  }

 private:
  struct Place {
    StagePtr stage;  // lives as long as its cursor
    std::unique_ptr<Cursor> cursor;
  };

  Status Refill() {
    if (ended_) return OkStatus();
    Element element;
    TRY_ASSIGN(const bool more, input_->Next(&element));
    ended_ = !more;
    if (!more) return OkStatus();
    TRY_ASSIGN(ring_[at_].stage, options_->open(std::move(element)));
    TRY_ASSIGN(ring_[at_].cursor, ring_[at_].stage->Open(pass_));
    return OkStatus();
  }
  void Turn() {
    at_ = (at_ + 1) % ring_.size();
    given_ = 0;
  }

  const std::unique_ptr<Cursor> input_;
  const std::shared_ptr<const Interleaving> options_;
  const Pass pass_;
  std::vector<Place> ring_;
  size_t at_ = 0;
  int64_t given_ = 0;  // of the block at hand
  bool ended_ = false;
};

class Interleave final : public Stage {
 public:
  Interleave(StagePtr input, Interleaving options)
      : input_(std::move(input)),
        options_(std::make_shared<const Interleaving>(std::move(options))) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    TRY_ASSIGN(std::unique_ptr<Cursor> input, input_->Open(pass));
    return std::unique_ptr<Cursor>(new InterleaveCursor(std::move(input), options_, pass));
  }
  std::string Describe() const override {
    return Format("{} > Interleave({}, {})", input_->Describe(), options_->cycle, options_->block);
  }

 private:
  const StagePtr input_;
  const std::shared_ptr<const Interleaving> options_;
};

}  // namespace

StagePtr MakeZip(std::vector<StagePtr> inputs) { return std::make_shared<Zip>(std::move(inputs)); }

StagePtr MakeConcatenate(std::vector<StagePtr> inputs) {
  return std::make_shared<Concatenate>(std::move(inputs));
}

Result<StagePtr> MakeInterleave(StagePtr input, Interleaving options) {
  if (options.cycle < 1 || options.cycle > 4096 || options.block < 1)
    return InvalidArgument(
        "Interleave: the cycle must be in [1, 4096] and the block positive, got {} and {}",
        options.cycle, options.block);
  return StagePtr(std::make_shared<Interleave>(std::move(input), std::move(options)));
}

}  // namespace penstock::data
