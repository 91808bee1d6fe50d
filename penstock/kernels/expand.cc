#include "penstock/kernels/expand.h"

#include <algorithm>
#include <array>

namespace penstock::kernels {
namespace {

struct Word128 {
  uint64_t parts[2];
};

template <class T>
void FillOrCopy(const T* from, int64_t stride, int64_t n, T* to) {
  if (stride == 0) {
    std::fill_n(to, n, *from);
  } else if (stride == 1) {
    std::copy_n(from, n, to);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
  }
}

// A row's length that the compiler knows spares the loop over it.
template <class T, int64_t width>
void FillShortRows(const T* from, int64_t row_stride, int64_t rows, T* to) {
  for (int64_t r = 0; r < rows; ++r) {
    const T value = from[r * row_stride];
    for (int64_t i = 0; i < width; ++i) to[r * width + i] = value;
  }
}

template <class T>
void FillOrCopyRows(const T* from, int64_t row_stride, int64_t stride, int64_t rows, int64_t width,
                    T* to) {
  if (stride == 0 && width == 2) return FillShortRows<T, 2>(from, row_stride, rows, to);
  if (stride == 0 && width == 3) return FillShortRows<T, 3>(from, row_stride, rows, to);
  if (stride == 0 && width == 4) return FillShortRows<T, 4>(from, row_stride, rows, to);
  if (stride == 0 && width <= 16) {
    for (int64_t r = 0; r < rows; ++r) {
      const T value = from[r * row_stride];
      for (int64_t i = 0; i < width; ++i) to[r * width + i] = value;
    }
    return;
  }
  for (int64_t r = 0; r < rows; ++r) {
    FillOrCopy(from + r * row_stride, stride, width, to + r * width);
  }
}

template <class T>
void ExpandTyped(const BroadcastPlan& plan, int operand, const T* data, int64_t begin, int64_t n,
                 T* tile) {
  const int rank = plan.rank();
  const int64_t width = plan.dim(0), stride = plan.stride(operand, 0);
  std::array<int64_t, BroadcastPlan::kMaxRank> coordinates;
  int64_t offset = 0;  // of the row at hand
  int64_t rest = begin;
  for (int d = 0; d < rank; ++d) {
    coordinates[d] = rest % plan.dim(d);
    rest /= plan.dim(d);
    if (d > 0) offset += coordinates[d] * plan.stride(operand, d);
  }
  // Goes `rows` further along dimension 1, which must not pass its end, and carries.
  const auto advance = [&](int64_t rows) {
    coordinates[0] = 0;
    for (int d = 1; d < rank; ++d) {
      const int64_t step = d == 1 ? rows : 1;
      coordinates[d] += step;
      offset += step * plan.stride(operand, d);
      if (coordinates[d] < plan.dim(d)) return;
      offset -= coordinates[d] * plan.stride(operand, d);
      coordinates[d] = 0;
    }
  };
  while (n > 0) {
    if (coordinates[0] == 0 && n >= width) {
      const int64_t rows = rank == 1 ? 1 : std::min(plan.dim(1) - coordinates[1], n / width);
      const int64_t row_stride = rank == 1 ? 0 : plan.stride(operand, 1);
      FillOrCopyRows(data + offset, row_stride, stride, rows, width, tile);
      tile += rows * width;
      n -= rows * width;
      advance(rows);
    } else {
      const int64_t part = std::min(width - coordinates[0], n);
      FillOrCopy(data + offset + coordinates[0] * stride, stride, part, tile);
      tile += part;
      n -= part;
      advance(1);
    }
  }
}

}  // namespace

void Expand(const BroadcastPlan& plan, int operand, const void* data, int bytes, int64_t begin,
            int64_t n, void* tile) {
  const auto as = [&]<class T>(T*) {
    ExpandTyped(plan, operand, static_cast<const T*>(data), begin, n, static_cast<T*>(tile));
  };
  switch (bytes) {
    case 1:
      return as(static_cast<uint8_t*>(nullptr));
    case 2:
      return as(static_cast<uint16_t*>(nullptr));
    case 4:
      return as(static_cast<uint32_t*>(nullptr));
    case 8:
      return as(static_cast<uint64_t*>(nullptr));
    default:
      return as(static_cast<Word128*>(nullptr));
  }
}

}  // namespace penstock::kernels
