#include "penstock/kernels/copy.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "penstock/core/checked.h"
#include "penstock/kernels/strided.h"
#include "penstock/kernels/transpose_tile.h"

namespace penstock::kernels {
namespace {

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Bytes of which a thread should copy at least as many at a time.
constexpr int64_t kTileBytes = 64 << 10;
// A result from this size on is written past the caches where the kernel can.
constexpr int64_t kStreamBytes = 16 << 20;

// A rectangle of a copy; strides are in bytes.
struct Rectangle {
  StridedDim rows;
  StridedDim columns;
};

using RectangleFn = void (*)(const Rectangle&, const std::byte* src, std::byte* dst);

// Each row is one run of bytes, columns.size of them.
void CopyRuns(const Rectangle& x, const std::byte* src, std::byte* dst) {
  for (int64_t r = 0; r < x.rows.size; ++r) {
    std::memcpy(dst + r * x.rows.dst, src + r * x.rows.src, x.columns.size);
  }
}

// Plain bits at any address: a run of two elements may be taken as one of their joint size.
template <class T>
struct Anywhere {
  typedef T Type __attribute__((aligned(1), may_alias));
};

template <class T>
void CopyElements(const Rectangle& x, const std::byte* src, std::byte* dst) {
  using Bits = typename Anywhere<T>::Type;
  constexpr int64_t kBytes = sizeof(T);
  const int64_t n = x.columns.size;
  for (int64_t r = 0; r < x.rows.size; ++r) {
    const std::byte* from = src + r * x.rows.src;
    const Bits* __restrict in = reinterpret_cast<const Bits*>(from);
    std::byte* to = dst + r * x.rows.dst;
    Bits* __restrict out = reinterpret_cast<Bits*>(to);
    if (x.columns.dst != kBytes) {
      for (int64_t i = 0; i < n; ++i) {
        *reinterpret_cast<Bits*>(to + i * x.columns.dst) =
            *reinterpret_cast<const Bits*>(from + i * x.columns.src);
      }
    } else if (x.columns.src == 0) {
      const T value = *in;
      for (int64_t i = 0; i < n; ++i) out[i] = value;
    } else if (x.columns.src == -kBytes) {
      for (int64_t i = 0; i < n; ++i) out[i] = in[-i];
    } else {
      for (int64_t i = 0; i < n; ++i) {
        out[i] = *reinterpret_cast<const Bits*>(from + i * x.columns.src);
      }
    }
  }
}

RectangleFn ElementsFn(int64_t bytes) {
  switch (bytes) {
    case 1:
      return CopyElements<uint8_t>;
    case 2:
      return CopyElements<uint16_t>;
    case 4:
      return CopyElements<uint32_t>;
    case 8:
      return CopyElements<uint64_t>;
    default:
      return CopyElements<unsigned __int128>;
  }
}

// Takes the dimension at `index`, or one of a single element when there is none.
StridedDim Take(std::vector<StridedDim>& dims, int64_t index) {
  if (index < 0) return {1, 0, 0};
  const StridedDim dim = dims[index];
  dims.erase(dims.begin() + index);
  return dim;
}

// Calls copy(part, src, dst) for tiles of at most tile_rows x tile_columns of each `whole`
// rectangle.
void ForEachTile(const std::vector<StridedDim>& outer, const Rectangle& whole, int64_t tile_rows,
                 int64_t tile_columns, int64_t column_bytes, const void* src, void* dst,
                 const ParallelFor& each,
                 FunctionRef<void(const Rectangle&, const std::byte*, std::byte*)> copy) {
  tile_rows = std::min(tile_rows, whole.rows.size);
  tile_columns = std::min(tile_columns, whole.columns.size);
  const int64_t tiles_across = CeilDiv(whole.columns.size, tile_columns);
  const int64_t tiles = tiles_across * CeilDiv(whole.rows.size, tile_rows);
  const double cost = 20 + static_cast<double>(tile_rows) *
                               (4 + static_cast<double>(tile_columns * column_bytes) / 4);
  each(CountIndices(outer) * tiles, cost, [&](int64_t begin, int64_t end) {
    StridedIterator at(outer, begin / tiles);
    int64_t tile = begin % tiles;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t r = tile / tiles_across * tile_rows, c = tile % tiles_across * tile_columns;
      Rectangle part = whole;
      part.rows.size = std::min(tile_rows, whole.rows.size - r);
      part.columns.size = std::min(tile_columns, whole.columns.size - c);
      copy(part,
           static_cast<const std::byte*>(src) + at.src() + r * whole.rows.src +
               c * whole.columns.src,
           static_cast<std::byte*>(dst) + at.dst() + r * whole.rows.dst + c * whole.columns.dst);
      if (++tile < tiles) continue;
      tile = 0;
      at.Next();
    }
  });
}

}  // namespace

