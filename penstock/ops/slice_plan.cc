#include <algorithm>
#include <bit>

#include "penstock/ops/slice.h"

namespace penstock::ops {
namespace {

constexpr int64_t kMostEntries = 32;  // the masks are 32 bits in TensorFlow

bool Has(int64_t mask, int64_t bit) { return bit < 64 && (mask >> bit & 1) != 0; }

// begin:end:stride along one axis, before it is applied.
struct Entry {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t stride = 1;
  bool known = true;  // what is read of the three is
  bool begin_masked = true;
  bool end_masked = true;
  bool shrinks = false;
};

// Where an axis of the result comes from.
constexpr int kNewAxis = -1;

struct Entries {
  std::vector<Entry> axes;   // one for each axis of the input
  std::vector<int> results;  // for each axis of the result the input's, or kNewAxis
};

Result<Entries> Expand(int rank, const Integers& begin, const Integers& end,
                       const Integers& strides, int64_t count, const SliceMasks& masks) {
  const uint64_t used = count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  const uint64_t ellipses = static_cast<uint64_t>(masks.ellipsis) & used;
  if (std::popcount(ellipses) > 1) {
    return InvalidArgument("a slice may have one ellipsis, got mask {}", masks.ellipsis);
  }
  const int64_t ellipsis = ellipses == 0 ? count : std::countr_zero(ellipses);
  // The ellipsis, or the end of the slice, stands for all axes that no other entry takes.
  int64_t taken = 0;
  for (int64_t i = 0; i < count; ++i) taken += i != ellipsis && !Has(masks.new_axis, i);
  if (taken > rank) {
    return InvalidArgument("a slice of a tensor of rank {} may name at most as many axes, got {}",
                           rank, taken);
  }
  Entries out;
  const auto take_rest = [&] {
    for (int64_t k = taken; k < rank; ++k) {
      out.results.push_back(static_cast<int>(out.axes.size()));
      out.axes.push_back({});
    }
  };
  for (int64_t i = 0; i < count; ++i) {
    if (i == ellipsis) {
      take_rest();
    } else if (Has(masks.new_axis, i)) {
      out.results.push_back(kNewAxis);
    } else {
      Entry entry;
      if (begin.known()) entry.begin = begin[i];
      if (end.known()) entry.end = end[i];
      if (strides.known()) entry.stride = strides[i];
      entry.begin_masked = Has(masks.begin, i);
      entry.end_masked = Has(masks.end, i);
      entry.shrinks = Has(masks.shrink_axis, i);
      entry.known = entry.shrinks ? begin.known()
                                  : strides.known() && (begin.known() || entry.begin_masked) &&
                                        (end.known() || entry.end_masked);
      if (!entry.shrinks) out.results.push_back(static_cast<int>(out.axes.size()));
      out.axes.push_back(entry);
    }
  }
  if (ellipses == 0) take_rest();
  return out;
}

// Applies an entry to an axis of `extent` elements; -1 for an unknown one.
Status Apply(const Entry& entry, int axis, int64_t extent, SlicePlan& plan) {
  const int64_t stride = entry.stride;
  if (stride == 0) return InvalidArgument("strides must not be 0, got 0 for axis {}", axis);
  if (entry.shrinks && stride < 0) {
    return InvalidArgument("a stride must be positive where an axis is shrunk, got {}", stride);
  }
  plan.steps.push_back(stride);
  if (entry.shrinks) {
    int64_t at = entry.begin;
    if (entry.known && extent >= 0) {
      if (at < 0) at += extent;
      if (!InRange(at, extent)) {
        return InvalidArgument("slice index must be in [{}, {}) along axis {}, got {}", -extent,
                               extent, axis, entry.begin);
      }
    }
    plan.begins.push_back(at);
    plan.sizes.push_back(1);
    return OkStatus();
  }
  if (extent < 0 || !entry.known) {
    plan.begins.push_back(0);
    plan.sizes.push_back(extent == 0 ? 0 : Shape::kUnknownDim);
    return OkStatus();
  }
  // Backwards, positions run from extent - 1 down to -1, the place before the first.
  const int64_t low = stride > 0 ? 0 : -1, high = stride > 0 ? extent : extent - 1;
  const auto place = [&](int64_t x) { return std::clamp(x < 0 ? x + extent : x, low, high); };
  const int64_t first = entry.begin_masked ? (stride > 0 ? low : high) : place(entry.begin);
  const int64_t last = entry.end_masked ? (stride > 0 ? high : low) : place(entry.end);
  const int64_t length = last - first;
  const bool is_empty = length == 0 || (length < 0) != (stride < 0);
  plan.begins.push_back(is_empty ? 0 : first);
  plan.sizes.push_back(is_empty ? 0 : length / stride + (length % stride != 0 ? 1 : 0));
  return OkStatus();
}

}  // namespace

Result<SlicePlan> PlanSlice(const Shape& input, const Integers& begin, const Integers& end,
                            const Integers& strides, int64_t count, const SliceMasks& masks) {
  if (count >= kMostEntries) {
    return InvalidArgument("a slice must have fewer than {} entries, got {}", kMostEntries, count);
  }
  TRY_ASSIGN(const Entries entries, Expand(input.rank(), begin, end, strides, count, masks));
  SlicePlan plan;
  for (int i = 0; i < input.rank(); ++i) TRY(Apply(entries.axes[i], i, input[i], plan));
  std::vector<int64_t> dims;
  for (const int axis : entries.results) dims.push_back(axis == kNewAxis ? 1 : plan.sizes[axis]);
  TRY_ASSIGN(plan.shape, Shape::Make(dims));
  return plan;
}

}  // namespace penstock::ops
