#include <gtest/gtest.h>

#include <vector>

#include "penstock/kernels/gemm_tile.h"

namespace penstock::kernels {
namespace {

// Small whole numbers: any order of summation gives the same bits.
std::vector<float> Numbers(int64_t n) {
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>((i * 7 + i / 11) % 17 - 8));
  return values;
}

// Sides that end inside a tile, a strip and a vector, or fill them; rows that are longer than used.
TEST(GemmNarrow, AgreesWithPlainLoops) {
  constexpr int64_t kPadding = 3;
  for (const bool transposed : {false, true}) {
    for (const int64_t M : {1, 5, 6, 7, 12, 16, 17, 31, 33, 64}) {
      for (const int64_t N : {1, 15, 16, 64, 77, 150}) {
        for (const int64_t K : {1, 16, 255, 257, 530}) {
          for (const double beta : {0.0, 1.0, -2.0}) {
            const int64_t lda = K + kPadding, ldb = (transposed ? K : N) + kPadding;
            const int64_t ldc = N + kPadding;
            const std::vector<float> a = Numbers(M * lda), b = Numbers((transposed ? N : K) * ldb);
            std::vector<float> want = Numbers(M * ldc), got = want;
            GemmPlain<float>(
                {false, transposed, M, N, K, a.data(), lda, b.data(), ldb, want.data(), ldc, beta});
            GemmNarrow(
                {false, transposed, M, N, K, a.data(), lda, b.data(), ldb, got.data(), ldc, beta});
            ASSERT_EQ(got, want) << M << " " << N << " " << K << " " << transposed << " " << beta;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace penstock::kernels
