// The way through a reduction: outputs are cut into units and, where those are few, the elements
// behind each into segments; units x segments are the tasks of the threads. All cuts depend on the
// shape alone, so that sums come out the same whoever computes them.
#include "penstock/kernels/reduce.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "penstock/core/check.h"
#include "penstock/core/dtype.h"
#include "penstock/kernels/reduce_fold.h"

namespace penstock::kernels {

ReduceShape::ReduceShape(const int64_t* dims, const bool* reduced, int rank) : dims_{1} {
  for (int i = 0; i < rank; ++i) {
    (reduced[i] ? reduced_ : num_outputs_) *= dims[i];
    if (dims[i] == 1) continue;
    const bool last_reduced = dims_.size() % 2 == 0;
    if (reduced[i] == last_reduced) {
      dims_.back() *= dims[i];
    } else {
      dims_.push_back(dims[i]);
    }
  }
  if (dims_.size() == 1) dims_.push_back(1);
  if (dims_.size() % 2 == 0) dims_.push_back(1);
}

namespace {

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The innermost three dimensions, [blocks, rows, width], are the kernels' business; the outer ones,
// alternately kept and reduced, are walked here.
class Reduction {
 public:
  Reduction(const FoldKernels& kernels, const ReduceShape& shape, int64_t element_bytes,
            const void* in, void* out);

  void Run(const ParallelFor& each) const;

 private:
  // Bytes of accumulators a unit may have: with those of all levels they stay in the cache.
  static constexpr int64_t kUnitBytes = 16 << 10;
  // Elements that a task should have at least, and beyond which splitting an output pays.
  static constexpr int64_t kTaskElements = 1 << 16;
  // A sum is gathered over at most kRadix values in order, kRadix of such sums again, and so on:
  // the error grows with their logarithm, where it would with their number.
  static constexpr int64_t kRadix = 128;
  static constexpr int kLevels = 4;

  struct Unit {
    int64_t in_offset;   // elements
    int64_t out_offset;  // elements
    int64_t blocks;
    int64_t width;
    int64_t outputs() const { return blocks * width; }
  };

  // Splits `index` over every second of the outer dims from `first` on; the offset in elements.
  int64_t OuterOffset(int64_t index, size_t first) const;
  Unit UnitAt(int64_t unit) const;
  // Gathers steps [begin, end) of a unit into fresh accumulators.
  void Gather(const Unit& unit, int64_t begin, int64_t end, std::byte* accumulators) const;
  void FoldStep(const Unit& unit, int64_t step, void* accumulators) const;
  void Finish(const Unit& unit, const std::byte* accumulators) const {
    kernels_.finish(accumulators, unit.outputs(), count_, out_ + unit.out_offset * element_bytes_);
  }

  const FoldKernels kernels_;
  const std::vector<int64_t>& dims_;
  std::vector<int64_t> strides_;  // of dims_, in elements
  const int64_t element_bytes_;
  const std::byte* const in_;
  std::byte* const out_;
  const int64_t count_;

