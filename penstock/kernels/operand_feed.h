#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "penstock/kernels/broadcast_plan.h"

namespace penstock::kernels {

// Cuts an output into runs of consecutive elements and finds for each what every operand has to
// offer there: a pointer to as many consecutive elements, or to one for all. Long rows are runs as
// they are. Short rows would make a call for a few elements each: instead a run takes many of them,
// and operands that do not lie like the output are written out into tiles first; those that repeat
// themselves are written once and kept.
// Threads: one feed per thread. The plan may be shared.
class OperandFeed {
 public:
  struct Run {
    const void* data;
    bool is_scalar;
  };
  // A row of `long_row` elements or more is worth a run of its own. Runs have at most `max_run`
  // elements, and at most `tile` if a tile is needed.
  struct Limits {
    int64_t long_row;
    int64_t max_run;
    int64_t tile;
  };

  // The bytes of tile memory that a feed needs.
  static size_t TileBytes(const BroadcastPlan& plan, std::span<const Operand> operands,
                          const Limits& limits);
  // A run length, at most limits.tile, such that runs starting at its multiples find repeating
  // operands in their tiles.
  static int64_t PreferredRun(const BroadcastPlan& plan, const Limits& limits);

  // `tiles` has TileBytes() bytes, aligned to 64. All arguments outlive the feed.
  OperandFeed(const BroadcastPlan& plan, std::span<const Operand> operands, const Limits& limits,
              std::byte* tiles);

  // Fills runs[k] for each operand k, for n output elements from `begin` on, and returns n. 0 < n
  // <= end - begin.
  int64_t Next(int64_t begin, int64_t end, Run* runs);

 private:
  struct Source {
    const std::byte* data;
    int bytes;
    std::byte* tile;  // null: read in place
    int64_t phase;    // of its period at which the tile begins; -1: the tile holds nothing to keep
    int64_t offset;   // of the row at hand
  };

  void Seek(int64_t begin);
  void NextRow();
  const void* Expand(int operand, int64_t begin, int64_t n);

  const BroadcastPlan& plan_;
  const bool by_rows_;
  int64_t max_run_;
  // By rows: where the next run is expected to begin, and the row there. Outer coordinates count
  // from dimension 1.
  int64_t position_ = -1;
  int64_t column_ = 0;
  std::array<int64_t, BroadcastPlan::kMaxRank> coordinates_;
  InlineArray<Source, kMaxOperands> sources_;
};

}  // namespace penstock::kernels
