// FoldKernels and ArgKernels from a scalar operation, once per instruction set. Floating-point
// reductions are not associative, so no compiler spreads them over vectors: here they are.
#if defined(PENSTOCK_KERNELS_REDUCE_FOLD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_KERNELS_REDUCE_FOLD_INL_H_
#undef PENSTOCK_KERNELS_REDUCE_FOLD_INL_H_
#else
#define PENSTOCK_KERNELS_REDUCE_FOLD_INL_H_
#endif

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "hwy/highway.h"
#include "penstock/core/dtype.h"
#include "penstock/kernels/reduce_fold.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

template <class T>
constexpr bool kIsComplex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
// Integers are summed as unsigned ones, which may wrap, and of 32 bits at least, since those of 16
// would be promoted to signed.
template <class T>
using Wrapping =
    std::conditional_t<std::is_integral_v<T>,
                       std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>, ComputeType<T>>;

// The operations on accumulators of type A. Combine serves scalars and GCC vectors alike.
template <class A>
struct SumOp {
  using Accumulator = A;
  static constexpr A kIdentity{};
  template <class V>
  PENSTOCK_SCALAR static V Combine(V x, V y) {
    return x + y;
  }
};

template <class A>
struct ProdOp {
  using Accumulator = A;
  static constexpr A kIdentity = A(1);
  template <class V>
  PENSTOCK_SCALAR static V Combine(V x, V y) {
    if constexpr (kIsComplex<V>) {
      return V(x.real() * y.real() - x.imag() * y.imag(),
               x.real() * y.imag() + x.imag() * y.real());
    } else {
      return x * y;
    }
  }
};

// max(x, y), or min; NaN if either is.
template <class A, bool max>
struct ExtremeOp {
  using Accumulator = A;
  using Limits = std::numeric_limits<A>;
  static constexpr A kHighest = Limits::has_infinity ? Limits::infinity() : Limits::max();
  static constexpr A kLowest = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  static constexpr A kIdentity = max ? kLowest : kHighest;
  template <class V>
  PENSTOCK_SCALAR static V Combine(V x, V y) {
    // x86 has the first line as one instruction, which takes y when either is NaN.
    const V better = (max ? x > y : x < y) ? x : y;
    if constexpr (Limits::has_quiet_NaN) {
      return x != x ? x : better;
    } else {
      return better;
    }
  }
};

// Truth is read from bytes: a bool that came from outside may hold any.
struct AllOp {
  using Accumulator = uint8_t;
  static constexpr Accumulator kIdentity = 1;
  template <class V>
  PENSTOCK_SCALAR static V Combine(V x, V y) {
    return x & y;
  }
};
struct AnyOp {
  using Accumulator = uint8_t;
  static constexpr Accumulator kIdentity = 0;
  template <class V>
  PENSTOCK_SCALAR static V Combine(V x, V y) {
    return x | y;
  }
};
// The element type of All and Any.
struct Truth {
  uint8_t byte;
  PENSTOCK_SCALAR explicit operator uint8_t() const { return byte != 0; }
};

template <class Op>
using AccumulatorOf = typename Op::Accumulator;

template <class Op>
void Fill(void* accumulators, int64_t n) {
  std::fill_n(static_cast<AccumulatorOf<Op>*>(accumulators), n, AccumulatorOf<Op>(Op::kIdentity));
}

template <class Op>
void Combine(void* accumulators, const void* others, int64_t n) {
  using A = AccumulatorOf<Op>;
  A* __restrict to = static_cast<A*>(accumulators);
  const A* __restrict from = static_cast<const A*>(others);
  for (int64_t i = 0; i < n; ++i) to[i] = Op::Combine(to[i], from[i]);
}

template <class A, class T>
void Store(const void* accumulators, int64_t n, int64_t /*count*/, void* out) {
  const A* __restrict from = static_cast<const A*>(accumulators);
  T* __restrict to = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i]);
}

template <class A, class T>
void StoreMean(const void* accumulators, int64_t n, int64_t count, void* out) {
  const A* __restrict from = static_cast<const A*>(accumulators);
  T* __restrict to = static_cast<T*>(out);
  if constexpr (std::is_integral_v<T>) {
    using Quotient = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
    const Quotient divisor = count == 0 ? 1 : static_cast<Quotient>(count);
    for (int64_t i = 0; i < n; ++i)
      to[i] = static_cast<T>(static_cast<Quotient>(from[i]) / divisor);
  } else if constexpr (kIsComplex<T>) {
    using Real = typename T::value_type;
    const Real divisor = count == 0 ? Real{1} : static_cast<Real>(count);
    for (int64_t i = 0; i < n; ++i) to[i] = T(from[i].real() / divisor, from[i].imag() / divisor);
  } else {
    const A divisor = static_cast<A>(count);
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(from[i] / divisor);
  }
}

