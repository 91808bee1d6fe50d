#include "penstock/kernels/batch_norm.h"

#include <algorithm>

#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/batch_norm.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/kernels/reduce_fold-inl.h"
#include "penstock/kernels/stream-inl.h"

#ifndef PENSTOCK_KERNELS_BATCH_NORM_ONCE_
#define PENSTOCK_KERNELS_BATCH_NORM_ONCE_
namespace penstock::kernels {

// Channels last: how many rows are summed on their own before sums are added up. It hangs on the
// shape alone, so that results do not hang on the threads.
inline int64_t SegmentRows(const ChannelShape& shape) {
  constexpr int64_t kSegments = 64, kLeastRows = 64;
  return std::max((shape.outer + kSegments - 1) / kSegments, kLeastRows);
}
inline int64_t Segments(const ChannelShape& shape) {
  return (shape.outer + SegmentRows(shape) - 1) / SegmentRows(shape);
}

}  // namespace penstock::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

constexpr int64_t kNormChannels = 256;  // worked on at a time
constexpr int64_t kNormPiece = 512;     // of a run of one channel

// Joins the mean and the sum of squared distances of two sets, of n and of m elements, to those of
// both.
PENSTOCK_SCALAR void Join(float n, float m, float other_mean, float other_squares, float& mean,
                          float& squares) {
  const float delta = other_mean - mean;
  const float weight = m / (n + m);
  mean += delta * weight;
  squares += other_squares + delta * delta * (n * weight);
}

// Sums of the distances from `centre` and of their squares, over rows.
void AddDistances(const float* __restrict x, int64_t rows, int64_t stride, int64_t width,
                  const float* __restrict centre, float* __restrict sum,
                  float* __restrict squares) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const float* a = x + r * stride;
    const float *b = a + stride, *c = b + stride, *d = c + stride;
    for (int64_t i = 0; i < width; ++i) {
      const float p = a[i] - centre[i], q = b[i] - centre[i];
      const float u = c[i] - centre[i], v = d[i] - centre[i];
      sum[i] += (p + q) + (u + v);
      squares[i] += (p * p + q * q) + (u * u + v * v);
    }
  }
  for (; r < rows; ++r) {
    for (int64_t i = 0; i < width; ++i) {
      const float p = x[r * stride + i] - centre[i];
      sum[i] += p;
      squares[i] += p * p;
    }
  }
}

// The mean and the sum of squared distances from it, of `rows` rows, block by block. A block takes
// its distances from the mean of those before it; where that is far off, what its own variance
// loses in digits is little beside the distance between the blocks.
void RowMoments(const float* x, int64_t rows, int64_t stride, int64_t width, float* mean,
                float* squares) {
  const int64_t block_rows = std::max<int64_t>(4096 / width / 4 * 4, 4);
  float sum[kNormChannels], block_squares[kNormChannels];
  std::copy_n(x, width, mean);
  std::fill_n(squares, width, 0.0f);
  for (int64_t r = 0; r < rows; r += block_rows) {
    const int64_t n = std::min(block_rows, rows - r);
    std::fill_n(sum, width, 0.0f);
    std::fill_n(block_squares, width, 0.0f);
    AddDistances(x + r * stride, n, stride, width, mean, sum, block_squares);
    const float share = 1.0f / static_cast<float>(n);
    const auto before = static_cast<float>(r);
    const float weight = static_cast<float>(n) / (before + static_cast<float>(n));
    for (int64_t c = 0; c < width; ++c) {
      const float delta = sum[c] * share;  // from the mean so far to the block's
      mean[c] += delta * weight;
      squares[c] += block_squares[c] - delta * sum[c] + delta * delta * (before * weight);
    }
  }
}

// The same of one channel that lies in runs of n elements.
void RunMoments(const float* x, int64_t runs, int64_t stride, int64_t n, float* mean,
                float* squares) {
  float values[kNormPiece];
  float gathered = 0;
  *mean = *squares = 0;
  for (int64_t r = 0; r < runs; ++r) {
    for (int64_t i = 0; i < n; i += kNormPiece) {
      const int64_t size = std::min(kNormPiece, n - i);
      const float* from = x + r * stride + i;
      const float piece_mean = FoldRun<SumOp<float>>(from, size) / static_cast<float>(size);
      for (int64_t k = 0; k < size; ++k) {
        const float distance = from[k] - piece_mean;
        values[k] = distance * distance;
      }
      Join(gathered, static_cast<float>(size), piece_mean, FoldLanes<SumOp<float>>(values, size),
           *mean, *squares);
      gathered += static_cast<float>(size);
    }
  }
}