void CopyStrided(const void* src, const int64_t* src_strides, void* dst, const int64_t* dst_strides,
                 const int64_t* dims, int rank, int64_t element_bytes, const ParallelFor& each) {
  std::vector<StridedDim> outer =
      CollapseStrided(src_strides, dst_strides, dims, rank, element_bytes);
  const auto is_dense = [&](const StridedDim& dim) {
    return dim.src == element_bytes && dim.dst == element_bytes;
  };
  bool runs = outer.empty() || is_dense(outer.back());
  int64_t run = outer.empty() ? 1 : outer.back().size;
  if (run == 0) return;
  // A run of a few elements is one element of a larger size.
  if (runs && outer.size() > 1 && run * element_bytes <= 16 && (run & (run - 1)) == 0) {
    element_bytes *= run;
    outer.pop_back();
    runs = false;
  }

  Rectangle whole;
  whole.columns = Take(outer, static_cast<int64_t>(outer.size()) - 1);
  if (runs) {
    const int64_t bytes = whole.columns.size * element_bytes;
    whole.columns = {bytes, 1, 1};
    whole.rows = Take(outer, static_cast<int64_t>(outer.size()) - 1);
    const int64_t tile_columns = std::min(bytes, kTileBytes);
    const RectangleFn copy = CopyRuns;
    return ForEachTile(outer, whole, kTileBytes / tile_columns, tile_columns, 1, src, dst, each,
                       copy);
  }
  int64_t dense_row = static_cast<int64_t>(outer.size()) - 1;
  while (dense_row >= 0 && outer[dense_row].src != element_bytes) --dense_row;
  if (dense_row < 0 || whole.columns.dst != element_bytes) {
    whole.rows = Take(outer, static_cast<int64_t>(outer.size()) - 1);
    const int64_t tile_columns = std::min(whole.columns.size, kTileBytes / element_bytes);
    const RectangleFn copy = ElementsFn(element_bytes);
    return ForEachTile(outer, whole, kTileBytes / (tile_columns * element_bytes), tile_columns,
                       element_bytes, src, dst, each, copy);
  }
  // The source is dense along rows, the destination along columns. A tile reads a kilobyte of each
  // of few source rows, so that it stays within the pages that the processor knows.
  whole.rows = Take(outer, dense_row);
  const int64_t total = CountIndices(outer) * whole.rows.size * whole.columns.size * element_bytes;
  const bool stream = total >= kStreamBytes;
  const TransposeTileFn transpose = TransposeTileOf(element_bytes);
  ForEachTile(outer, whole, 1024 / element_bytes, 64, element_bytes, src, dst, each,
              [&](const Rectangle& x, const std::byte* from, std::byte* to) {
                transpose(from, x.columns.src, to, x.rows.dst, x.rows.size, x.columns.size, stream);
              });
}

