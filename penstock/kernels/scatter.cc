#include "penstock/kernels/scatter.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace penstock::kernels {
namespace {

constexpr int64_t kLine = 64;
constexpr int64_t kPage = 4096;
// How many rows ahead of the work memory is asked for: enough to cover a miss, few enough not to be
// thrown out again.
constexpr int64_t kAhead = 12;
// Lines of a row that are asked for; the machine sees by itself how a longer one goes on.
constexpr int64_t kMostLines = 8;
// Updates whose rows are sorted out at a time.
constexpr int64_t kChunk = 1024;
constexpr double kCyclesOfMiss = 60;

// Columns [begin, end) of one update.
class RowUpdate {
 public:
  RowUpdate(const Scatter& s, BlockFn fn, int64_t begin, int64_t end)
      : table_(static_cast<char*>(s.table)),
        updates_(static_cast<const char*>(s.updates)),
        row_bytes_(s.row_elements * s.element_bytes),
        offset_(begin * s.element_bytes),
        bytes_((end - begin) * s.element_bytes),
        n_(end - begin),
        element_bytes_(s.element_bytes),
        is_scalar_(s.is_scalar),
        fn_(fn) {}

  void Prefetch(int64_t row) const {
    const char* at = table_ + row * row_bytes_ + offset_;
    for (int64_t i = 0; i < std::min(bytes_, kMostLines * kLine); i += kLine) {
      __builtin_prefetch(at + i, /*rw=*/1);
    }
  }
  void Do(int64_t row, int64_t update) const {
    char* to = table_ + row * row_bytes_ + offset_;
    const char* from = is_scalar_ ? updates_ : updates_ + update * row_bytes_ + offset_;
    if (fn_ != nullptr) {
      const void* operands[] = {to, from};
      fn_(operands, is_scalar_ ? 2 : 0, to, n_);
    } else if (is_scalar_) {
      for (int64_t i = 0; i < n_; ++i) std::memcpy(to + i * element_bytes_, from, element_bytes_);
    } else {
      std::memcpy(to, from, bytes_);
    }
  }

 private:
  char* const table_;
  const char* const updates_;
  const int64_t row_bytes_;
  const int64_t offset_;
  const int64_t bytes_;
  const int64_t n_;
  const int64_t element_bytes_;
  const bool is_scalar_;
  const BlockFn fn_;
};

// The updates whose row is picked, a chunk at a time so that the list stays in the cache.
template <class Pick>
void RunPicked(const Scatter& s, const RowUpdate& update, Pick pick) {
  int64_t mine[kChunk];
  for (int64_t begin = 0; begin < s.num_updates; begin += kChunk) {
    const int64_t end = std::min(s.num_updates, begin + kChunk);
    int64_t count = 0;
    for (int64_t i = begin; i < end; ++i) {  // without a branch: rows come in any order
      mine[count] = i;
      count += pick(s.rows[i]);
    }
    for (int64_t k = 0; k < std::min(count, kAhead); ++k) update.Prefetch(s.rows[mine[k]]);
    for (int64_t k = 0; k < count; ++k) {
      if (k + kAhead < count) update.Prefetch(s.rows[mine[k + kAhead]]);
      update.Do(s.rows[mine[k]], mine[k]);
    }
  }
}

// Each part does some columns of all updates: for tables of few, long rows.
void SplitColumns(const Scatter& s, BlockFn fn, double cost, const ParallelFor& each) {
  each(
      s.row_elements, cost * static_cast<double>(s.num_updates),
      [&](int64_t begin, int64_t end) {
        const RowUpdate update(s, fn, begin, end);
        RunPicked(s, update, [](int64_t row) { return row >= 0; });
      },
      /*grain=*/kLine);
}

// Each part has rows of its own, whole pages of the table dealt out in turn: neighbours in the
// table, which often are in use together, come to different parts.
void SplitRows(const Scatter& s, BlockFn fn, double cost, const ParallelFor& each) {
  const auto parts = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(each.threads())));
  const int64_t row_bytes = std::max<int64_t>(s.row_elements * s.element_bytes, 1);
  const int shift =
      std::bit_width(static_cast<uint64_t>(std::max<int64_t>(kPage / row_bytes, 1))) - 1;
  const double updates = static_cast<double>(s.num_updates);
  const double all = updates * (cost * static_cast<double>(s.row_elements) + kCyclesOfMiss);
  each(parts, all / static_cast<double>(parts), [&](int64_t begin, int64_t end) {
    const RowUpdate update(s, fn, 0, s.row_elements);
    if (end - begin == parts) {
      RunPicked(s, update, [](int64_t row) { return row >= 0; });
      return;
    }
    for (int64_t part = begin; part < end; ++part) {
      RunPicked(s, update, [shift, part, parts](int64_t row) {
        return static_cast<int64_t>(row >= 0) &
               static_cast<int64_t>((row >> shift & (parts - 1)) == part);
      });
    }
  });
}

}  // namespace

void ScatterRows(const Scatter& scatter, BlockFn fn, double cost, const ParallelFor& each) {
  if (scatter.num_updates == 0 || scatter.row_elements == 0) return;
  const bool is_long = scatter.row_elements * scatter.element_bytes >= 4 * kPage;
  if (is_long) {
    SplitColumns(scatter, fn, cost, each);
  } else {
    SplitRows(scatter, fn, cost, each);
  }
}

int64_t FirstOutOfRange(const int64_t* indices, int64_t n, int64_t limit) {
  for (int64_t begin = 0; begin < n; begin += kChunk) {
    const int64_t end = std::min(n, begin + kChunk);
    bool bad = false;
    for (int64_t i = begin; i < end; ++i) {
      bad |= static_cast<uint64_t>(indices[i]) >= static_cast<uint64_t>(limit);
    }
    if (!bad) continue;
    for (int64_t i = begin; i < end; ++i) {
      if (static_cast<uint64_t>(indices[i]) >= static_cast<uint64_t>(limit)) return i;
    }
  }
  return -1;
}

}  // namespace penstock::kernels