  int64_t blocks_, rows_, width_;
  int64_t outer_kept_ = 1;
  int64_t outer_reduced_ = 1;
  // A unit is unit_blocks_ whole blocks, or unit_width_ columns of one.
  int64_t unit_blocks_, unit_width_;
  int64_t units_per_outer_;
  int64_t units_;
  // A step is at most step_rows_ rows of one index of the outer reduced dimensions.
  int64_t step_rows_;
  int64_t steps_per_outer_;
  int64_t steps_;
  int64_t steps_per_sum_;  // gathered in order
  int64_t segments_ = 1;
};

Reduction::Reduction(const FoldKernels& kernels, const ReduceShape& shape, int64_t element_bytes,
                     const void* in, void* out)
    : kernels_(kernels),
      dims_(shape.dims()),
      strides_(dims_.size()),
      element_bytes_(element_bytes),
      in_(static_cast<const std::byte*>(in)),
      out_(static_cast<std::byte*>(out)),
      count_(shape.reduced()) {
  int64_t stride = 1;
  for (size_t i = dims_.size(); i-- > 0; stride *= dims_[i]) strides_[i] = stride;
  const size_t outer = dims_.size() - 3;
  for (size_t i = 0; i < outer; ++i) (i % 2 == 0 ? outer_kept_ : outer_reduced_) *= dims_[i];
  blocks_ = dims_[outer];
  rows_ = dims_[outer + 1];
  width_ = dims_[outer + 2];

  const int64_t most = kUnitBytes / kernels_.accumulator_bytes;
  unit_width_ = std::min(width_, most);
  unit_blocks_ = width_ > unit_width_ ? 1 : std::min(blocks_, most / width_);
  if (outer_reduced_ == 1) {
    unit_blocks_ = std::min(unit_blocks_, std::max<int64_t>(1, kTaskElements / (rows_ * width_)));
  }  // else each step skips the rest of an outer dimension, and should read much before it does
  units_per_outer_ = CeilDiv(blocks_, unit_blocks_) * CeilDiv(width_, unit_width_);
  units_ = outer_kept_ * units_per_outer_;

  // Runs have their own tree up to this length.
  step_rows_ = std::min<int64_t>(rows_, width_ == 1 ? kTaskElements : kRadix);
  steps_per_outer_ = CeilDiv(rows_, step_rows_);
  steps_ = outer_reduced_ * steps_per_outer_;
  steps_per_sum_ = width_ == 1 ? kRadix : std::max<int64_t>(1, kRadix / step_rows_);
  if (units_ < 16) {
    segments_ = std::clamp<int64_t>(count_ * unit_blocks_ * unit_width_ / (2 * kTaskElements), 1,
                                    std::min<int64_t>(64, steps_));
  }
}

int64_t Reduction::OuterOffset(int64_t index, size_t first) const {
  int64_t offset = 0;
  for (size_t i = dims_.size() - 5 + first; index > 0; i -= 2) {
    offset += index % dims_[i] * strides_[i];
    index /= dims_[i];
  }
  return offset;
}

Reduction::Unit Reduction::UnitAt(int64_t unit) const {
  const int64_t outer = unit / units_per_outer_;
  int64_t rest = unit % units_per_outer_;
  const int64_t across = CeilDiv(width_, unit_width_);
  const int64_t column = rest % across * unit_width_;
  const int64_t block = rest / across * unit_blocks_;
  const size_t innermost = dims_.size() - 3;
  return {.in_offset = OuterOffset(outer, 0) + block * strides_[innermost] + column,
          .out_offset = (outer * blocks_ + block) * width_ + column,
          .blocks = std::min(unit_blocks_, blocks_ - block),
          .width = std::min(unit_width_, width_ - column)};
}

void Reduction::FoldStep(const Unit& unit, int64_t step, void* accumulators) const {
  const int64_t row = step % steps_per_outer_ * step_rows_;
  const int64_t offset = unit.in_offset + OuterOffset(step / steps_per_outer_, 1) + row * width_;
  kernels_.fold(in_ + offset * element_bytes_,
                {.blocks = unit.blocks,
                 .block_stride = rows_ * width_,
                 .rows = std::min(step_rows_, rows_ - row),
                 .row_stride = width_,
                 .width = unit.width},
                accumulators);
}

void Reduction::Gather(const Unit& unit, int64_t begin, int64_t end,
                       std::byte* accumulators) const {
  const int64_t n = unit.outputs();
  kernels_.fill(accumulators, n);
  if (end - begin <= steps_per_sum_) {
    for (int64_t step = begin; step < end; ++step) FoldStep(unit, step, accumulators);
    return;
  }
  // Level 0 gathers steps; a level that is full goes into the next, the last into `accumulators`.
  alignas(64) std::byte levels[kLevels - 1][kUnitBytes];
  int64_t held[kLevels - 1] = {};
  for (auto& level : levels) kernels_.fill(level, n);
  const auto flush = [&](int level) {
    std::byte* next = level + 1 < kLevels - 1 ? levels[level + 1] : accumulators;
    kernels_.combine(next, levels[level], n);
    kernels_.fill(levels[level], n);
    held[level] = 0;
    if (level + 1 < kLevels - 1) ++held[level + 1];
  };
  for (int64_t step = begin; step < end; ++step) {
    FoldStep(unit, step, levels[0]);
    if (++held[0] < steps_per_sum_) continue;
    flush(0);
    for (int level = 1; level < kLevels - 1 && held[level] == kRadix; ++level) flush(level);
  }
  for (int level = 0; level < kLevels - 1; ++level) flush(level);
}

void Reduction::Run(const ParallelFor& each) const {
  const int64_t accumulator_bytes = kernels_.accumulator_bytes;
  const double unit_cost = static_cast<double>(count_) *
                               static_cast<double>(unit_blocks_ * unit_width_) *
                               static_cast<double>(element_bytes_) / 4 +
                           100;
  // Partial results of all segments of all units: [unit][segment][output].
  std::unique_ptr<std::byte[]> partial;
  const int64_t unit_bytes = unit_blocks_ * unit_width_ * accumulator_bytes;
  if (segments_ > 1) {
    partial.reset(new (std::nothrow) std::byte[units_ * segments_ * unit_bytes]);
  }
  if (!partial) {
    each(units_, unit_cost, [&](int64_t begin, int64_t end) {
      alignas(64) std::byte accumulators[kUnitBytes];
      for (int64_t u = begin; u < end; ++u) {
        const Unit unit = UnitAt(u);
        Gather(unit, 0, steps_, accumulators);
        Finish(unit, accumulators);
      }
    });
    return;
  }
  each(units_ * segments_, unit_cost / static_cast<double>(segments_),
       [&](int64_t begin, int64_t end) {
         for (int64_t i = begin; i < end; ++i) {
           const int64_t segment = i % segments_;
           Gather(UnitAt(i / segments_), segment * steps_ / segments_,
                  (segment + 1) * steps_ / segments_, partial.get() + i * unit_bytes);
         }
       });
  for (int64_t u = 0; u < units_; ++u) {
    const Unit unit = UnitAt(u);
    std::byte* first = partial.get() + u * segments_ * unit_bytes;
    for (int64_t distance = 1; distance < segments_; distance *= 2) {
      for (int64_t s = 0; s + distance < segments_; s += 2 * distance) {
        kernels_.combine(first + s * unit_bytes, first + (s + distance) * unit_bytes,
                         unit.outputs());
      }
    }
    Finish(unit, first);
  }
}

// The bytes that winners are gathered in before they are written as an Index.
template <class Index>
void WriteIndices(const int64_t* from, int64_t n, Index* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Index>(from[i]);
}

// The winner of one long run, found in parts.
template <class T>
int64_t ArgLongRun(const ArgKernels& kernels, const T* in, int64_t n, const ParallelFor& each) {
  constexpr int64_t kPart = 1 << 16;
  std::vector<int64_t> winners(CeilDiv(n, kPart));
  each(static_cast<int64_t>(winners.size()), kPart, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      kernels.runs(in + i * kPart, 1, std::min(kPart, n - i * kPart), &winners[i]);
      winners[i] += i * kPart;
    }
  });
  return kernels.pick(in, winners.data(), static_cast<int64_t>(winners.size()));
}

}  // namespace

