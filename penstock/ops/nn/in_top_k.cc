#include "penstock/ops/nn/in_top_k.h"

#include <cmath>

namespace penstock::ops {
namespace {

Result<Shape> RowsOf(const Shape& predictions, const Shape& targets) {
  TRY(CheckRank(predictions, 2, "predictions"));
  TRY(CheckVector(targets, "targets"));
  const int64_t rows = predictions.has_rank() ? predictions.dim(0) : -1;
  const int64_t labels = targets.has_rank() ? targets.dim(0) : -1;
  if (rows >= 0 && labels >= 0 && rows != labels) {
    return InvalidArgument("First dimension of predictions {} must match length of targets {}",
                           rows, labels);
  }
  return Shape{rows >= 0 ? rows : labels};
}

bool IsAmong(const float* row, int64_t classes, int64_t target, int64_t k) {
  if (!InRange(target, classes)) return false;
  int64_t larger = 0;
  bool finite = true;
  for (int64_t c = 0; c < classes; ++c) {
    finite &= std::isfinite(row[c]);
    larger += row[c] > row[target] ? 1 : 0;
  }
  return finite && larger < k;
}

template <class T>
Status Compute(CpuContext& context, const Tensor& predictions, std::span<const T> targets,
               int64_t k, std::span<bool> precision) {
  const int64_t rows = predictions.shape().dim(0), classes = predictions.shape().dim(1);
  const float* from = predictions.data<float>();
  context.parallel()(rows, 4.0 * static_cast<double>(classes), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const auto at = static_cast<size_t>(r);
      precision[at] = IsAmong(from + r * classes, classes, targets[at], k);
    }
  });
  return OkStatus();
}

}  // namespace

Result<Shape> InTopK::InferShape(const Shape& predictions, const Shape& targets) const {
  return RowsOf(predictions, targets);
}
template <class T>
Status InTopK::ComputeCpu(CpuContext& context, const Tensor& predictions,
                          std::span<const T> targets, std::span<bool> precision) const {
  return Compute(context, predictions, targets, k, precision);
}

Result<Shape> InTopKV2::InferShape(const Shape& predictions, const Shape& targets,
                                   const Shape& k) const {
  TRY(CheckScalar(k, "k"));
  return RowsOf(predictions, targets);
}
template <class T>
Status InTopKV2::ComputeCpu(CpuContext& context, const Tensor& predictions,
                            std::span<const T> targets, T k, std::span<bool> precision) const {
  return Compute<T>(context, predictions, targets, k, precision);
}

void RegisterInTopK(Registrar& registrar) { registrar.AddAll<InTopK, InTopKV2>(); }

}  // namespace penstock::ops