// sum[c] += dy, product[c] += dy * (x - mean), over rows.
void RowGradientSums(const float* __restrict dy, const float* __restrict x, int64_t rows,
                     int64_t stride, int64_t width, const float* __restrict mean,
                     float* __restrict sum, float* __restrict product) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const float* a = x + r * stride;
    const float *b = a + stride, *c = b + stride, *d = c + stride;
    const float* p = dy + r * stride;
    const float *q = p + stride, *u = q + stride, *v = u + stride;
    for (int64_t i = 0; i < width; ++i) {
      sum[i] += (p[i] + q[i]) + (u[i] + v[i]);
      product[i] += (p[i] * (a[i] - mean[i]) + q[i] * (b[i] - mean[i])) +
                    (u[i] * (c[i] - mean[i]) + v[i] * (d[i] - mean[i]));
    }
  }
  for (; r < rows; ++r) {
    for (int64_t i = 0; i < width; ++i) {
      const float u = dy[r * stride + i];
      sum[i] += u;
      product[i] += u * (x[r * stride + i] - mean[i]);
    }
  }
}

void RunGradientSums(const float* dy, const float* x, int64_t runs, int64_t stride, int64_t n,
                     float mean, float* sum, float* product) {
  float values[kNormPiece];
  *sum = *product = 0;
  for (int64_t r = 0; r < runs; ++r) {
    for (int64_t i = 0; i < n; i += kNormPiece) {
      const int64_t size = std::min(kNormPiece, n - i);
      const float* p = dy + r * stride + i;
      const float* a = x + r * stride + i;
      for (int64_t k = 0; k < size; ++k) {
        values[k] = p[k] * (a[k] - mean);
      }
      *sum += FoldRun<SumOp<float>>(p, size);
      *product += FoldLanes<SumOp<float>>(values, size);
    }
  }
}

// Calls body(i, size, to) for pieces of a row of n elements; what it writes to `to` becomes
// out[i, i + size).
template <class Body>
PENSTOCK_SCALAR void ForPieces(int64_t n, float* out, bool streams, const Body& body) {
  if (!streams) return body(0, n, out);
  float piece[kNormPiece];
  for (int64_t i = 0; i < n; i += kNormPiece) {
    const int64_t size = std::min(kNormPiece, n - i);
    body(i, size, piece);
    StreamFloats(piece, size, out + i);
  }
}

// One value for all elements of a run, or one for each element of a row.
struct Same {
  float value;
  PENSTOCK_SCALAR float operator[](int64_t) const { return value; }
};
using Each = const float* __restrict;

template <class Term>
struct ApplyTo {
  Each x;
  Term mean, factor, offset;
  PENSTOCK_SCALAR void operator()(int64_t from, int64_t n, float* __restrict to) const {
    for (int64_t i = 0; i < n; ++i) {
      to[i] = (x[from + i] - mean[from + i]) * factor[from + i] + offset[from + i];
    }
  }
};

template <class Term>
struct GradientTo {
  Each dy, x;
  Term mean, factor, shift, slope;
  PENSTOCK_SCALAR void operator()(int64_t from, int64_t n, float* __restrict to) const {
    for (int64_t i = from; i < from + n; ++i) {
      to[i - from] = factor[i] * (dy[i] - shift[i] - (x[i] - mean[i]) * slope[i]);
    }
  }
};

// Calls body(segment, first row, rows) for the segments of an array with its channels last.
template <class Body>
void ForSegments(const ChannelShape& s, const ParallelFor& each, Body body) {
  const int64_t segment_rows = SegmentRows(s);
  each(Segments(s), static_cast<double>(segment_rows * s.channels),
       [&](int64_t begin, int64_t end) {
         for (int64_t i = begin; i < end; ++i) {
           const int64_t first = i * segment_rows;
           body(i, first, std::min(segment_rows, s.outer - first));
         }
       });
}
// Calls row(first element) for each row or, with the channels first, run(first element, channel)
// for each run, and writes what the body that it returns makes of it to `out`.
template <class Row, class Run>
void ForRuns(const ChannelShape& s, const ParallelFor& each, float* out, Row row, Run run) {
  const int64_t runs = s.inner == 1 ? s.outer : s.outer * s.channels;
  const int64_t size = s.inner == 1 ? s.channels : s.inner;
  const bool streams = MayStream(out, runs * size, size);
  each(runs, static_cast<double>(size), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (s.inner == 1) {
        ForPieces(size, out + i * size, streams, row(i * size));
      } else {
        ForPieces(size, out + i * size, streams, run(i * size, i % s.channels));
      }
    }
    if (streams) hwy::FlushStream();
  });
}

