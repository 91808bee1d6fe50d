#include "penstock/train/data/reader.h"

#include <charconv>
#include <cstdio>
#include <utility>

namespace penstock::data {
namespace {

double Seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

// Cuts "word number " off the front of `text`.
bool TakeNumber(std::string_view* text, std::string_view word, int64_t* number) {
  if (!text->starts_with(word)) return false;
  text->remove_prefix(word.size());
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  if (error != std::errc() || *number < 0) return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()));
  return true;
}

}  // namespace

std::string State::ToString() const {
  return Format("epoch {} index {} of {}", epoch, index, pipeline);
}

Result<State> State::Parse(std::string_view text) {
  State state;
  std::string_view left = text;
  if (!TakeNumber(&left, "epoch ", &state.epoch) || !TakeNumber(&left, " index ", &state.index) ||
      !left.starts_with(" of "))
    return InvalidArgument("not the state of a dataset: {}", Printable(text));
  state.pipeline = left.substr(4);
  return state;
}

std::string Stats::ToString() const {
  char text[256];
  const double time = seconds > 0 ? seconds : 1e-9;
  int size = std::snprintf(text, sizeof text, "%lld elements in %.1f s (%.0f/s)",
                           static_cast<long long>(elements), seconds,
                           static_cast<double>(elements) / time);
  std::string line(text, static_cast<size_t>(size));
  if (bytes > 0) {
    const double megabytes = static_cast<double>(bytes) / 1e6;
    size = std::snprintf(text, sizeof text, ", %.1f MB (%.1f MB/s)", megabytes, megabytes / time);
    line.append(text, static_cast<size_t>(size));
  }
  size = std::snprintf(text, sizeof text, ", waited %.0f%%", 100 * waited / time);
  line.append(text, static_cast<size_t>(size));
  if (bad_records > 0) line += Format(", {} bad records skipped", bad_records);
  return line;
}

Reader::Reader(StagePtr stage)
    : stage_(std::move(stage)),
      stop_(std::make_shared<Stop>()),
      counters_(std::make_shared<Counters>()) {}

Reader::~Reader() {
  // Before the cursors go: threads that wait for others see it, and loops end.
  if (stop_ != nullptr) stop_->Request();
}

Status Reader::OpenAt(const Position& position) {
  cursor_.reset();
  ended_ = false;
  Pass pass;
  pass.counters = counters_;
  pass.stop = stop_;
  Result<std::unique_ptr<Cursor>> cursor = stage_->Open(pass);
  error_ = cursor.ok() ? (*cursor)->Seek(position) : cursor.status();
  TRY(error_);
  cursor_ = *std::move(cursor);
  position_ = position;
  given_ = position.index;
  return OkStatus();
}

Result<bool> Reader::NextOpen(Element* element) {
  TRY(error_);
  if (ended_) return false;
  if (cursor_ == nullptr) TRY(OpenAt({}));
  return cursor_->Next(element);
}

Result<bool> Reader::Next(Element* element) {
  const auto now = std::chrono::steady_clock::now();
  if (begin_ == std::chrono::steady_clock::time_point()) begin_ = now;
  Result<bool> more = NextOpen(element);
  waited_ += std::chrono::steady_clock::now() - now;
  if (!more.ok()) {
    error_ = more.status();
  } else if (!*more) {
    ended_ = true;
  } else {
    ++elements_;
    ++given_;
    position_ = cursor_->position().value_or(Position{0, given_});
  }
  return more;
}

State Reader::SaveState() const { return {position_.epoch, position_.index, stage_->Describe()}; }

Status Reader::RestoreState(const State& state) {
  if (state.pipeline != stage_->Describe())
    return FailedPrecondition("the state is of other data: {}; these are: {}",
                              Printable(state.pipeline, 1000), Printable(stage_->Describe(), 1000));
  return OpenAt({state.epoch, state.index});
}

Stats Reader::stats() const {
  Stats stats;
  stats.elements = elements_;
  stats.bytes = counters_->bytes.load();
  stats.bad_records = counters_->bad_records.load();
  if (begin_ != std::chrono::steady_clock::time_point())
    stats.seconds = Seconds(std::chrono::steady_clock::now() - begin_);
  stats.waited = Seconds(waited_);
  return stats;
}

}  // namespace penstock::data