// Reduces the lanes of a vector, halving what is left of them at each step.
template <class Op, int half, class Vector, size_t... lane>
PENSTOCK_SCALAR AccumulatorOf<Op> FoldVector(Vector v, std::index_sequence<lane...> lanes) {
  if constexpr (half == 0) {
    return v[0];
  } else {
    const Vector other = __builtin_shufflevector(v, v, (lane ^ half)...);
    return FoldVector<Op, half / 2>(Op::Combine(v, other), lanes);
  }
}

// Reduces n accumulators that lie side by side.
template <class Op>
AccumulatorOf<Op> FoldLanes(const AccumulatorOf<Op>* in, int64_t n) {
  using A = AccumulatorOf<Op>;
  A rest = Op::kIdentity;
  if constexpr (std::is_arithmetic_v<A>) {
    typedef A Vector __attribute__((vector_size(HWY_MAX_BYTES), aligned(sizeof(A)), may_alias));
    constexpr int64_t kLanes = HWY_MAX_BYTES / sizeof(A);
    const auto at = [in](int64_t i) { return reinterpret_cast<const Vector*>(in + i); };
    if (n >= 4 * kLanes) {
      Vector a = *at(0), b = *at(kLanes), c = *at(2 * kLanes), d = *at(3 * kLanes);
      int64_t i = 4 * kLanes;
      for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
        a = Op::Combine(a, *at(i));
        b = Op::Combine(b, *at(i + kLanes));
        c = Op::Combine(c, *at(i + 2 * kLanes));
        d = Op::Combine(d, *at(i + 3 * kLanes));
      }
      for (; i + kLanes <= n; i += kLanes) a = Op::Combine(a, *at(i));
      a = Op::Combine(Op::Combine(a, b), Op::Combine(c, d));
      rest = FoldVector<Op, kLanes / 2>(a, std::make_index_sequence<kLanes>());
      in += i;
      n -= i;
    }
  }
  for (int64_t i = 0; i < n; ++i) rest = Op::Combine(rest, in[i]);
  return rest;
}

// Reduces n neighbours, piece by piece: a piece is short enough that summing its lanes in order,
// and the pieces' sums, loses few bits, and one that has to be converted stays in the cache.
template <class Op, class T>
AccumulatorOf<Op> FoldRun(const T* in, int64_t n) {
  using A = AccumulatorOf<Op>;
  constexpr int64_t kPiece = std::is_same_v<A, T> ? 4096 : 512;
  A total = Op::kIdentity;
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t size = std::min(kPiece, n - i);
    if constexpr (std::is_same_v<A, T>) {
      total = Op::Combine(total, FoldLanes<Op>(in + i, size));
    } else {
      A converted[kPiece];
      for (int64_t k = 0; k < size; ++k) converted[k] = static_cast<A>(in[i + k]);
      total = Op::Combine(total, FoldLanes<Op>(converted, size));
    }
  }
  return total;
}

template <class Op, class T>
void FoldRows(const T* __restrict in, int64_t rows, int64_t stride, int64_t width,
              AccumulatorOf<Op>* __restrict to) {
  using A = AccumulatorOf<Op>;
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    const T* a = in + r * stride;
    const T *b = a + stride, *c = b + stride, *d = c + stride;
    for (int64_t i = 0; i < width; ++i) {
      to[i] =
          Op::Combine(to[i], Op::Combine(Op::Combine(static_cast<A>(a[i]), static_cast<A>(b[i])),
                                         Op::Combine(static_cast<A>(c[i]), static_cast<A>(d[i]))));
    }
  }
  for (; r < rows; ++r) {
    const T* a = in + r * stride;
    for (int64_t i = 0; i < width; ++i) to[i] = Op::Combine(to[i], static_cast<A>(a[i]));
  }
}

template <class Op, class T>
void Fold(const void* in, const FoldExtent& x, void* accumulators) {
  using A = AccumulatorOf<Op>;
  const T* from = static_cast<const T*>(in);
  A* to = static_cast<A*>(accumulators);
  // Below these sizes what a vector loop takes to start costs more than it saves.
  if (x.width < 8 && x.rows * x.width <= 16) {
    for (int64_t b = 0; b < x.blocks; ++b) {
      for (int64_t i = 0; i < x.width; ++i) {
        const T* column = from + b * x.block_stride + i;
        A total = to[b * x.width + i];
        for (int64_t r = 0; r < x.rows; ++r) {
          total = Op::Combine(total, static_cast<A>(column[r * x.row_stride]));
        }
        to[b * x.width + i] = total;
      }
    }
  } else if (x.width == 1 && x.row_stride == 1) {
    for (int64_t b = 0; b < x.blocks; ++b) {
      to[b] = Op::Combine(to[b], FoldRun<Op>(from + b * x.block_stride, x.rows));
    }
  } else {
    for (int64_t b = 0; b < x.blocks; ++b) {
      FoldRows<Op>(from + b * x.block_stride, x.rows, x.row_stride, x.width, to + b * x.width);
    }
  }
}

