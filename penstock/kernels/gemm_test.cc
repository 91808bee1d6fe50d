#include "penstock/kernels/gemm.h"

#include <gtest/gtest.h>

#include <complex>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <limits>
#include <random>
#include <vector>

#include "penstock/core/dtype.h"
#include "penstock/core/thread_pool.h"
#include "penstock/kernels/gemm_tile.h"

namespace penstock::kernels {
namespace {

// Small multiples of 1/16: their products and sums are exact in float, so any order of summation
// must give the same bits.
template <class T>
T Number(std::mt19937& random) {
  const int x = static_cast<int>(random() % 129) - 64;
  const int y = static_cast<int>(random() % 129) - 64;
  if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
    return T(x / 16.0f, y / 16.0f);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(x);
  } else {
    return T(x / 16.0f);
  }
}

template <class T>
std::vector<T> Numbers(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<T> values;
  for (int64_t i = 0; i < n; ++i) values.push_back(Number<T>(random));
  return values;
}

template <class T>
bool SameBits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() &&
         (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0);
}

struct Case {
  bool transpose_a;
  bool transpose_b;
  int64_t M, N, K;
  int64_t padding = 0;  // elements beyond each row, in all three matrices
  double beta = 0;

  int64_t lda() const { return (transpose_a ? M : K) + padding; }
  int64_t ldb() const { return (transpose_b ? K : N) + padding; }
  int64_t ldc() const { return N + padding; }
  int64_t a_size() const { return (transpose_a ? K : M) * lda(); }
  int64_t b_size() const { return (transpose_b ? N : K) * ldb(); }
  int64_t c_size() const { return M * ldc(); }
};

std::ostream& operator<<(std::ostream& out, const Case& x) {
  return out << x.M << "x" << x.N << "x" << x.K << (x.transpose_a ? " transpose_a" : "")
             << (x.transpose_b ? " transpose_b" : "") << " padding " << x.padding << " beta "
             << x.beta;
}

template <class T>
void Naive(const Case& x, const T* a, const T* b, T* c) {
  using Sum = std::conditional_t<kIsFloat16<T>, float,
                                 std::conditional_t<std::is_integral_v<T>, uint64_t, T>>;
  for (int64_t m = 0; m < x.M; ++m) {
    for (int64_t n = 0; n < x.N; ++n) {
      Sum sum{};
      for (int64_t k = 0; k < x.K; ++k) {
        sum += static_cast<Sum>(a[x.transpose_a ? k * x.lda() + m : m * x.lda() + k]) *
               static_cast<Sum>(b[x.transpose_b ? n * x.ldb() + k : k * x.ldb() + n]);
      }
      T& out = c[m * x.ldc() + n];
      if (x.beta == 1) sum += static_cast<Sum>(out);
      out = static_cast<T>(sum);
    }
  }
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      cases.insert(cases.end(), {{ta, tb, 1, 1, 1},
                                 {ta, tb, 3, 2, 5, 1, 1},
                                 {ta, tb, 16, 16, 16},
                                 {ta, tb, 17, 33, 65, 3, 1},
                                 {ta, tb, 1, 300, 40},
                                 {ta, tb, 300, 1, 40, 2},
                                 {ta, tb, 97, 193, 129, 0, 1},
                                 {ta, tb, 5, 700, 3, 1},
                                 {ta, tb, 300, 130, 300}});
    }
  }
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i) {
    const auto pick = [&](int limit) { return static_cast<int64_t>(random() % limit) + 1; };
    cases.push_back({random() % 2 == 0, random() % 2 == 0, pick(90), pick(90), pick(90),
                     pick(4) - 1, static_cast<double>(random() % 2)});
  }
  return cases;
}

template <class T>
class GemmTest : public ::testing::Test {};
using Types =
    ::testing::Types<float, double, half, bfloat16, int32_t, int64_t, complex64, complex128>;
TYPED_TEST_SUITE(GemmTest, Types);

TYPED_TEST(GemmTest, AgreesWithNaiveLoops) {
  using T = TypeParam;
  ThreadPool pool(3);
  for (const Case& x : Cases()) {
    const auto a = Numbers<T>(x.a_size(), 1);
    const auto b = Numbers<T>(x.b_size(), 2);
    const auto before = Numbers<T>(x.c_size(), 3);
    auto want = before;
    Naive(x, a.data(), b.data(), want.data());
    auto got = before;
    Gemm(x.transpose_a, x.transpose_b, x.M, x.N, x.K, a.data(), x.lda(), b.data(), x.ldb(),
         got.data(), x.ldc(), x.beta, ParallelFor(&pool));
    EXPECT_TRUE(SameBits(got, want)) << x;

    const auto problem = [&](std::vector<T>& c) {
      return GemmProblem<T>{x.transpose_a, x.transpose_b, x.M,     x.N,      x.K,     a.data(),
                            x.lda(),       b.data(),      x.ldb(), c.data(), x.ldc(), x.beta};
    };
    auto reference = before;
    GemmReference(problem(reference));
    EXPECT_TRUE(SameBits(reference, want)) << "reference " << x;
    auto plain = before;
    GemmPlain(problem(plain));
    EXPECT_TRUE(SameBits(plain, want)) << "plain " << x;
  }
}