template <class T>
void Reduce(ReduceKind kind, const T* in, const ReduceShape& shape, T* out,
            const ParallelFor& each) {
  if (shape.num_outputs() == 0) return;
  const FoldKernels kernels = FoldKernelsOf<T>(kind);
  CHECK(kernels.fold != nullptr) << "no reduction of kind " << static_cast<int>(kind) << " for "
                                 << ToString(kDTypeOf<T>);
  if (shape.reduced() > 0) return Reduction(kernels, shape, sizeof(T), in, out).Run(each);
  alignas(64) std::byte identity[16];
  kernels.fill(identity, 1);
  kernels.finish(identity, 1, 0, out);
  std::fill_n(out + 1, shape.num_outputs() - 1, *out);
}

template <class T, class Index>
void ArgReduce(ArgKind kind, const T* in, int64_t outer, int64_t n, int64_t inner, Index* out,
               const ParallelFor& each) {
  if (outer == 0 || inner == 0) return;
  const ArgKernels kernels = ArgKernelsOf<T>(kind);
  if (inner == 1 && outer < 8 && n >= 1 << 18) {
    for (int64_t o = 0; o < outer; ++o) {
      out[o] = static_cast<Index>(ArgLongRun(kernels, in + o * n, n, each));
    }
    return;
  }
  if (inner == 1) {
    each(outer, static_cast<double>(n) + 10, [&](int64_t begin, int64_t end) {
      int64_t winners[kMaxArgWidth];
      for (int64_t o = begin; o < end; o += kMaxArgWidth) {
        const int64_t size = std::min(kMaxArgWidth, end - o);
        kernels.runs(in + o * n, size, n, winners);
        WriteIndices(winners, size, out + o);
      }
    });
    return;
  }
  const int64_t across = CeilDiv(inner, kMaxArgWidth);
  const double cost =
      static_cast<double>(n) * static_cast<double>(std::min(inner, kMaxArgWidth)) + 50;
  each(outer * across, cost, [&](int64_t begin, int64_t end) {
    int64_t winners[kMaxArgWidth];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t o = i / across, column = i % across * kMaxArgWidth;
      const int64_t width = std::min(kMaxArgWidth, inner - column);
      kernels.rows(in + o * n * inner + column, n, inner, width, winners);
      WriteIndices(winners, width, out + o * inner + column);
    }
  });
}

#define PENSTOCK_REDUCE(T) \
  template void Reduce<T>(ReduceKind, const T*, const ReduceShape&, T*, const ParallelFor&);
#define PENSTOCK_ARG(T)                                                                       \
  template void ArgReduce<T, int32_t>(ArgKind, const T*, int64_t, int64_t, int64_t, int32_t*, \
                                      const ParallelFor&);                                    \
  template void ArgReduce<T, int64_t>(ArgKind, const T*, int64_t, int64_t, int64_t, int64_t*, \
                                      const ParallelFor&);
#define PENSTOCK_REAL(T) PENSTOCK_REDUCE(T) PENSTOCK_ARG(T)
PENSTOCK_REAL(float)
PENSTOCK_REAL(double)
PENSTOCK_REAL(half)
PENSTOCK_REAL(bfloat16)
PENSTOCK_REAL(int8_t)
PENSTOCK_REAL(int16_t)
PENSTOCK_REAL(int32_t)
PENSTOCK_REAL(int64_t)
PENSTOCK_REAL(uint8_t)
PENSTOCK_REAL(uint16_t)
PENSTOCK_REAL(uint32_t)
PENSTOCK_REAL(uint64_t)
PENSTOCK_REAL(bool)
PENSTOCK_REDUCE(complex64)
PENSTOCK_REDUCE(complex128)
#undef PENSTOCK_REDUCE
#undef PENSTOCK_ARG
#undef PENSTOCK_REAL

}  // namespace penstock::kernels
