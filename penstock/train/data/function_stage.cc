#include <algorithm>
#include <thread>
#include <utility>

#include "penstock/core/thread_pool.h"
#include "penstock/train/data/random.h"
#include "penstock/train/data/stages.h"

namespace penstock::data {
namespace {

constexpr int kMaxThreads = 256;

Status Name(const Status& status, const FunctionStage& stage, const ElementInfo& info) {
  return status.Annotate(Format("{}: element {} of epoch {}", stage.name, info.index, info.epoch));
}

// Passes elements over without calling the function, where that changes nothing.
Result<int64_t> SkipInput(Cursor& input, int64_t n, int64_t* index) {
  TRY_ASSIGN(const int64_t passed, input.Skip(n));
  *index += passed;

  return passed;
}

// On the reader's own thread.
class SerialCursor final : public Cursor {
 public:
  SerialCursor(std::shared_ptr<const FunctionStage> stage, std::unique_ptr<Cursor> input, Pass pass)
      : stage_(std::move(stage)), input_(std::move(input)), pass_(std::move(pass)) {}

  Result<bool> Next(Element* element) override {
    while (true) {
      TRY(pass_.CheckStop());
      TRY_ASSIGN(const bool more, input_->Next(element));
      if (!more) return false;
      const ElementInfo info{pass_.epoch, index_++, pass_.counters.get()};
      Result<bool> kept = stage_->function(element, info);
      if (!kept.ok()) return Name(kept.status(), *stage_, info);
      if (*kept) return true;
    }
  }
  Result<int64_t> Skip(int64_t n) override {
    return stage_->may_drop ? Cursor::Skip(n) : SkipInput(*input_, n, &index_);
  }

 private:
  const std::shared_ptr<const FunctionStage> stage_;
  const std::unique_ptr<Cursor> input_;
  const Pass pass_;
  int64_t index_ = 0;
};

// On threads of its own, in order: element k lies in slot k of a ring from when a thread claims it
// until the reader takes it. One thread at a time reads the input; the function runs beside it.
// Invariant: taken_ <= claimed_ <= taken_ + slots_.size().
class OrderedCursor final : public Cursor {
 public:
  OrderedCursor(std::shared_ptr<const FunctionStage> stage, std::unique_ptr<Cursor> input,
                Pass pass, std::shared_ptr<Stop> stop)
      : stage_(std::move(stage)),
        pass_(std::move(pass)),
        stop_(std::move(stop)),
        slots_(2 * static_cast<size_t>(stage_->threads)),
        input_(std::move(input)) {}

  ~OrderedCursor() override {
    stop_->Request();
    {
      MutexLock lock(mu_);
      leaving_ = true;
    }
    room_.NotifyAll();
    for (std::thread& thread : threads_) thread.join();
  }

  Result<bool> Next(Element* element) override {
    if (given_all_) return false;
    if (threads_.empty()) Start();
    MutexLock lock(mu_);
    while (true) {
      Slot& slot = slots_[static_cast<size_t>(taken_) % slots_.size()];
      while (!slot.ready) filled_.Wait(mu_);
      slot.ready = false;
      ++taken_;
      room_.NotifyOne();
      TRY(std::exchange(slot.status, {}));
      given_all_ = slot.end;
      if (slot.end) return false;
      *element = std::move(slot.element);
      if (slot.kept) return true;
    }
  }
  Result<int64_t> Skip(int64_t n) override {
    if (stage_->may_drop || !threads_.empty()) return Cursor::Skip(n);
    // No thread reads yet.
    return SkipInput(*input_, n, &first_);
  }

 private:
  struct Slot {
    bool ready = false;
    bool kept = false;
    bool end = false;
    Status status;
    Element element;
  };

  void Start() {
    for (int i = 0; i < stage_->threads; ++i) threads_.emplace_back([this] { Work(); });
  }