TYPED_TEST(GemmTest, BatchesWithRepeatedOperands) {
  using T = TypeParam;
  ThreadPool pool(2);
  for (const int64_t size : {3, 40}) {
    const Case x{false, true, size, size + 1, size + 2};
    const int64_t count = 7;
    const auto a = Numbers<T>(x.a_size() * 2, 1);
    const auto b = Numbers<T>(x.b_size() * count, 2);
    std::vector<int64_t> a_offsets, b_offsets;
    std::vector<T> want(x.c_size() * count), got(x.c_size() * count);
    for (int64_t i = 0; i < count; ++i) {
      a_offsets.push_back(i % 2 * x.a_size());
      b_offsets.push_back((count - 1 - i) * x.b_size());
      Naive(x, a.data() + a_offsets[i], b.data() + b_offsets[i], want.data() + i * x.c_size());
    }
    BatchedGemm({count, a_offsets.data(), b_offsets.data(), x.c_size()}, false, true, x.M, x.N, x.K,
                a.data(), x.lda(), b.data(), x.ldb(), got.data(), x.ldc(), 0, ParallelFor(&pool));
    EXPECT_TRUE(SameBits(got, want)) << x;
  }
}

TYPED_TEST(GemmTest, EmptySides) {
  using T = TypeParam;
  const std::vector<T> ones(20, T(1));
  std::vector<T> c(20, T(3));
  Gemm<T>(false, false, 0, 4, 5, ones.data(), 5, ones.data(), 4, c.data(), 4, 0, ParallelFor());
  Gemm<T>(false, false, 4, 0, 5, ones.data(), 5, ones.data(), 1, c.data(), 1, 0, ParallelFor());
  EXPECT_TRUE(SameBits(c, std::vector<T>(20, T(3))));
  Gemm<T>(false, false, 4, 5, 0, nullptr, 1, nullptr, 5, c.data(), 5, 1, ParallelFor());
  EXPECT_TRUE(SameBits(c, std::vector<T>(20, T(3))));
  Gemm<T>(false, false, 4, 5, 0, nullptr, 1, nullptr, 5, c.data(), 5, 0, ParallelFor());
  EXPECT_TRUE(SameBits(c, std::vector<T>(20, T(0))));
}

TEST(GemmFloat, WithoutBetaOldValuesDoNotCount) {
  for (const int64_t n : {2, 20, 200}) {
    const std::vector<float> ones(n * n, 1.0f);
    std::vector<float> c(n * n, std::numeric_limits<float>::quiet_NaN());
    Gemm(false, false, n, n, n, ones.data(), n, ones.data(), n, c.data(), n, 0, ParallelFor());
    EXPECT_TRUE(SameBits(c, std::vector<float>(n * n, static_cast<float>(n)))) << n;
  }
}

TEST(GemmInt32, Wraps) {
  const int32_t a[] = {std::numeric_limits<int32_t>::max(), 2};
  const int32_t b[] = {2, 3};
  int32_t c = 0;
  Gemm(false, false, 1, 1, 2, a, 2, b, 1, &c, 1, 0, ParallelFor());
  EXPECT_EQ(c, 4);
}

// oneDNN must not bring a team of its own: it would compute beside ours, and spin when it is done.
TEST(GemmFloat, StartsNoThread) {
  const auto count_threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task"), end;
    return std::distance(tasks, end);
  };
  const auto before = count_threads();
  const int64_t n = 300;
  const std::vector<float> ones(n * n, 1.0f);
  std::vector<float> c(n * n);
  Gemm(false, false, n, n, n, ones.data(), n, ones.data(), n, c.data(), n, 0, ParallelFor());
  EXPECT_EQ(count_threads(), before);
}

// Sums that do round: equal bits mean that the order of summation did not change.
TEST(GemmFloat, ResultDoesNotDependOnThreads) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (const Case& x : {Case{false, false, 300, 600, 257}, Case{true, false, 64, 64, 5000},
                        Case{false, true, 1, 3000, 333}, Case{false, false, 2, 3000, 100}}) {
    std::vector<float> a(x.a_size()), b(x.b_size());
    for (float& value : a) value = normal(random);
    for (float& value : b) value = normal(random);
    std::vector<float> first;
    for (const int threads : {1, 2, 5}) {
      ThreadPool pool(threads);
      std::vector<float> c(x.c_size());
      Gemm(x.transpose_a, x.transpose_b, x.M, x.N, x.K, a.data(), x.lda(), b.data(), x.ldb(),
           c.data(), x.ldc(), 0, ParallelFor(&pool));
      if (first.empty()) first = c;
      EXPECT_TRUE(SameBits(c, first)) << x << " threads " << threads;
    }
  }
}

}  // namespace
}  // namespace penstock::kernels