template <class Op, class In, class Out>
constexpr FoldKernels MakeFold() {
  using A = AccumulatorOf<Op>;
  return {sizeof(A), &Fill<Op>, &Fold<Op, In>, &Combine<Op>, &Store<A, Out>};
}

// y beats x; nothing beats a NaN, and a NaN nothing.
template <class T, bool max>
PENSTOCK_SCALAR bool Beats(T y, T x) {
  return max ? y > x : y < x;
}
template <class T, bool max>
constexpr T kWorst = max ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();

// As ExtremeOp, but blind to NaNs.
template <class T, bool max>
struct BestOp {
  using Accumulator = ComputeType<T>;
  static constexpr Accumulator kIdentity = kWorst<Accumulator, max>;
  template <class V>
  PENSTOCK_SCALAR static V Combine(V x, V y) {
    return (max ? y > x : y < x) ? y : x;
  }
};

template <class T, bool max>
int64_t ArgRun(const T* in, int64_t n) {
  using A = ComputeType<T>;
  constexpr int64_t kPiece = 1024;
  A best = kWorst<A, max>;
  int64_t index = 0;
  // Most pieces hold no better element than those before: only one that does is searched.
  for (int64_t begin = 0; begin < n; begin += kPiece) {
    const int64_t size = std::min(kPiece, n - begin);
    const A candidate = FoldRun<BestOp<T, max>>(in + begin, size);
    if (!Beats<A, max>(candidate, best)) continue;
    best = candidate;
    for (index = begin; static_cast<A>(in[index]) != candidate;) ++index;
  }
  return index;
}

template <class T, bool max>
void ArgRuns(const void* in, int64_t blocks, int64_t n, int64_t* index) {
  const T* from = static_cast<const T*>(in);
  for (int64_t b = 0; b < blocks; ++b) index[b] = ArgRun<T, max>(from + b * n, n);
}

template <class T, bool max>
void ArgRows(const void* in, int64_t n, int64_t row_stride, int64_t width,
             int64_t* __restrict index) {
  using A = ComputeType<T>;
  A best[kMaxArgWidth];
  std::fill_n(best, width, kWorst<A, max>);
  std::fill_n(index, width, 0);
  for (int64_t r = 0; r < n; ++r) {
    const T* __restrict row = static_cast<const T*>(in) + r * row_stride;
    for (int64_t i = 0; i < width; ++i) {
      const A value = static_cast<A>(row[i]);
      const bool beats = Beats<A, max>(value, best[i]);
      best[i] = beats ? value : best[i];
      index[i] = beats ? r : index[i];
    }
  }
}

template <class T, bool max>
int64_t ArgPick(const void* in, const int64_t* candidates, int64_t n) {
  using A = ComputeType<T>;
  A best = kWorst<A, max>;
  int64_t index = 0;
  for (int64_t i = 0; i < n; ++i) {
    const A value = static_cast<A>(static_cast<const T*>(in)[candidates[i]]);
    if (!Beats<A, max>(value, best)) continue;
    best = value;
    index = candidates[i];
  }
  return index;
}

template <class T, bool max>
constexpr ArgKernels MakeArg() {
  return {&ArgRuns<T, max>, &ArgRows<T, max>, &ArgPick<T, max>};
}

template <class T>
FoldKernels FoldTable(ReduceKind kind) {
  using A = Wrapping<T>;
  if constexpr (!kIsComplex<T>) {
    using M = ComputeType<T>;
    if (kind == ReduceKind::kMax) return MakeFold<ExtremeOp<M, true>, T, T>();
    if (kind == ReduceKind::kMin) return MakeFold<ExtremeOp<M, false>, T, T>();
  }
  // What wraps is the same for both signs: FoldKernelsOf asks for the unsigned type's.
  if constexpr (!std::is_integral_v<T> || std::is_unsigned_v<T>) {
    if (kind == ReduceKind::kSum) return MakeFold<SumOp<A>, T, T>();
    if (kind == ReduceKind::kProd) return MakeFold<ProdOp<A>, T, T>();
  }
  if (kind == ReduceKind::kMean) {
    using Total = std::conditional_t<std::is_integral_v<T>, uint64_t, A>;
    FoldKernels kernels = MakeFold<SumOp<Total>, T, T>();
    kernels.finish = &StoreMean<Total, T>;
    return kernels;
  }
  return {};
}

template <class T>
ArgKernels ArgTable(ArgKind kind) {
  return kind == ArgKind::kMax ? MakeArg<T, true>() : MakeArg<T, false>();
}

}  // namespace
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