void WalkStrided(const int64_t* src_strides, const int64_t* dst_strides, const int64_t* dims,
                 int rank, double cost, const ParallelFor& each,
                 FunctionRef<void(int64_t, int64_t, int64_t, int64_t, int64_t)> copy) {
  std::vector<StridedDim> outer = CollapseStrided(src_strides, dst_strides, dims, rank, 1);
  const StridedDim inner = Take(outer, static_cast<int64_t>(outer.size()) - 1);
  if (inner.size == 0) return;
  constexpr int64_t kPart = 1024;
  const int64_t parts = CeilDiv(inner.size, kPart);
  const double part_cost = cost * static_cast<double>(std::min(inner.size, kPart));
  each(CountIndices(outer) * parts, part_cost, [&](int64_t begin, int64_t end) {
    StridedIterator at(outer, begin / parts);
    int64_t part = begin % parts;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = part * kPart;
      copy(at.src() + first * inner.src, at.dst() + first * inner.dst, inner.src, inner.dst,
           std::min(kPart, inner.size - first));
      if (++part < parts) continue;
      part = 0;
      at.Next();
    }
  });
}

template <class Index>
int64_t WalkGather(const Index* indices, const GatherShape& shape, double cost,
                   const ParallelFor& each, FunctionRef<void(int64_t, int64_t)> copy) {
  if (shape.batch <= 0 || shape.outer <= 0 || shape.num_indices <= 0) return -1;
  // The lowest bad position wins, whoever finds it. Relaxed: ParallelFor orders it before the end.
  constexpr int64_t kNone = INT64_MAX;
  std::atomic<int64_t> first_bad{kNone};
  each(shape.batch * shape.outer * shape.num_indices, cost, [&](int64_t begin, int64_t end) {
    int64_t outer = begin / shape.num_indices;  // of batch * shape.outer
    int64_t i = begin % shape.num_indices;
    for (int64_t row = begin; row < end; ++row) {
      const int64_t position = outer / shape.outer * shape.num_indices + i;
      // Read once: what was checked is what is used.
      const int64_t index = static_cast<const volatile Index*>(indices)[position];
      if (InRange(index, shape.gather_dim)) [[likely]] {
        copy(outer * shape.gather_dim + index, row);
      } else {
        int64_t seen = first_bad.load(std::memory_order_relaxed);
        while (position < seen &&
               !first_bad.compare_exchange_weak(seen, position, std::memory_order_relaxed)) {
        }
      }
      if (++i < shape.num_indices) continue;
      i = 0;
      ++outer;
    }
  });
  const int64_t bad = first_bad.load(std::memory_order_relaxed);
  return bad == kNone ? -1 : bad;
}

template <class Index>
int64_t GatherRows(const void* params, const Index* indices, const GatherShape& shape,
                   int64_t element_bytes, void* out, const ParallelFor& each) {
  const int64_t bytes = shape.inner * element_bytes;
  const std::byte* src = static_cast<const std::byte*>(params);
  std::byte* dst = static_cast<std::byte*>(out);
  const double cost = 10 + static_cast<double>(bytes) / 4;
  const auto gather = [&](auto copy) { return WalkGather(indices, shape, cost, each, copy); };
  switch (bytes) {
    case 4:
      return gather(
          [&](int64_t from, int64_t to) { std::memcpy(dst + to * 4, src + from * 4, 4); });
    case 8:
      return gather(
          [&](int64_t from, int64_t to) { std::memcpy(dst + to * 8, src + from * 8, 8); });
    default:
      return gather([&](int64_t from, int64_t to) {
        std::memcpy(dst + to * bytes, src + from * bytes, bytes);
      });
  }
}

#define PENSTOCK_GATHER(Index)                                                                     \
  template int64_t WalkGather<Index>(const Index*, const GatherShape&, double, const ParallelFor&, \
                                     FunctionRef<void(int64_t, int64_t)>);                         \
  template int64_t GatherRows<Index>(const void*, const Index*, const GatherShape&, int64_t,       \
                                     void*, const ParallelFor&);
PENSTOCK_GATHER(int32_t)
PENSTOCK_GATHER(int64_t)
#undef PENSTOCK_GATHER

}  // namespace penstock::kernels
