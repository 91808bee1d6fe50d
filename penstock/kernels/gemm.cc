#include "penstock/kernels/gemm.h"

#include <dnnl.h>
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_THREADPOOL
#include <dnnl_threadpool.h>
#endif

#include <algorithm>
#include <cstdio>
#include <type_traits>

#include "penstock/core/dtype.h"
#include "penstock/kernels/dnn/threading.h"
#include "penstock/kernels/gemm_tile.h"
#include "penstock/kernels/verbose.h"

namespace penstock::kernels {
namespace {

// One oneDNN call on the calling thread.
void OneDnnGemm(const GemmProblem<float>& p) {
  const char a = p.transpose_a ? 'T' : 'N';
  const char b = p.transpose_b ? 'T' : 'N';
  const float beta = static_cast<float>(p.beta);
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_THREADPOOL
  const dnnl_status_t status = dnnl_threadpool_interop_sgemm(
      a, b, p.M, p.N, p.K, 1, p.a, p.lda, p.b, p.ldb, beta, p.c, p.ldc, /*threadpool=*/nullptr);
#else
  const SerialOpenMp serial;
  const dnnl_status_t status =
      dnnl_sgemm(a, b, p.M, p.N, p.K, 1, p.a, p.lda, p.b, p.ldb, beta, p.c, p.ldc);
#endif
  // It refuses before it writes: when it has no memory, or no code for this machine.
  if (status != dnnl_success) GemmReference(p);
}

double Multiplications(int64_t M, int64_t N, int64_t K) {
  return static_cast<double>(M) * static_cast<double>(N) * static_cast<double>(K);
}

// A way to multiply one block of at most rows x columns on one thread. `unfit` says why it cannot
// take a product, or returns null.
template <class T>
struct Candidate {
  const char* name;
  int64_t rows;
  int64_t columns;
  const char* (*unfit)(const GemmProblem<T>&);
  void (*run)(const GemmProblem<T>&);
};

template <class T>
const char* FitsAll(const GemmProblem<T>&) {
  return nullptr;
}

// A call of oneDNN costs as much as 512 multiplications, packing as 2,048.
template <class T>
const char* UnfitForPlain(const GemmProblem<T>& p) {
  constexpr double kMost = std::is_same_v<T, float> ? 512 : 2048;
  return Multiplications(p.M, p.N, p.K) <= kMost
             ? nullptr
             : "the product is too large for loops that pack nothing";
}

// Packing B costs as much as its product with some ten rows; transposing it on the way, twice that.
// What lies in the caches is packed faster than it can be read in rows.
const char* UnfitForNarrow(const GemmProblem<float>& p) {
  constexpr double kLeastTransposed = 1 << 16, kLeast = 8 << 20;
  if (p.transpose_a) return "A is transposed";
  if (p.M > (p.transpose_b ? 64 : 24)) return "A has many rows";
  if (Multiplications(1, p.N, p.K) < (p.transpose_b ? kLeastTransposed : kLeast))
    return "B is small";
  return nullptr;
}

const char* UnfitForOneDnn(const GemmProblem<float>&) { return UnfitThreading(); }

template <class T>
constexpr Candidate<T> kCandidates[] = {
    {"plain", 256, 512, UnfitForPlain<T>, GemmPlain<T>},
    {"reference", 96, 192, FitsAll<T>, GemmReference<T>},
};
template <>
constexpr Candidate<float> kCandidates<float>[] = {
    {"plain", 256, 512, UnfitForPlain<float>, GemmPlain<float>},
    {"narrow", 256, 512, UnfitForNarrow, GemmNarrow},
    {"onednn_sgemm", 256, 512, UnfitForOneDnn, OneDnnGemm},
    {"reference", 96, 192, FitsAll<float>, GemmReference<float>},
};

// The first candidate that takes the product; the last takes all.
template <class T>
const Candidate<T>& Choose(const GemmProblem<T>& problem, int64_t batch) {
  for (const Candidate<T>& candidate : kCandidates<T>) {
    const char* reason = candidate.unfit(problem);
    if (VerboseKernels()) {
      std::fprintf(stderr, "penstock kernels: gemm %s %lldx[%lld,%lld,%lld]%s%s: %s%s%s\n",
                   ToString(kDTypeOf<T>).data(), static_cast<long long>(batch),
                   static_cast<long long>(problem.M), static_cast<long long>(problem.N),
                   static_cast<long long>(problem.K), problem.transpose_a ? " transpose_a" : "",
                   problem.transpose_b ? " transpose_b" : "", candidate.name,
                   reason == nullptr ? " runs" : " skipped: ", reason == nullptr ? "" : reason);
    }
    if (reason == nullptr) return candidate;
  }
  return *(std::end(kCandidates<T>) - 1);
}

// How one product is cut into blocks for the threads. Blocks depend on the shape alone: a library
// may sum in another order for another shape, and the result must not tell how many threads there
// were.
class Grid {
 public:
  // Starts from the candidate's block, large enough that packing the operands anew for each costs
  // under 3 %, and halves it until there are eight blocks or they are down to some ten
  // microseconds.
  Grid(int64_t M, int64_t N, int64_t K, int64_t batch, int64_t rows, int64_t columns)
      : M_(M), N_(N), rows_(std::min(M, rows)), columns_(std::min(N, columns)) {
    constexpr double kLeast = 1 << 20;
    // A few rows leave nothing to pack: B is read once, and best in long runs.
    if (M < 16) columns_ = std::min<int64_t>(N, 1024);
    while (M >= 16 && blocks() * batch < 8 && Multiplications(rows_, columns_, K) >= 2 * kLeast) {
      int64_t& longer = rows_ >= columns_ ? rows_ : columns_;
      if (longer < 32) break;
      longer = (longer / 2 + 15) / 16 * 16;
    }
    across_ = (N + columns_ - 1) / columns_;
  }
  int64_t blocks() const { return (M_ + rows_ - 1) / rows_ * ((N_ + columns_ - 1) / columns_); }

