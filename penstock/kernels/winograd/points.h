// The numbers that Winograd's convolutions are made of.
//
// Note [winograd]. A tile of m outputs of a convolution with r taps is a product of polynomials in
// disguise: evaluate what goes in at n = m + r - 1 points, multiply point by point, interpolate. In
// matrices, per axis: y = At ((G g) * (Bt d)), with d the n inputs that the tile reads and g the
// filter. The points are 0, pairs of +a and -a, and infinity. With P(x) = x prod(x^2 - a^2):
//   Bt  a row for each point p holds the coefficients of P(x) / (x - p), that of infinity those of
//   P G   a row for each point holds 1, p, p^2, ... divided by P'(p); that of infinity 0, ..., 0, 1
//   A   the same without the division
// Both axes are treated alike, so that a tile of m x m outputs takes n x n multiplications for each
// pair of channels in place of m x m x r x r. The pairs let each row share the even and the odd
// half of its sum with another. The filter's gradient is the transposed map: Gt ((A dy) * (Bt d)).
//
// Points decide the rounding errors. Beside the largest output, in float, 256 channels:
//   F(2, 3)  0 1              5e-7 (summed directly: 3e-7)
//   F(4, 3)  0 3/4 3/2        2e-6 (the textbook's 0 1 2: 7e-6; 0 1 1/2: 5e-6)
//   F(4, 5)  0 9/16 1 15/8    5e-6 (0 1/2 1 2: 8e-6; 0 3/8 3/4 3/2: 4e-5)
#pragma once

#include <array>
#include <cstddef>

namespace penstock::kernels::winograd {

template <int kPairs>
inline constexpr std::array<double, kPairs> kPositivePoints = {};
template <>
inline constexpr std::array<double, 1> kPositivePoints<1> = {1};
template <>
inline constexpr std::array<double, 2> kPositivePoints<2> = {0.75, 1.5};
template <>
inline constexpr std::array<double, 3> kPositivePoints<3> = {0.5625, 1, 1.875};

// The points 0, +a, -a, +b, -b, ..., infinity, in this order.
template <int kPairs>
struct Points {
  static constexpr int kCount = 2 * kPairs + 2;
  using Row = std::array<float, kPairs + 1>;

  // Of pair i, by power of x^2: prod(x^2 - a_j^2) over the other pairs; of i = kPairs: over all.
  static constexpr std::array<Row, kPairs + 1> kFactors = [] {
    std::array<Row, kPairs + 1> rows = {};
    for (size_t i = 0; i <= kPairs; ++i) {
      std::array<double, kPairs + 1> product = {1};
      for (size_t j = 0; j < kPairs; ++j) {
        if (j == i) continue;
        const double square = kPositivePoints<kPairs>[j] * kPositivePoints<kPairs>[j];
        for (size_t k = kPairs; k > 0; --k) product[k] = product[k - 1] - square * product[k];
        product[0] *= -square;
      }
      for (size_t k = 0; k <= kPairs; ++k) rows[i][k] = static_cast<float>(product[k]);
    }
    return rows;
  }();

  // Power j of the positive point of pair i, divided by P' there if kWeighted.
  template <bool kWeighted, int kPowers>
  static constexpr std::array<std::array<float, kPowers>, kPairs> MakePowers() {
    std::array<std::array<float, kPowers>, kPairs> powers = {};
    for (size_t i = 0; i < kPairs; ++i) {
      const double a = kPositivePoints<kPairs>[i];
      double power = kWeighted ? 1 / (2 * a * a) : 1;
      for (size_t j = 0; j < kPairs && kWeighted; ++j) {
        const double b = kPositivePoints<kPairs>[j];
        if (j != i) power /= a * a - b * b;
      }
      for (size_t j = 0; j < kPowers; ++j, power *= a) powers[i][j] = static_cast<float>(power);
    }
    return powers;
  }

  // 1 / P'(0).
  static constexpr float kZeroWeight = [] {
    double weight = 1;
    for (const double a : kPositivePoints<kPairs>) weight /= -a * a;
    return static_cast<float>(weight);
  }();
};

}  // namespace penstock::kernels::winograd
