#include "penstock/kernels/few_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace penstock::kernels {
namespace {

// Compares with sums in double. The operands lie in larger matrices.
void Check(int64_t M, int64_t N, int64_t K, bool with_bias) {
  std::mt19937 random(static_cast<unsigned>(M * 1000 + N + K));
  std::uniform_real_distribution<float> uniform(-1, 1);
  auto draw = [&](int64_t count) {
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = uniform(random);
    return values;
  };
  const int64_t lda = K + 3, ldb = N + 5, ldc = N + 7;
  const std::vector<float> a = draw(M * lda), b = draw(K * ldb), bias = draw(N);
  std::vector<float> c(static_cast<size_t>(M * ldc), 7.f);
  GemmFewRows(
      {M, N, K, a.data(), lda, b.data(), ldb, with_bias ? bias.data() : nullptr, c.data(), ldc});
  for (int64_t m = 0; m < M; ++m) {
    for (int64_t n = 0; n < ldc; ++n) {
      double sum = n < N && with_bias ? bias[static_cast<size_t>(n)] : 0;
      for (int64_t k = 0; k < K && n < N; ++k)
        sum += double{a[static_cast<size_t>(m * lda + k)]} * b[static_cast<size_t>(k * ldb + n)];
      const float expected = n < N ? static_cast<float>(sum) : 7.f;
      ASSERT_NEAR(c[static_cast<size_t>(m * ldc + n)], expected, 1e-5 * std::sqrt(double(K) + 1))
          << M << " " << N << " " << K << " at " << m << ", " << n;
    }
  }
}

TEST(FewRows, Multiplies) {
  for (const int64_t M : {1, 2, 3, 5, 6, 7, 8, 9, 13, 16, 20}) {
    for (const int64_t N : {16, 32, 48, 64, 112}) {
      for (const int64_t K : {0, 1, 7, 64}) Check(M, N, K, (M + N + K) % 2 == 0);
    }
  }
}

}  // namespace
}  // namespace penstock::kernels
