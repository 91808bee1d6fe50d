// Turns a scalar `Eval` into a BlockFn, once per instruction set. Include it after hwy/highway.h
// inside a file that includes itself by hwy/foreach_target.h (elementwise_test.cc shows the
// pattern), and take the address of
//   kernels::HWY_NAMESPACE::Block<Op, Result, Operands...>
// within HWY_BEFORE_NAMESPACE / HWY_AFTER_NAMESPACE. Op has a member
//   template <class V> PENSTOCK_SCALAR static V Eval(V x, V y);
// of branch-free code. 16-bit operands reach Eval as floats, and a float result is rounded once
// when stored. A unary op whose Eval does not reach every argument has two members more, for the
// types where that is so:
//   template <class V> PENSTOCK_SCALAR static bool IsHard(V x);
//   template <class V> PENSTOCK_SCALAR static V EvalHard(V x);
#if defined(PENSTOCK_KERNELS_ELEMENTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_KERNELS_ELEMENTWISE_INL_H_
#undef PENSTOCK_KERNELS_ELEMENTWISE_INL_H_
#else
#define PENSTOCK_KERNELS_ELEMENTWISE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "hwy/highway.h"
#include "penstock/core/float16.h"
#include "penstock/kernels/elementwise.h"

// An operand may be the output itself, element for element. That is no dependence between
// iterations, which is all that keeps a loop from being vectorised: saying so spares the run-time
// overlap checks that `restrict` would.
#ifdef __clang__
#define PENSTOCK_VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define PENSTOCK_VECTOR_LOOP _Pragma("GCC ivdep")
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {

// An operand as Eval sees it. GCC cannot vectorise the load of a bool, but that of its byte.
template <class T>
PENSTOCK_SCALAR ComputeType<T> Load(const T* x) {
  if constexpr (std::is_same_v<T, bool>) {
    return *reinterpret_cast<const uint8_t*>(x) != 0;
  } else {
    return static_cast<ComputeType<T>>(*x);
  }
}

template <class Op, class Result, class X>
void UnaryLoop(const X* x, Result* out, int64_t n) {
  PENSTOCK_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Result>(Op::Eval(Load(x + i)));
}

// Looks through a tile before it is computed: a test inside the loop would keep it from being
// vectorised.
template <class Op, class Result, class X>
void UnaryLoopWithHard(const X* x, Result* out, int64_t n) {
  constexpr int64_t kTile = 256;
  for (int64_t begin = 0; begin < n; begin += kTile) {
    const int64_t end = std::min(begin + kTile, n);
    int hard = 0;
    for (int64_t i = begin; i < end; ++i) hard |= Op::IsHard(Load(x + i)) ? 1 : 0;
    if (hard == 0) {
      UnaryLoop<Op>(x + begin, out + begin, end - begin);
    } else {
      for (int64_t i = begin; i < end; ++i) {
        const auto value = Load(x + i);
        out[i] = static_cast<Result>(Op::IsHard(value) ? Op::EvalHard(value) : Op::Eval(value));
      }
    }
  }
}

template <class Op, class Result, class X, class Y>
void BinaryLoop(const X* x, const Y* y, Result* out, int64_t n) {
  PENSTOCK_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Result>(Op::Eval(Load(x + i), Load(y + i)));
}

template <class Op, class Result, class X, class Y>
void BinaryLoopLeftScalar(const X* x, const Y* y, Result* out, int64_t n) {
  const auto left = Load(x);
  PENSTOCK_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Result>(Op::Eval(left, Load(y + i)));
}

template <class Op, class Result, class X, class Y>
void BinaryLoopRightScalar(const X* x, const Y* y, Result* out, int64_t n) {
  const auto right = Load(y);
  PENSTOCK_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Result>(Op::Eval(Load(x + i), right));
}

template <class Op, class Result, class... Operands>
void ManyLoop(Result* out, int64_t n, const Operands*... x) {
  PENSTOCK_VECTOR_LOOP
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<Result>(Op::Eval(Load(x + i)...));
}

// Three operands or more would need a loop for each of the masks: instead, a scalar operand is
// written out over a small tile, which the whole run then reads.
template <class Op, class Result, class... Operands, size_t... k>
void BlockMany(const void* const* inputs, uint32_t mask, Result* out, int64_t n,
               std::index_sequence<k...>) {
  if (mask == 0)
    return ManyLoop<Op, Result, Operands...>(out, n, static_cast<const Operands*>(inputs[k])...);
  constexpr int64_t kTile = 256;
  alignas(64) std::byte tiles[sizeof...(k)][kTile * std::max({sizeof(Operands)...})];
  const auto is_scalar = [mask](size_t operand) { return (mask >> operand & 1) != 0; };
  const auto fill = [&]<class T>(size_t operand, const T* x) {
    if (is_scalar(operand))
      std::fill_n(reinterpret_cast<T*>(tiles[operand]), std::min(n, kTile), *x);
  };
  const auto at = [&]<class T>(size_t operand, const T* x, int64_t i) {
    return is_scalar(operand) ? reinterpret_cast<const T*>(tiles[operand]) : x + i;
  };
  (fill(k, static_cast<const Operands*>(inputs[k])), ...);
  for (int64_t i = 0; i < n; i += kTile) {
    ManyLoop<Op, Result, Operands...>(out + i, std::min(kTile, n - i),
                                      at(k, static_cast<const Operands*>(inputs[k]), i)...);
  }
}

template <class Op, class Result, class X>
void BlockUnary(const void* const* inputs, Result* out, int64_t n) {
  const X* x = static_cast<const X*>(inputs[0]);
  if constexpr (requires(ComputeType<X> value) { Op::IsHard(value); }) {
    UnaryLoopWithHard<Op>(x, out, n);
  } else {
    UnaryLoop<Op>(x, out, n);
  }
}

template <class Op, class Result, class X, class Y>
void BlockBinary(const void* const* inputs, uint32_t mask, Result* out, int64_t n) {
  const X* x = static_cast<const X*>(inputs[0]);
  const Y* y = static_cast<const Y*>(inputs[1]);
  if (mask == 0) return BinaryLoop<Op>(x, y, out, n);
  if (mask == 1) return BinaryLoopLeftScalar<Op>(x, y, out, n);
  return BinaryLoopRightScalar<Op>(x, y, out, n);
}

// A single element, apart from the loops: those are slow to start.
template <class Op, class Result, class... Operands, size_t... k>
void BlockOne(const void* const* inputs, Result* out, std::index_sequence<k...>) {
  if constexpr (requires(ComputeType<Operands>... value) { Op::IsHard(value...); }) {
    UnaryLoopWithHard<Op>(static_cast<const Operands*>(inputs[k])..., out, 1);
  } else {
    *out = static_cast<Result>(Op::Eval(Load(static_cast<const Operands*>(inputs[k]))...));
  }
}

// The BlockFn of Op. REQUIRES: Op::Eval takes ComputeType of each operand and gives what converts
// to Result.
template <class Op, class Result, class... Operands>
void Block(const void* const* inputs, uint32_t scalar_mask, void* output, int64_t n) {
  constexpr uint32_t kAll = (1u << sizeof...(Operands)) - 1;
  constexpr auto kIndices = std::index_sequence_for<Operands...>();
  Result* out = static_cast<Result*>(output);
  const uint32_t mask = scalar_mask & kAll;
  if (n == 1) {
    BlockOne<Op, Result, Operands...>(inputs, out, kIndices);
  } else if (mask == kAll) [[unlikely]] {
    if (n == 0) return;
    BlockOne<Op, Result, Operands...>(inputs, out, kIndices);
    std::fill_n(out + 1, n - 1, Result(*out));
  } else if constexpr (sizeof...(Operands) == 1) {
    BlockUnary<Op, Result, Operands...>(inputs, out, n);
  } else if constexpr (sizeof...(Operands) == 2) {
    BlockBinary<Op, Result, Operands...>(inputs, mask, out, n);
  } else {
    BlockMany<Op, Result, Operands...>(inputs, mask, out, n, kIndices);
  }
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef PENSTOCK_VECTOR_LOOP
#endif  // per-target include guard
