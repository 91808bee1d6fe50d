#include "penstock/kernels/softmax.h"

#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/softmax.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/core/dtype.h"
#include "penstock/kernels/math.h"
#include "penstock/kernels/reduce_fold-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

// Rows go through the first-level cache in pieces of this many elements.
constexpr int64_t kSoftmaxPiece = 1024;

// The largest logit, and the sum of e^(logit - largest). The powers are left in `powers` where it
// is not null: a type that is computed in itself need not compute them twice.
template <class T>
struct RowNorm {
  using A = ComputeType<T>;
  A largest;
  A sum = 0;

  RowNorm(const T* in, int64_t n, A* powers) : largest(FoldRun<ExtremeOp<A, true>>(in, n)) {
    A piece[kSoftmaxPiece];
    for (int64_t i = 0; i < n; i += kSoftmaxPiece) {
      const int64_t size = std::min(kSoftmaxPiece, n - i);
      const T* from = in + i;
      A* to = powers == nullptr ? piece : powers + i;
      for (int64_t k = 0; k < size; ++k) to[k] = math::Exp(static_cast<A>(from[k]) - largest);
      sum += FoldLanes<SumOp<A>>(to, size);
    }
  }
};

template <class T>
void SoftmaxRow(const T* in, int64_t n, T* out) {
  using A = ComputeType<T>;
  if constexpr (std::is_same_v<A, T>) {
    const A scale = A(1) / RowNorm<T>(in, n, out).sum;
    for (int64_t i = 0; i < n; ++i) out[i] *= scale;
  } else {
    const RowNorm<T> norm(in, n, nullptr);
    const A scale = A(1) / norm.sum;
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<T>(math::Exp(static_cast<A>(in[i]) - norm.largest) * scale);
    }
  }
}

template <class T>
void LogSoftmaxRow(const T* in, int64_t n, T* out) {
  using A = ComputeType<T>;
  const RowNorm<T> norm(in, n, nullptr);
  const A log_sum = math::Log(norm.sum);
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<T>((static_cast<A>(in[i]) - norm.largest) - log_sum);
  }
}

template <class T>
void SoftmaxRows(const void* in, int64_t rows, int64_t n, bool log, void* out) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  for (int64_t r = 0; r < rows; ++r, from += n, to += n) {
    log ? LogSoftmaxRow(from, n, to) : SoftmaxRow(from, n, to);
  }
}

template <class T>
void CrossEntropyRow(const void* logits, const void* labels, int64_t n, void* loss,
                     void* backprop) {
  using A = ComputeType<T>;
  const T* x = static_cast<const T*>(logits);
  const T* p = static_cast<const T*>(labels);
  T* to = static_cast<T*>(backprop);
  const RowNorm<T> norm(x, n, nullptr);
  const A scale = A(1) / norm.sum, log_sum = math::Log(norm.sum);
  A total = 0;
  A piece[kSoftmaxPiece];
  for (int64_t i = 0; i < n; i += kSoftmaxPiece) {
    const int64_t size = std::min(kSoftmaxPiece, n - i);
    for (int64_t k = 0; k < size; ++k) {
      const A centred = static_cast<A>(x[i + k]) - norm.largest;
      const A label = static_cast<A>(p[i + k]);
      piece[k] = label * (log_sum - centred);
      to[i + k] = static_cast<T>(math::Exp(centred) * scale - label);
    }
    total += FoldLanes<SumOp<A>>(piece, size);
  }
  *static_cast<T*>(loss) = static_cast<T>(total);
}

template <class T>
void SparseCrossEntropyRow(const void* logits, int64_t label, int64_t n, void* loss,
                           void* backprop) {
  using A = ComputeType<T>;
  const T* x = static_cast<const T*>(logits);
  T* to = static_cast<T*>(backprop);
  const RowNorm<T> norm(x, n, nullptr);
  const A scale = A(1) / norm.sum;
  for (int64_t i = 0; i < n; ++i) {
    to[i] = static_cast<T>(math::Exp(static_cast<A>(x[i]) - norm.largest) * scale);
  }
  const A centred = static_cast<A>(x[label]) - norm.largest;
  to[label] = static_cast<T>(math::Exp(centred) * scale - A(1));
  *static_cast<T*>(loss) = static_cast<T>(math::Log(norm.sum) - centred);
}

template <class T>
SoftmaxKernels MakeSoftmax() {
  return {&SoftmaxRows<T>, &CrossEntropyRow<T>, &SparseCrossEntropyRow<T>};
}

}  // namespace

SoftmaxKernels SoftmaxTable(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return MakeSoftmax<float>();
    case DType::kDouble:
      return MakeSoftmax<double>();
    case DType::kHalf:
      return MakeSoftmax<half>();
    case DType::kBfloat16:
      return MakeSoftmax<bfloat16>();
    default:
      return {};
  }
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

HWY_EXPORT(SoftmaxTable);
SoftmaxKernels SoftmaxKernelsOf(DType dtype) { return HWY_DYNAMIC_DISPATCH(SoftmaxTable)(dtype); }

}  // namespace penstock::kernels
#endif
