#include "penstock/kernels/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "penstock/core/dtype.h"
#include "penstock/core/thread_pool.h"

namespace penstock::kernels {
namespace {

// An array of any T; std::vector<bool> has no pointer to its elements.
template <class T>
struct Array {
  explicit Array(int64_t n) : size(n), data(std::make_unique<T[]>(n)) {}
  int64_t size;
  std::unique_ptr<T[]> data;
};

struct Case {
  std::vector<int64_t> dims;
  std::vector<uint8_t> reduced;

  int64_t elements() const {
    int64_t n = 1;
    for (const int64_t dim : dims) n *= dim;
    return n;
  }
  ReduceShape shape() const {
    bool flags[16] = {};
    for (size_t i = 0; i < reduced.size(); ++i) flags[i] = reduced[i] != 0;
    return ReduceShape(dims.data(), flags, static_cast<int>(dims.size()));
  }
  // Calls visit(input position, output position) for all elements in order.
  template <class F>
  void ForEach(F visit) const {
    std::vector<int64_t> index(dims.size());
    const int64_t n = elements();
    for (int64_t i = 0; i < n; ++i) {
      int64_t output = 0;
      for (size_t d = 0; d < dims.size(); ++d) {
        if (!reduced[d]) output = output * dims[d] + index[d];
      }
      visit(i, output);
      for (size_t d = dims.size(); d-- > 0;) {
        if (++index[d] < dims[d]) break;
        index[d] = 0;
      }
    }
  }
};

std::ostream& operator<<(std::ostream& out, const Case& x) {
  for (size_t i = 0; i < x.dims.size(); ++i) out << (x.reduced[i] ? " R" : " K") << x.dims[i];
  return out;
}

std::vector<Case> Cases() {
  std::vector<Case> cases = {{{}, {}},
                             {{1}, {1}},
                             {{7}, {0}},
                             {{7}, {1}},
                             {{0}, {1}},
                             {{3, 0}, {0, 1}},
                             {{0, 3}, {0, 1}},
                             {{3, 0, 2}, {1, 0, 1}},
                             {{5000}, {1}},
                             {{200'000}, {1}},
                             {{3, 70'000}, {0, 1}},
                             {{1000, 7}, {1, 0}},
                             {{1000, 7}, {0, 1}},
                             {{300, 40}, {1, 0}},
                             {{2, 5000}, {1, 0}},
                             {{1, 1, 9}, {1, 0, 1}},
                             {{20'000, 3}, {1, 0}},
                             {{200, 30, 20}, {1, 0, 1}},
                             {{30, 20, 25, 4}, {0, 1, 0, 1}},
                             {{9, 8, 7, 6, 5}, {1, 0, 1, 0, 1}},
                             {{2, 3, 2, 3, 2, 3, 2, 3}, {0, 1, 0, 1, 0, 1, 0, 1}}};
  std::mt19937 random(11);
  for (int i = 0; i < 60; ++i) {
    Case x;
    const int rank = static_cast<int>(random() % 9);
    for (int d = 0; d < rank; ++d) {
      x.dims.push_back(random() % 12 == 0 ? random() % 2 : 1 + random() % (rank > 4 ? 5 : 19));
      x.reduced.push_back(random() % 2);
    }
    cases.push_back(x);
  }
  return cases;
}

template <class T>
constexpr bool kComplex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;

// Small whole numbers, so that sums are exact in any order. For products: mostly 1, some -1 and 2.
template <class T>
T Number(std::mt19937& random, bool for_product) {
  int x = static_cast<int>(random() % 16) - (std::is_unsigned_v<T> ? 0 : 8);
  if (for_product) x = random() % 50 == 0 ? (std::is_unsigned_v<T> ? 3 : -1) : 1;
  if (for_product && random() % 20'000 == 0) x = 2;
  if constexpr (kComplex<T>) return T(x, for_product ? 0 : static_cast<int>(random() % 9));
  if constexpr (kIsFloat16<T>) return T(static_cast<float>(x));
  if constexpr (!kIsFloat16<T> && !kComplex<T>) return static_cast<T>(x);
}

// In the type that the kernels promise to gather in.
template <class T>
using Gathered =
    std::conditional_t<kIsFloat16<T>, float, std::conditional_t<std::is_integral_v<T>, int64_t, T>>;

template <class T>
Array<T> Naive(ReduceKind kind, const Case& x, const Array<T>& in) {
  using G = Gathered<T>;
  const ReduceShape shape = x.shape();
  std::vector<G> all(shape.num_outputs());
  std::vector<uint8_t> any(shape.num_outputs());
  if (kind == ReduceKind::kProd) all.assign(all.size(), G(1));
  x.ForEach([&](int64_t i, int64_t o) {
    const G value = static_cast<G>(in.data[i]);
    if (kind == ReduceKind::kSum || kind == ReduceKind::kMean) all[o] += value;
    if constexpr (std::is_integral_v<T>) {
      if (kind == ReduceKind::kProd) all[o] = static_cast<T>(static_cast<uint64_t>(all[o]) * value);
    } else {
      if (kind == ReduceKind::kProd) all[o] *= value;
    }
    if constexpr (!kComplex<T>) {
      if (kind == ReduceKind::kMax && (!any[o] || value > all[o])) all[o] = value;
      if (kind == ReduceKind::kMin && (!any[o] || value < all[o])) all[o] = value;
    }
    any[o] = 1;
  });
  Array<T> out(shape.num_outputs());
  for (int64_t o = 0; o < out.size; ++o) {
    if (kind == ReduceKind::kMean && (any[o] || !(std::is_integral_v<T> || kComplex<T>))) {
      if constexpr (kComplex<T>) {
        all[o] /= static_cast<typename T::value_type>(shape.reduced());
      } else {
        all[o] /= static_cast<G>(shape.reduced());
      }
    }
    out.data[o] = static_cast<T>(all[o]);
    if constexpr (!kComplex<T>) {
      using Limits = std::numeric_limits<T>;
      const bool max = kind == ReduceKind::kMax;
      if (!any[o] && (max || kind == ReduceKind::kMin)) {
        out.data[o] = max ? Limits::lowest() : Limits::max();
        if constexpr (Limits::has_infinity) {
          out.data[o] = max ? T(-static_cast<float>(Limits::infinity())) : Limits::infinity();
        }
      }
    }
  }
  return out;
}

template <class T>
bool Same(T x, T y) {
  if constexpr (std::numeric_limits<T>::has_quiet_NaN) {
    if (x != x && y != y) return true;
  }
  return x == y;
}

template <class T>
class ReduceTest : public ::testing::Test {};
using Types = ::testing::Types<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t,
                               uint8_t, uint16_t, uint32_t, uint64_t, complex64, complex128>;
TYPED_TEST_SUITE(ReduceTest, Types);

TYPED_TEST(ReduceTest, AgreesWithNaiveLoops) {
  using T = TypeParam;
  ThreadPool pool(3);
  std::vector<ReduceKind> kinds = {ReduceKind::kSum, ReduceKind::kProd, ReduceKind::kMean};
  if (!kComplex<T>) kinds.insert(kinds.end(), {ReduceKind::kMax, ReduceKind::kMin});
  std::mt19937 random(3);
  for (const Case& x : Cases()) {
    for (const ReduceKind kind : kinds) {
      Array<T> in(x.elements());
      for (int64_t i = 0; i < in.size; ++i) {
        in.data[i] = Number<T>(random, kind == ReduceKind::kProd);
      }
      const Array<T> want = Naive(kind, x, in);
      Array<T> got(want.size);
      Reduce(kind, in.data.get(), x.shape(), got.data.get(), ParallelFor(&pool));
      for (int64_t i = 0; i < want.size; ++i) {
        ASSERT_TRUE(Same(got.data[i], want.data[i]))
            << "kind " << static_cast<int>(kind) << " of" << x << " at " << i;
      }
    }
  }
}

TEST(ReduceBool, AllAndAny) {
  std::mt19937 random(4);
  for (const Case& x : Cases()) {
    for (const int rarely : {3, 1000}) {
      for (const bool all : {true, false}) {
        Array<bool> in(x.elements());
        for (int64_t i = 0; i < in.size; ++i) in.data[i] = (random() % rarely == 0) != all;
        const int64_t outputs = x.shape().num_outputs();
        std::vector<uint8_t> want(outputs, all);
        x.ForEach([&](int64_t i, int64_t o) {
          want[o] = all ? want[o] & in.data[i] : want[o] | in.data[i];
        });
        Array<bool> got(outputs);
        Reduce(all ? ReduceKind::kAll : ReduceKind::kAny, in.data.get(), x.shape(), got.data.get(),
               ParallelFor());
        for (int64_t i = 0; i < outputs; ++i) ASSERT_EQ(got.data[i], want[i] != 0) << x;
      }
    }
  }
}

TEST(ReduceFloat, NanWinsMaxAndMin) {
  for (const int64_t n : {2, 20, 100, 5000}) {
    for (const int64_t width : {1, 3, 40}) {
      for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
        std::vector<float> in(n * width, 1.0f);
        in[at * width + width / 2] = std::numeric_limits<float>::quiet_NaN();
        std::vector<float> out(width);
        for (const ReduceKind kind : {ReduceKind::kMax, ReduceKind::kMin}) {
          Reduce(kind, in.data(), Case{{n, width}, {1, 0}}.shape(), out.data(), ParallelFor());
          for (int64_t i = 0; i < width; ++i) EXPECT_EQ(std::isnan(out[i]), i == width / 2);
        }
      }
    }
  }
}

TEST(ReduceFloat, SumsAreAccurateAndDoNotDependOnThreads) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> in(1 << 22);
  for (float& value : in) value = uniform(random);
  const int64_t n = static_cast<int64_t>(in.size());
  for (const Case& x : {Case{{n}, {1}}, Case{{n / 4, 4}, {1, 0}}, Case{{n / 2048, 2048}, {1, 0}},
                        Case{{16, n / 16}, {0, 1}}, Case{{n / 64, 8, 8}, {1, 0, 1}}}) {
    const ReduceShape shape = x.shape();
    std::vector<double> want(shape.num_outputs());
    x.ForEach([&](int64_t i, int64_t o) { want[o] += in[i]; });
    std::vector<float> first;
    for (const int threads : {1, 2, 5}) {
      ThreadPool pool(threads);
      std::vector<float> got(want.size());
      Reduce(ReduceKind::kSum, in.data(), shape, got.data(), ParallelFor(&pool));
      for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 3e-7 * want[i]) << x;
      if (first.empty()) first = got;
      EXPECT_EQ(got, first) << x << " threads " << threads;
    }
  }
}

TEST(ReduceInteger, SumsWrapAndMeansDoNot) {
  const std::vector<int8_t> in(300, 100);
  int8_t out = 0;
  Reduce(ReduceKind::kSum, in.data(), Case{{300}, {1}}.shape(), &out, ParallelFor());
  EXPECT_EQ(out, static_cast<int8_t>(30'000));
  Reduce(ReduceKind::kMean, in.data(), Case{{300}, {1}}.shape(), &out, ParallelFor());
  EXPECT_EQ(out, 100);
  const std::vector<int32_t> negative = {-7, -8};
  int32_t mean = 0;
  Reduce(ReduceKind::kMean, negative.data(), Case{{2}, {1}}.shape(), &mean, ParallelFor());
  EXPECT_EQ(mean, -7);
}

template <class T>
class ArgReduceTest : public ::testing::Test {};
using RealTypes = ::testing::Types<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t,
                                   uint8_t, uint16_t, uint32_t, uint64_t, bool>;
TYPED_TEST_SUITE(ArgReduceTest, RealTypes);

TYPED_TEST(ArgReduceTest, FindsTheFirst) {
  using T = TypeParam;
  ThreadPool pool(2);
  std::mt19937 random(6);
  struct Size {
    int64_t outer, n, inner;
  };
  for (const Size& s :
       {Size{1, 1, 1}, Size{3, 5, 1}, Size{2, 3000, 1}, Size{300, 7, 1}, Size{3, 5, 7},
        Size{2, 9, 600}, Size{0, 5, 1}, Size{2, 5, 0}, Size{2, 1 << 18, 1}}) {
    for (const ArgKind kind : {ArgKind::kMax, ArgKind::kMin}) {
      Array<T> in(s.outer * s.n * s.inner);
      for (int64_t i = 0; i < in.size; ++i) in.data[i] = Number<T>(random, false);
      Array<int64_t> got(s.outer * s.inner);
      Array<int32_t> narrow(s.outer * s.inner);
      ArgReduce(kind, in.data.get(), s.outer, s.n, s.inner, got.data.get(), ParallelFor(&pool));
      ArgReduce(kind, in.data.get(), s.outer, s.n, s.inner, narrow.data.get(), ParallelFor());
      for (int64_t o = 0; o < s.outer; ++o) {
        for (int64_t i = 0; i < s.inner; ++i) {
          const auto value = [&](int64_t k) { return in.data[(o * s.n + k) * s.inner + i]; };
          int64_t want = 0;
          for (int64_t k = 1; k < s.n; ++k) {
            if (kind == ArgKind::kMax ? value(k) > value(want) : value(k) < value(want)) want = k;
          }
          ASSERT_EQ(got.data[o * s.inner + i], want) << s.outer << " " << s.n << " " << s.inner;
          ASSERT_EQ(narrow.data[o * s.inner + i], want);
        }
      }
    }
  }
}

TEST(ArgReduceFloat, NanNeverWins) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  struct Row {
    std::vector<float> in;
    int64_t max, min;
  };
  for (const Row& row : {Row{{nan, 1, 2}, 2, 1}, Row{{1, nan, 2}, 2, 0}, Row{{nan, nan}, 0, 0},
                         Row{{-inf, -inf}, 0, 0}, Row{{3, inf, -inf}, 1, 2}}) {
    for (const int64_t inner : {1, 20}) {
      const int64_t n = static_cast<int64_t>(row.in.size());
      std::vector<float> in;
      for (const float value : row.in) in.insert(in.end(), inner, value);
      std::vector<int64_t> out(inner);
      ArgReduce(ArgKind::kMax, in.data(), 1, n, inner, out.data(), ParallelFor());
      EXPECT_EQ(out, std::vector<int64_t>(inner, row.max));
      ArgReduce(ArgKind::kMin, in.data(), 1, n, inner, out.data(), ParallelFor());
      EXPECT_EQ(out, std::vector<int64_t>(inner, row.min));
    }
  }
}

}  // namespace
}  // namespace penstock::kernels
