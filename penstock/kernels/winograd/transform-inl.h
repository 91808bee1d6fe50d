// The maps of Note [winograd] along one axis and along two, on vectors, once per instruction set.
#if defined(PENSTOCK_KERNELS_WINOGRAD_TRANSFORM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_KERNELS_WINOGRAD_TRANSFORM_INL_H_
#undef PENSTOCK_KERNELS_WINOGRAD_TRANSFORM_INL_H_
#else
#define PENSTOCK_KERNELS_WINOGRAD_TRANSFORM_INL_H_
#endif

#include "hwy/highway.h"
#include "penstock/core/scalar_function.h"
#include "penstock/kernels/winograd/points.h"
#include "penstock/kernels/winograd/vector-inl.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::winograd::HWY_NAMESPACE {
namespace {

// Bt: the n inputs of a tile to the points.
template <int kPairs>
struct ToPoints {
  using P = Points<kPairs>;
  static constexpr int kIn = P::kCount, kOut = P::kCount;

  PENSTOCK_SCALAR static void Apply(const Vector* x, Vector* y) {
    constexpr auto& all = P::kFactors[kPairs];
    y[0] = all[0] * x[0];
    y[kOut - 1] = all[0] * x[1];
#pragma GCC unroll 8
    for (int k = 1; k <= kPairs; ++k) {
      y[0] += all[k] * x[2 * k];
      y[kOut - 1] += all[k] * x[2 * k + 1];
    }
#pragma GCC unroll 8
    for (int i = 0; i < kPairs; ++i) {
      const auto& others = P::kFactors[i];
      Vector even = others[0] * x[2], odd = others[0] * x[1];
#pragma GCC unroll 8
      for (int k = 1; k < kPairs; ++k) {
        even += others[k] * x[2 * k + 2];
        odd += others[k] * x[2 * k + 1];
      }
      const float a = static_cast<float>(kPositivePoints<kPairs>[i]);
      y[1 + 2 * i] = even + a * odd;
      y[2 + 2 * i] = even - a * odd;
    }
  }
};

// G, or A without the weights: a polynomial of kPowers coefficients to its values at the points.
template <int kPairs, int kPowers, bool kWeighted>
struct Evaluate {
  using P = Points<kPairs>;
  static constexpr int kIn = kPowers, kOut = P::kCount;
  static constexpr auto kTable = P::template MakePowers<kWeighted, kPowers>();

  PENSTOCK_SCALAR static void Apply(const Vector* x, Vector* y) {
    y[0] = (kWeighted ? P::kZeroWeight : 1.0f) * x[0];
    y[kOut - 1] = x[kPowers - 1];
#pragma GCC unroll 8
    for (int i = 0; i < kPairs; ++i) {
      Vector even = kTable[i][0] * x[0], odd = kTable[i][1] * x[1];
#pragma GCC unroll 8
      for (int j = 2; j < kPowers; ++j) (j % 2 == 0 ? even : odd) += kTable[i][j] * x[j];
      y[1 + 2 * i] = even + odd;
      y[2 + 2 * i] = even - odd;
    }
  }
};

// At, or Gt with the weights: the transposed map of Evaluate.
template <int kPairs, int kPowers, bool kWeighted>
struct Collect {
  using P = Points<kPairs>;
  static constexpr int kIn = P::kCount, kOut = kPowers;
  static constexpr auto kTable = P::template MakePowers<kWeighted, kPowers>();

  PENSTOCK_SCALAR static void Apply(const Vector* x, Vector* y) {
    y[0] = (kWeighted ? P::kZeroWeight : 1.0f) * x[0];
#pragma GCC unroll 8
    for (int j = 1; j < kPowers; ++j) y[j] = Vector{};
    y[kPowers - 1] = x[kIn - 1];
#pragma GCC unroll 8
    for (int i = 0; i < kPairs; ++i) {
      const Vector sum = x[1 + 2 * i] + x[2 + 2 * i];
      const Vector difference = x[1 + 2 * i] - x[2 + 2 * i];
#pragma GCC unroll 8
      for (int j = 0; j < kPowers; ++j) y[j] += kTable[i][j] * (j % 2 == 0 ? sum : difference);
    }
  }
};

// Applies a map along both axes of a square: load(i, j) gives an element, store(i, j, v) takes one.
template <class Map, class Load, class Store>
PENSTOCK_SCALAR void AlongBoth(const Load& load, const Store& store) {
  alignas(64) Vector half[Map::kOut][Map::kIn];
#pragma GCC unroll 1
  for (int j = 0; j < Map::kIn; ++j) {
    Vector x[Map::kIn], y[Map::kOut];
#pragma GCC unroll 8
    for (int i = 0; i < Map::kIn; ++i) x[i] = load(i, j);
    Map::Apply(x, y);
#pragma GCC unroll 8
    for (int i = 0; i < Map::kOut; ++i) half[i][j] = y[i];
  }
#pragma GCC unroll 1
  for (int i = 0; i < Map::kOut; ++i) {
    Vector y[Map::kOut];
    Map::Apply(half[i], y);
#pragma GCC unroll 8
    for (int j = 0; j < Map::kOut; ++j) store(i, j, y[j]);
  }
}

}  // namespace
}  // namespace penstock::kernels::winograd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
