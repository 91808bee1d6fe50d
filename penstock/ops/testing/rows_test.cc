#include "penstock/ops/testing/rows.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include "penstock/ops/activation.h"
#include "penstock/ops/math_binary.h"
#include "penstock/ops/math_unary.h"

// Rows that must not pass.

namespace penstock::rows {
namespace {

// The first failure of a row, or nothing.
std::string FailureOf(const Row& row) {
  ::testing::TestPartResultArray results;
  {
    ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    CheckRow(row);
  }
  for (int i = 0; i < results.size(); ++i) {
    if (results.GetTestPartResult(i).failed()) return results.GetTestPartResult(i).message();
  }
  return "";
}

::testing::AssertionResult Contains(const std::string& text, const std::string& part) {
  if (text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "expected \"" << part << "\" in \"" << text << "\"";
}

const Row kGood = Row(AddV2{}).Inputs(Vector<float>({1, 2}), Scalar(1.f));

TEST(Rows, AGoodRowPasses) {
  EXPECT_EQ(FailureOf(Row(kGood).Expect(Vector<float>({2, 3})).Gradient()), "");
}

TEST(Rows, AWrongValueFails) {
  EXPECT_TRUE(Contains(FailureOf(Row(kGood).Expect(Vector<float>({2, 4}))), "expected 4, got 3"));
  EXPECT_TRUE(Contains(FailureOf(Row(kGood).EachElement([](double x, double y) { return x - y; })),
                       "expected 0, got 2"));
}

TEST(Rows, AWrongShapeOrTypeFails) {
  EXPECT_TRUE(Contains(FailureOf(Row(kGood).Expect(Values<float>({2, 1}, {2, 3}))), "[2,1]"));
  EXPECT_TRUE(Contains(FailureOf(Row(kGood).Expect(Vector<double>({2, 3}))), "double"));
}

TEST(Rows, AnErrorThatDoesNotComeFails) {
  EXPECT_TRUE(Contains(FailureOf(Row(kGood).Fails(Code::kInvalidArgument, "")), "OK"));
}

TEST(Rows, AnUnexpectedErrorFails) {
  const Row bad = Row(AddV2{}).Inputs(Uniform({2}), Uniform({3}));
  EXPECT_TRUE(Contains(FailureOf(bad), "INVALID_ARGUMENT"));
  EXPECT_TRUE(Contains(FailureOf(Row(bad).Fails(Code::kNotFound, "")), "NOT_FOUND"));
  EXPECT_TRUE(Contains(FailureOf(Row(bad).Fails(Code::kInvalidArgument, "no such words")),
                       "no such words"));
}

TEST(Rows, AWrongGradientFails) {
  // At 0 the two sides of Relu differ, so that no gradient is the difference.
  const Row kink = Row(Relu{}).Inputs(Scalar(0.f));
  EXPECT_TRUE(Contains(FailureOf(kink), "gradient of input 0"));
  EXPECT_EQ(FailureOf(Row(kink).NoGradient()), "");
}

TEST(Rows, AGradientThatCannotBeCheckedFailsWhereItIsAskedFor) {
  EXPECT_TRUE(Contains(FailureOf(Row(Floor{}).Inputs(Scalar(1.f)).Gradient()), "no gradient"));
  EXPECT_TRUE(
      Contains(FailureOf(Row(AddV2{}).Inputs(Scalar(1), Scalar(2)).Gradient()), "float or double"));
}

TEST(Rows, AnUnknownOpFails) {
  EXPECT_TRUE(Contains(FailureOf(Row("NoSuchOp")), "not registered"));
}

}  // namespace
}  // namespace penstock::rows
