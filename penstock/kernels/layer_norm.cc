#include "penstock/kernels/layer_norm.h"

#include <cmath>

#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/layer_norm.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/kernels/reduce_fold-inl.h"
#include "penstock/kernels/stream-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

constexpr int64_t kLayerPiece = 1024;

float SumOfSquares(const float* x, int64_t n, float mean) {
  float squares[kLayerPiece];
  float total = 0;
  for (int64_t i = 0; i < n; i += kLayerPiece) {
    const int64_t size = std::min(kLayerPiece, n - i);
    for (int64_t k = 0; k < size; ++k) {
      const float distance = x[i + k] - mean;
      squares[k] = distance * distance;
    }
    total += FoldLanes<SumOp<float>>(squares, size);
  }
  return total;
}

void Scale(const float* x, int64_t n, float mean, float inverse, const float* gamma,
           const float* beta, float* y) {
  for (int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * (inverse * gamma[i]) + beta[i];
}

}  // namespace

void LayerNormRows(const float* x, int64_t rows, int64_t n, const float* gamma, const float* beta,
                   float epsilon, float* y, bool streams) {
  float piece[kLayerPiece];
  const float share = 1.0f / static_cast<float>(n);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const float mean = FoldRun<SumOp<float>>(x, n) * share;
    const float inverse = 1.0f / std::sqrt(SumOfSquares(x, n, mean) * share + epsilon);
    if (!streams) {
      Scale(x, n, mean, inverse, gamma, beta, y);
      continue;
    }
    for (int64_t i = 0; i < n; i += kLayerPiece) {
      const int64_t size = std::min(kLayerPiece, n - i);
      Scale(x + i, size, mean, inverse, gamma + i, beta + i, piece);
      StreamFloats(piece, size, y + i);
    }
  }
  if (streams) hwy::FlushStream();
}
bool LayerNormStreams(const float* y, int64_t elements, int64_t n) {
  return MayStream(y, elements, n);
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

HWY_EXPORT(LayerNormRows);
HWY_EXPORT(LayerNormStreams);

void LayerNorm(const float* x, int64_t rows, int64_t n, const float* gamma, const float* beta,
               float epsilon, float* y, const ParallelFor& each) {
  const bool streams = HWY_DYNAMIC_DISPATCH(LayerNormStreams)(y, rows * n, n);
  each(rows, 20.0 + 2.0 * static_cast<double>(n), [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(LayerNormRows)
    (x + begin * n, end - begin, n, gamma, beta, epsilon, y + begin * n, streams);
  });
}

}  // namespace penstock::kernels
#endif