  void Work() {
    Slot work;
    int64_t number = 0;
    while (Claim(&work, &number)) {
      if (!work.end && work.status.ok()) {
        const ElementInfo info{pass_.epoch, first_ + number, pass_.counters.get()};
        Result<bool> kept = stage_->function(&work.element, info);
        work.kept = kept.ok() && *kept;
        if (!kept.ok()) work.status = Name(kept.status(), *stage_, info);
      }
      work.ready = true;
      MutexLock lock(mu_);
      slots_[static_cast<size_t>(number) % slots_.size()] = std::exchange(work, {});
      if (number == taken_) filled_.NotifyOne();
    }
  }

  // Waits for a free slot and the turn to read, and reads the element for it; false when there is
  // nothing more to do.
  bool Claim(Slot* work, int64_t* number) {
    MutexLock lock(mu_);
    const auto full = [&] { return claimed_ - taken_ == static_cast<int64_t>(slots_.size()); };
    while (!leaving_ && !ended_ && (reading_ || full())) room_.Wait(mu_);
    if (leaving_ || ended_) return false;
    reading_ = true;
    *number = claimed_++;
    mu_.Unlock();
    Result<bool> more = input_->Next(&work->element);
    mu_.Lock();
    reading_ = false;
    work->end = more.ok() && !*more;
    if (!more.ok()) work->status = more.status();
    ended_ = work->end || !more.ok();
    // After the end all threads are to see it, else one is to read on.
    ended_ ? room_.NotifyAll() : room_.NotifyOne();
    return true;
  }

  const std::shared_ptr<const FunctionStage> stage_;
  const Pass pass_;
  const std::shared_ptr<Stop> stop_;

  Mutex mu_;
  CondVar room_;    // for a thread that waits to claim
  CondVar filled_;  // for the reader
  std::vector<Slot> slots_ GUARDED_BY(mu_);
  int64_t claimed_ GUARDED_BY(mu_) = 0;
  int64_t taken_ GUARDED_BY(mu_) = 0;
  bool reading_ GUARDED_BY(mu_) = false;  // whoever set it owns input_
  bool ended_ GUARDED_BY(mu_) = false;
  bool leaving_ GUARDED_BY(mu_) = false;
  const std::unique_ptr<Cursor> input_;
  bool given_all_ = false;
  int64_t first_ = 0;  // the number of the first element read; constant once threads run
  std::vector<std::thread> threads_;
};

class FunctionOver final : public Stage {
 public:
  FunctionOver(StagePtr input, FunctionStage options)
      : input_(std::move(input)),
        options_(std::make_shared<const FunctionStage>(std::move(options))) {}

  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    if (options_->threads == 1) {
      TRY_ASSIGN(std::unique_ptr<Cursor> input, input_->Open(pass));
      return std::unique_ptr<Cursor>(new SerialCursor(options_, std::move(input), pass));
    }
    auto stop = std::make_shared<Stop>(pass.stop);
    TRY_ASSIGN(std::unique_ptr<Cursor> input, input_->Open(pass.WithStop(stop)));
    return std::unique_ptr<Cursor>(new OrderedCursor(options_, std::move(input), pass, stop));
  }
  std::optional<int64_t> Size() const override {
    return options_->may_drop ? std::nullopt : input_->Size();
  }
  std::string Describe() const override {
    return input_->Describe() + (options_->may_drop ? " > Filter" : " > Map");
  }

 private:
  const StagePtr input_;
  const std::shared_ptr<const FunctionStage> options_;
};

}  // namespace

std::string NameAt(std::string_view name, CallSite site) {
  return site.known() ? Format("{} at {}", name, site.ToString()) : std::string(name);
}

int NumThreads(int threads) { return threads == 0 ? ThreadBudget() : threads; }

uint64_t ElementSeed(uint64_t seed, const ElementInfo& info) {
  const uint64_t of_epoch = Random::Combine(seed, static_cast<uint64_t>(info.epoch));
  return Random::Combine(of_epoch, static_cast<uint64_t>(info.index));
}

Result<StagePtr> MakeFunction(StagePtr input, FunctionStage options) {
  if (options.threads < 1 || options.threads > kMaxThreads)
    return InvalidArgument("{}: threads must be in [1, {}], got {}", options.name, kMaxThreads,
                           options.threads);
  return StagePtr(std::make_shared<FunctionOver>(std::move(input), std::move(options)));
}

}  // namespace penstock::data
