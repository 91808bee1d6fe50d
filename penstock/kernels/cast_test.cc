#include "penstock/kernels/cast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "penstock/core/thread_pool.h"

namespace penstock::kernels {
namespace {

using Numbers = std::tuple<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                           uint64_t, half, bfloat16, float, double, complex64, complex128>;

template <class T>
constexpr bool kComplex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
template <class T>
constexpr bool kFloating = std::is_floating_point_v<T> || kIsFloat16<T>;

// A float that fits neither 32 nor 64 bits gives the lowest integer of that many.
template <class Int>
Int Truncated(double x) {
  const double end = std::ldexp(1.0, sizeof(Int) * 8 - 1);
  return x >= -end && x < end ? static_cast<Int>(x) : std::numeric_limits<Int>::min();
}

template <class To, class From>
To Oracle(From x) {
  if constexpr (kComplex<From> && kComplex<To>) {
    return To(x);
  } else if constexpr (kComplex<From>) {
    return Oracle<To>(x.real());
  } else if constexpr (kComplex<To>) {
    return To(Oracle<typename To::value_type>(x), 0);
  } else if constexpr (kIsFloat16<From> && !std::is_same_v<From, To>) {
    return Oracle<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (kIsFloat16<To> && !std::is_same_v<From, To>) {
    return To(static_cast<float>(x));
  } else if constexpr (!kFloating<From> || !std::is_integral_v<To>) {
    return static_cast<To>(x);
  } else if constexpr (std::is_same_v<To, uint64_t>) {
    if (x >= From(0x1p63) && x < From(0x1p64)) return static_cast<uint64_t>(x);
    return static_cast<uint64_t>(Truncated<int64_t>(x));
  } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, uint32_t>) {
    return static_cast<To>(Truncated<int64_t>(x));
  } else {
    return static_cast<To>(Truncated<int32_t>(x));
  }
}

// Values in and out of the ranges of the other types.
template <class T>
std::vector<double> Interesting() {
  std::vector<double> values = {0, 1, -1, 0.5, -0.5, 1.5, -1.5, 2.75, 100, 127, 128, 200, 255, 256};
  for (const int power : {8, 15, 16, 31, 32, 63, 64, 100}) {
    const double x = std::ldexp(1.0, power);
    values.insert(values.end(), {x, -x, x * 0.999, x * -0.999, x * 1.01, x * -1.01});
  }
  if (kFloating<T> || kComplex<T>) {
    const double inf = std::numeric_limits<double>::infinity();
    values.insert(values.end(), {inf, -inf, std::nan(""), -0.0, 1e-8, 1e-40, 65504, 65520});
  }
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, 1000);
  for (int i = 0; i < 600; ++i) values.push_back(normal(random));
  return values;
}

template <class T>
bool Same(T x, T y) {
  if constexpr (kComplex<T>) {
    return Same(x.real(), y.real()) && Same(x.imag(), y.imag());
  } else {
    if (x != x && y != y) return true;
    return std::memcmp(&x, &y, sizeof(T)) == 0;
  }
}

template <class From, class To>
void CheckPair() {
  const std::vector<double> values = Interesting<From>();
  const size_t n = values.size();
  const auto in = std::make_unique<From[]>(n);
  const auto out = std::make_unique<To[]>(n);
  for (size_t i = 0; i < n; ++i) {
    if constexpr (kComplex<From>) {
      in[i] = From(static_cast<float>(values[i]), 3);
    } else {
      in[i] = Oracle<From>(values[i]);
    }
  }
  ThreadPool pool(2);
  LookupCast(kDTypeOf<From>, kDTypeOf<To>)(in.get(), out.get(), static_cast<int64_t>(n),
                                           ParallelFor(&pool));
  for (size_t i = 0; i < n; ++i) {
    ASSERT_TRUE(Same(out[i], Oracle<To>(in[i])))
        << ToString(kDTypeOf<From>) << " to " << ToString(kDTypeOf<To>) << " of " << values[i];
  }
  Cast(in.get(), out.get(), 3);
  EXPECT_TRUE(Same(out[2], Oracle<To>(in[2])));
}

template <class T>
class CastTest : public ::testing::Test {};
template <class Tuple>
struct AsTypes;
template <class... T>
struct AsTypes<std::tuple<T...>> {
  using Type = ::testing::Types<T...>;
};
TYPED_TEST_SUITE(CastTest, AsTypes<Numbers>::Type);

TYPED_TEST(CastTest, ToEveryType) {
  std::apply([](auto... to) { (CheckPair<TypeParam, decltype(to)>(), ...); }, Numbers());
}

TEST(Cast, OutOfRangeAsTensorFlowGivesIt) {
  const std::vector<float> in = {200, 300, -200, 1e30f, std::nanf(""), -1.5f, 70000, 3e9f, 1.9e19f};
  const int64_t n = static_cast<int64_t>(in.size());
  std::vector<int8_t> i8(n);
  Cast(in.data(), i8.data(), n);
  EXPECT_EQ(i8, (std::vector<int8_t>{-56, 44, 56, 0, 0, -1, 112, 0, 0}));
  std::vector<uint32_t> u32(n);
  Cast(in.data(), u32.data(), n);
  EXPECT_EQ(u32,
            (std::vector<uint32_t>{200, 300, 4294967096, 0, 0, 4294967295, 70000, 3000000000, 0}));
  std::vector<uint64_t> u64(n);
  Cast(in.data(), u64.data(), n);
  EXPECT_EQ(u64[2], 18446744073709551416u);
  EXPECT_EQ(u64[4], uint64_t{1} << 63);
  EXPECT_EQ(u64[8], uint64_t{1} << 63);
}

TEST(Cast, TruncatesWhereAsked) {
  const std::vector<float> in = {1.9999999f, 3.1415926535f, -1.999f};
  std::vector<bfloat16> out(3);
  LookupCast(DType::kFloat, DType::kBfloat16, /*truncate=*/true)(in.data(), out.data(), 3);
  EXPECT_EQ(static_cast<float>(out[0]), 1.9921875f);
  EXPECT_EQ(static_cast<float>(out[1]), 3.140625f);
  EXPECT_EQ(static_cast<float>(out[2]), -1.9921875f);
  std::vector<half> halves(3);
  LookupCast(DType::kFloat, DType::kHalf, /*truncate=*/true)(in.data(), halves.data(), 3);
  EXPECT_EQ(static_cast<float>(halves[0]), 1.9990234375f);
}

TEST(Cast, KnowsNumbersOnly) {
  EXPECT_FALSE(LookupCast(DType::kString, DType::kFloat));
  EXPECT_FALSE(LookupCast(DType::kFloat, DType::kResource));
  EXPECT_TRUE(LookupCast(DType::kHalf, DType::kComplex128));
  LookupCast(DType::kFloat, DType::kInt8)(nullptr, nullptr, 0);
}

TEST(Cast, AnyByteButZeroIsTrue) {
  const uint8_t bytes[] = {0, 1, 2, 255};
  uint8_t out[4];
  LookupCast(DType::kBool, DType::kBool)(bytes, out, 4);
  EXPECT_EQ(std::vector<uint8_t>(out, out + 4), (std::vector<uint8_t>{0, 1, 1, 1}));
  LookupCast(DType::kBool, DType::kInt8)(bytes, out, 4);
  EXPECT_EQ(std::vector<uint8_t>(out, out + 4), (std::vector<uint8_t>{0, 1, 1, 1}));
}

}  // namespace
}  // namespace penstock::kernels