// scratch holds [segments][2][channels].
void Moments(const ChannelShape& s, const float* x, float* scratch, float* mean, float* variance,
             const ParallelFor& each) {
  const float share = 1.0f / static_cast<float>(s.count());
  if (s.inner != 1) {
    each(s.channels, 2.0 * static_cast<double>(s.count()), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        RunMoments(x + c * s.inner, s.outer, s.channels * s.inner, s.inner, mean + c, variance + c);
        variance[c] *= share;
      }
    });
    return;
  }
  ForSegments(s, each, [&](int64_t segment, int64_t first, int64_t rows) {
    float* part = scratch + segment * 2 * s.channels;
    for (int64_t c = 0; c < s.channels; c += kNormChannels) {
      RowMoments(x + first * s.channels + c, rows, s.channels,
                 std::min(kNormChannels, s.channels - c), part + c, part + s.channels + c);
    }
  });
  std::fill_n(mean, s.channels, 0.0f);
  std::fill_n(variance, s.channels, 0.0f);
  const int64_t segment_rows = SegmentRows(s);
  for (int64_t i = 0; i < Segments(s); ++i) {
    const float* part = scratch + i * 2 * s.channels;
    const auto before = static_cast<float>(i * segment_rows);
    const auto rows = static_cast<float>(std::min(segment_rows, s.outer - i * segment_rows));
    for (int64_t c = 0; c < s.channels; ++c) {
      Join(before, rows, part[c], part[s.channels + c], mean[c], variance[c]);
    }
  }
  for (int64_t c = 0; c < s.channels; ++c) variance[c] *= share;
}

void Apply(const ChannelShape& s, const float* x, const float* mean, const float* factor,
           const float* offset, float* y, const ParallelFor& each) {
  ForRuns(
      s, each, y,
      [=](int64_t at) {
        return ApplyTo<Each>{x + at, mean, factor, offset};
      },
      [=](int64_t at, int64_t c) {
        return ApplyTo<Same>{x + at, {mean[c]}, {factor[c]}, {offset[c]}};
      });
}

void GradientSums(const ChannelShape& s, const float* dy, const float* x, const float* mean,
                  float* scratch, float* sum, float* product, const ParallelFor& each) {
  if (s.inner != 1) {
    each(s.channels, 2.0 * static_cast<double>(s.count()), [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        RunGradientSums(dy + c * s.inner, x + c * s.inner, s.outer, s.channels * s.inner, s.inner,
                        mean[c], sum + c, product + c);
      }
    });
    return;
  }
  ForSegments(s, each, [&](int64_t segment, int64_t first, int64_t rows) {
    float* part = scratch + segment * 2 * s.channels;
    std::fill_n(part, 2 * s.channels, 0.0f);
    for (int64_t c = 0; c < s.channels; c += kNormChannels) {
      const int64_t at = first * s.channels + c;
      RowGradientSums(dy + at, x + at, rows, s.channels, std::min(kNormChannels, s.channels - c),
                      mean + c, part + c, part + s.channels + c);
    }
  });
  std::fill_n(sum, s.channels, 0.0f);
  std::fill_n(product, s.channels, 0.0f);
  for (int64_t i = 0; i < Segments(s); ++i) {
    const float* part = scratch + i * 2 * s.channels;
    for (int64_t c = 0; c < s.channels; ++c) sum[c] += part[c];
    for (int64_t c = 0; c < s.channels; ++c) product[c] += part[s.channels + c];
  }
}

void Gradient(const ChannelShape& s, const float* dy, const float* x, const float* mean,
              const float* factor, const float* shift, const float* slope, float* dx,
              const ParallelFor& each) {
  ForRuns(
      s, each, dx,
      [=](int64_t at) { return GradientTo<Each>{dy + at, x + at, mean, factor, shift, slope}; },
      [=](int64_t at, int64_t c) {
        return GradientTo<Same>{dy + at, x + at, {mean[c]}, {factor[c]}, {shift[c]}, {slope[c]}};
      });
}

}  // namespace

BatchNormKernels BatchNormTable() { return {&Moments, &Apply, &GradientSums, &Gradient}; }

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

int64_t BatchNormKernels::ScratchSize(const ChannelShape& shape) {
  return shape.inner == 1 ? 2 * Segments(shape) * shape.channels : 0;
}

HWY_EXPORT(BatchNormTable);
BatchNormKernels BatchNormFunctions() { return HWY_DYNAMIC_DISPATCH(BatchNormTable)(); }

}  // namespace penstock::kernels
#endif