  template <class T>
  GemmProblem<T> Block(const GemmProblem<T>& problem, int64_t i) const {
    const int64_t m = i / across_ * rows_, n = i % across_ * columns_;
    return problem.Block(m, std::min(rows_, M_ - m), n, std::min(columns_, N_ - n));
  }
  // A rough number of cycles for a block: arithmetic, or the reading of its operands when K or a
  // side is short.
  double cost(int64_t K, size_t element_bytes, double multiplications_per_cycle) const {
    const double bytes = static_cast<double>(element_bytes) *
                         (static_cast<double>(rows_ + columns_) * static_cast<double>(K) +
                          static_cast<double>(rows_) * static_cast<double>(columns_));
    return 300 +
           std::max(Multiplications(rows_, columns_, K) / multiplications_per_cycle, bytes / 8);
  }

 private:
  const int64_t M_, N_;
  int64_t rows_, columns_, across_;
};

// C = beta * C, the product over an empty K.
template <class T>
void Scale(T* c, int64_t M, int64_t N, int64_t ldc, double beta) {
  if (beta == 1) return;
  // The plain kernel with K = 0 never touches A or B.
  GemmPlain<T>({false, false, M, N, 0, nullptr, 0, nullptr, 0, c, ldc, beta});
}

}  // namespace

template <class T>
void BatchedGemm(const GemmBatch& batch, bool transpose_a, bool transpose_b, int64_t M, int64_t N,
                 int64_t K, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc,
                 double beta, const ParallelFor& each, const GemmFinish<T>* finish) {
  if (batch.count <= 0 || M <= 0 || N <= 0) return;
  if (K <= 0) {
    for (int64_t i = 0; i < batch.count; ++i) {
      T* const product = c + i * batch.c_stride;
      Scale(product, M, N, ldc, beta);
      if (finish != nullptr) (*finish)(product, 0, M, 0, N);
    }
    return;
  }
  const GemmProblem<T> first{transpose_a, transpose_b, M, N, K, a, lda, b, ldb, c, ldc, beta};
  const Candidate<T>& candidate = Choose(first, batch.count);
  const Grid grid(M, N, K, batch.count, candidate.rows, candidate.columns);
  const int64_t blocks = grid.blocks();
  const double cost = grid.cost(K, sizeof(T), sizeof(T) > 4 ? 4 : 16);
  each(blocks * batch.count, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t item = i / blocks;
      GemmProblem<T> problem = first;
      problem.a += batch.a_offsets[item];
      problem.b += batch.b_offsets[item];
      problem.c += item * batch.c_stride;
      const GemmProblem<T> block = grid.Block(problem, i % blocks);
      candidate.run(block);
      if (finish != nullptr) {
        const int64_t at = block.c - problem.c;
        (*finish)(block.c, at / ldc, block.M, at % ldc, block.N);
      }
    }
  });
}

template <class T>
void Gemm(bool transpose_a, bool transpose_b, int64_t M, int64_t N, int64_t K, const T* a,
          int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc, double beta,
          const ParallelFor& each) {
  const int64_t offset = 0;
  BatchedGemm({1, &offset, &offset, 0}, transpose_a, transpose_b, M, N, K, a, lda, b, ldb, c, ldc,
              beta, each);
}

#define PENSTOCK_GEMM(T)                                                                          \
  template void Gemm<T>(bool, bool, int64_t, int64_t, int64_t, const T*, int64_t, const T*,       \
                        int64_t, T*, int64_t, double, const ParallelFor&);                        \
  template void BatchedGemm<T>(const GemmBatch&, bool, bool, int64_t, int64_t, int64_t, const T*, \
                               int64_t, const T*, int64_t, T*, int64_t, double,                   \
                               const ParallelFor&, const GemmFinish<T>*);
PENSTOCK_GEMM(float)
PENSTOCK_GEMM(double)
PENSTOCK_GEMM(half)
PENSTOCK_GEMM(bfloat16)
PENSTOCK_GEMM(int32_t)
PENSTOCK_GEMM(int64_t)
PENSTOCK_GEMM(complex64)
PENSTOCK_GEMM(complex128)
#undef PENSTOCK_GEMM

}  // namespace penstock::kernels
