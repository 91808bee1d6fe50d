#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "penstock/core/tensor.h"
#include "tests/conformance/compare.h"

// A runner that passes everything would go unnoticed: these are the differences it must see.

namespace penstock::conformance {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor Floats(std::initializer_list<float> values) {
  return Tensor::FromValues<float>({static_cast<int64_t>(values.size())}, values);
}
template <class T>
bool Same(T want, T got, Tolerance tolerance = {}) {
  return Difference(Tensor::Scalar(want), Tensor::Scalar(got), tolerance).empty();
}

TEST(Compare, FloatsAgreeWithinTheTolerance) {
  EXPECT_TRUE(Same(100.f, 100.9f, {.rtol = 0.01, .atol = 0}));
  EXPECT_FALSE(Same(100.f, 101.1f, {.rtol = 0.01, .atol = 0}));
  EXPECT_TRUE(Same(0.f, 1e-7f, {.rtol = 0, .atol = 1e-6}));
  EXPECT_FALSE(Same(0.f, 1e-5f, {.rtol = 0, .atol = 1e-6}));
  EXPECT_TRUE(Same(half(1.f), half(1.001f), {.rtol = 0.01, .atol = 0}));
  EXPECT_FALSE(Same(bfloat16(1.f), bfloat16(1.1f), {.rtol = 0.01, .atol = 0}));
}

TEST(Compare, WithoutToleranceEveryBitCounts) {
  EXPECT_TRUE(Same(1.f, 1.f));
  EXPECT_FALSE(Same(1.f, std::nextafter(1.f, 2.f)));
  EXPECT_FALSE(Same(0.f, -0.f));
  EXPECT_TRUE(Same(kNan, -kNan));
}

TEST(Compare, NanAndInfinityEqualThemselvesOnly) {
  const Tolerance wide{.rtol = 1, .atol = 1e30};
  EXPECT_TRUE(Same(kNan, kNan, wide));
  EXPECT_FALSE(Same(kNan, 0.f, wide));
  EXPECT_FALSE(Same(0.f, kNan, wide));
  EXPECT_TRUE(Same(kInf, kInf, wide));
  EXPECT_FALSE(Same(kInf, -kInf, wide));
  EXPECT_FALSE(Same(kInf, 1.f, wide));
  EXPECT_FALSE(Same(1.f, kInf, wide));
}

TEST(Compare, IntegersAndStringsAreExact) {
  const Tolerance loose{.rtol = 0.1, .atol = 0.5};
  EXPECT_FALSE(Same<int64_t>(1000, 1001, loose));
  EXPECT_FALSE(Same<int64_t>((int64_t{1} << 62) + 1, int64_t{1} << 62, loose));
  EXPECT_TRUE(Same<uint8_t>(10, 12, {.rtol = 0, .atol = 2}));
  EXPECT_FALSE(Same<uint8_t>(10, 13, {.rtol = 0, .atol = 2}));
  EXPECT_FALSE(Same(true, false, loose));
  EXPECT_FALSE(Same(std::string("a"), std::string("b"), loose));
  EXPECT_TRUE(Same(std::string("a\0b", 3), std::string("a\0b", 3)));
}

TEST(Compare, ComplexNumbersCompareByDistance) {
  EXPECT_TRUE(Same(complex64(1, 1e-9f), complex64(1, 0), {.rtol = 1e-6, .atol = 0}));
  EXPECT_FALSE(Same(complex64(1, 1), complex64(1, 2), {.rtol = 1e-3, .atol = 0}));
  EXPECT_FALSE(Same(complex128(1, 0), complex128(1, -0.0)));
}

TEST(Compare, TypeAndShapeComeFirst) {
  EXPECT_EQ(Difference(Floats({1}), Tensor::Scalar(1.f), {}), "expected float [1], got float []");
  EXPECT_EQ(Difference(Floats({1}), Tensor::FromValues<double>({1}, {1}), {}),
            "expected float [1], got double [1]");
  EXPECT_EQ(Difference(Floats({1}), Tensor(), {}), "no value came out");
}

TEST(Compare, TheMessageSaysWhere) {
  const Tensor want = Tensor::FromValues<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor got = Tensor::FromValues<int32_t>({2, 3}, {1, 2, 3, 4, 7, 8});
  EXPECT_EQ(Difference(want, got, {}), "2 of 6 elements differ, first at [1,1]: expected 5, got 7");
}

TEST(Compare, UnorderedOutputsArePermutedTogether) {
  const Tensor values = Floats({3, 2, 2});
  const Tensor indices = Tensor::FromValues<int32_t>({3}, {0, 1, 5});
  const Tensor turned = Floats({2, 3, 2});
  const Tensor turned_indices = Tensor::FromValues<int32_t>({3}, {5, 0, 1});
  const Tensor wrong_indices = Tensor::FromValues<int32_t>({3}, {0, 5, 1});
  EXPECT_EQ(UnorderedDifference({values, indices}, {turned, turned_indices}, {}), "");
  EXPECT_NE(UnorderedDifference({values, indices}, {turned, wrong_indices}, {}), "");
  EXPECT_NE(UnorderedDifference({values}, {Floats({3, 3, 2})}, {}), "");
}

}  // namespace
}  // namespace penstock::conformance
