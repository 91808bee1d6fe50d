#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/train/data/stage.h"

namespace penstock::data {

// Where a reader stands in its data: enough to go on with the same elements, in another process
// too. Seeds and sizes are part of `pipeline`.
struct State {
  int64_t epoch = 0;  // epochs that were finished
  int64_t index = 0;  // elements of this epoch that were given
  std::string pipeline;

  // "epoch 3 index 120 of digits.csv > Shuffle(seed 1) > Batch(32)": one line, and back.
  std::string ToString() const;
  static Result<State> Parse(std::string_view text);
};

// What has gone through a reader.
struct Stats {
  int64_t elements = 0;
  int64_t bytes = 0;        // read from files
  int64_t bad_records = 0;  // skipped
  double seconds = 0;       // since the first element was asked for
  double waited = 0;        // seconds of it in which the caller waited for an element

  // "1200 elements in 3.1 s (387/s), 96.1 MB (31.0 MB/s), waited 12%, 3 bad records skipped"
  std::string ToString() const;
};

// Reads a pipeline, without types.
// Threads: one at a time; the destructor joins the pipeline's threads.
class Reader {
 public:
  explicit Reader(StagePtr stage);
  Reader(Reader&&) = default;
  Reader& operator=(Reader&&) = delete;
  ~Reader();

  // The next element; false at the end. An error stays: later calls return it again.
  Result<bool> Next(Element* element);
  // Before an element is read, or after the last one, too.
  State SaveState() const;
  // Goes to a saved state, from any other. FailedPrecondition when it is of other data.
  Status RestoreState(const State& state);
  Stats stats() const;
  const Stage& stage() const { return *stage_; }

 private:
  // Opens the data anew, at the position.
  Status OpenAt(const Position& position);
  Result<bool> NextOpen(Element* element);

  StagePtr stage_;
  std::shared_ptr<Stop> stop_;
  std::shared_ptr<Counters> counters_;
  std::unique_ptr<Cursor> cursor_;
  Status error_;
  bool ended_ = false;
  int64_t given_ = 0;  // since the beginning of the data
  Position position_;  // after what was given
  // For stats alone.
  int64_t elements_ = 0;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::duration waited_{0};
};

}  // namespace penstock::data
