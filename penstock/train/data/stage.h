#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/core/tensor.h"

// What a pipeline is made of, without types: Dataset (dataset.h) is the typed face of it.
//
// A Stage describes a sequence of elements; a Cursor reads it once. The sequence depends on the
// stage and the number of the epoch alone, never on threads or timing. So a position is a count,
// and what was read can be read again.

namespace penstock::data {

// One example, or a batch of them: a tensor for each field.
using Element = std::vector<Tensor>;

// Tells the threads of a reader to give up. Tokens form a chain: a stop reaches all below.
// Threads: all methods may be called concurrently.
class Stop {
 public:
  explicit Stop(std::shared_ptr<const Stop> above = nullptr) : above_(std::move(above)) {}
  // Relaxed: nothing is published by it, it only ends loops.
  void Request() { requested_.store(true, std::memory_order_relaxed); }
  bool requested() const {
    return requested_.load(std::memory_order_relaxed) || (above_ != nullptr && above_->requested());
  }

 private:
  const std::shared_ptr<const Stop> above_;
  std::atomic<bool> requested_{false};
};

// What the sources of one reader have seen so far. Threads: as Stop.
struct Counters {
  std::atomic<int64_t> bytes{0};        // read from files
  std::atomic<int64_t> bad_records{0};  // skipped
};

// What a cursor is told when it is made.
struct Pass {
  int64_t epoch = 0;
  std::shared_ptr<Counters> counters = std::make_shared<Counters>();
  std::shared_ptr<const Stop> stop = std::make_shared<Stop>();

  // Cancelled once the reader is leaving: loops that may never end ask it.
  Status CheckStop() const {
    return stop->requested() ? Cancelled("the reader has left") : OkStatus();
  }
  Pass OfEpoch(int64_t other) const { return {other, counters, stop}; }
  Pass WithStop(std::shared_ptr<const Stop> inner) const { return {epoch, counters, inner}; }
};

// Where a reader stands: so many elements of an epoch were given.
struct Position {
  int64_t epoch = 0;
  int64_t index = 0;
};

// Reads a stage once.
// Threads: one at a time. After the end Next says so again; after an error nothing but the
// destructor may be called. The destructor joins the threads of the cursor, at any time.
class Cursor {
 public:
  virtual ~Cursor() = default;
  // The next element; false at the end.
  virtual Result<bool> Next(Element* element) = 0;
  // Passes over the next `n` elements as if they had been read, and says how many there were: fewer
  // only at the end.
  virtual Result<int64_t> Skip(int64_t n);
  // The next `n` elements as one, stacked along a new first axis, and how many there were: fewer
  // only at the end. Cursors that know their rows write them where they are to lie.
  virtual Result<int64_t> NextRows(int64_t n, Element* rows);
  // Where the cursor stands, when it is more than a count of what it gave since the beginning.
  virtual std::optional<Position> position() const { return std::nullopt; }
  // Goes to a position that position() gave, or to the count. REQUIRES: nothing was read.
  virtual Status Seek(const Position& position);
};

class Stage;
using StagePtr = std::shared_ptr<const Stage>;

// Elements that can be had by number.
// Threads: immutable.
class Indexed {
 public:
  virtual ~Indexed() = default;
  virtual int64_t num_rows() const = 0;
  // REQUIRES: 0 <= row < num_rows().
  virtual Result<Element> Row(int64_t row) const = 0;
  // Several, stacked.
  virtual Result<Element> Rows(std::span<const int64_t> rows) const = 0;
};

// Threads: immutable; what is kept between passes (a cache) is guarded.
class Stage {
 public:
  virtual ~Stage() = default;
  virtual Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const = 0;
  // The number of elements, where it is known without reading.
  virtual std::optional<int64_t> Size() const { return std::nullopt; }
  // Which elements come, for a person and to tell whether a saved position fits: "digits.csv >
  // Shuffle(seed 1) > Batch(32)". How fast they come (threads, buffers) is left out.
  virtual std::string Describe() const = 0;
  // Null unless the elements can be had by number.
  virtual const Indexed* indexed() const { return nullptr; }
  // A stage that gives the same batches as reading rows one by one, sooner; null when there is
  // none.
  virtual StagePtr Batched(int64_t size, bool drop_remainder) const {
    (void)size, (void)drop_remainder;
    return nullptr;
  }
};

}  // namespace penstock::data
