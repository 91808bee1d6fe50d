#include "penstock/kernels/winograd/multiply.h"

#include <algorithm>
#include <array>
#include <utility>

#include "penstock/kernels/targets.h"
#include "penstock/kernels/winograd/transform.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/winograd/multiply.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/kernels/winograd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::winograd::HWY_NAMESPACE {
namespace {

// The sums of a block of rows x two vectors stay in registers: 28 of the 32 that AVX-512 has, or
// 12 of 16.
constexpr int kMostRows = kVectorBytes == 64 ? 14 : 6;
constexpr int kMostVectors = 2;

// Adds `depth` steps to the sums. Rows of the left operand lie kRowStep apart.
template <int kRows, int kVectors, int kRowStep>
PENSTOCK_SCALAR void Accumulate(const float* a, int64_t a_step, const float* b, int64_t b_vector,
                                int64_t depth, Vector (&sums)[kRows][kVectors]) {
  for (int64_t k = 0; k < depth; ++k) {
    Vector right[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) right[v] = At(b + v * b_vector);
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row) {
      const float left = a[row * kRowStep];
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[row][v] += left * right[v];
    }
    a += a_step;
    b += kPanel;
  }
}

template <int kRows, int kVectors, Left kLeft>
void Block(const Product& p, const float* a, const float* b, float* c) {
  // With vectors as wide as a panel the next vector is in the next panel.
  const int64_t b_vector = kLanes == kPanel ? p.b_panel : kLanes;
  Vector sums[kRows][kVectors] = {};
  if constexpr (kLeft == Left::kColumns) {
    Accumulate<kRows, kVectors, 1>(a, p.a_step, b, b_vector, p.depth, sums);
  } else {
    for (int64_t k = 0; k < p.depth; k += kPanel) {
      Accumulate<kRows, kVectors, kPanel>(a, 1, b, b_vector, std::min(kPanel, p.depth - k), sums);
      a += p.a_step;
      b += kPanel * kPanel;
    }
  }
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      Vector& to = At(c + row * p.c_row + v * kLanes);
      to = p.add ? to + sums[row][v] : sums[row][v];
    }
  }
}

using BlockFn = void (*)(const Product&, const float*, const float*, float*);

template <int kVectors, Left kLeft, int... kRows>
constexpr std::array<BlockFn, kMostRows> MakeBlocks(std::integer_sequence<int, kRows...>) {
  return {Block<kRows + 1, kVectors, kLeft>...};
}
template <int kVectors, Left kLeft>
constexpr auto kBlocks = MakeBlocks<kVectors, kLeft>(std::make_integer_sequence<int, kMostRows>());

// All rows of the columns [column, column + kVectors * kLanes): the right operand's stay in the
// nearest cache.
template <int kVectors, Left kLeft>
void Columns(const Product& p, int64_t column) {
  const float* b = p.b + column / kPanel * p.b_panel + column % kPanel;
  const int64_t blocks = (p.rows + kMostRows - 1) / kMostRows;
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t begin = p.rows * i / blocks, end = p.rows * (i + 1) / blocks;
    const float* a = p.a + begin * (kLeft == Left::kColumns ? 1 : kPanel);
    kBlocks<kVectors, kLeft>[static_cast<size_t>(end - begin - 1)](p, a, b,
                                                                   p.c + begin * p.c_row + column);
  }
}

template <Left kLeft>
void AllColumns(const Product& p) {
  constexpr int64_t kStep = kMostVectors * kLanes;
  int64_t column = 0;
  for (; column + kStep <= p.columns; column += kStep) Columns<kMostVectors, kLeft>(p, column);
  for (; column < p.columns; column += kLanes) Columns<1, kLeft>(p, column);
}

}  // namespace

void DoMultiply(const Product& p) {
  p.left == Left::kColumns ? AllColumns<Left::kColumns>(p) : AllColumns<Left::kRowsOfPanels>(p);
}

}  // namespace penstock::kernels::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels::winograd {

HWY_EXPORT(DoMultiply);

void Multiply(const Product& product) { HWY_DYNAMIC_DISPATCH(DoMultiply)(product); }

}  // namespace penstock::kernels::winograd
#endif
