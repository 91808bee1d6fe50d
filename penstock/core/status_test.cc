#include "penstock/core/status.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

Status Fails() { return InvalidArgument("expected {}, got {}", 3, "four"); }
Result<int> Half(int n) {
  if (n % 2 != 0) return InvalidArgument("{} is odd", n);
  return n / 2;
}
Result<int> Quarter(int n) {
  TRY_ASSIGN(const int half, Half(n));
  return Half(half);
}
Status Chain(int n) {
  TRY(Quarter(n));
  return OkStatus();
}

TEST(Status, SuccessIsCheapAndEmpty) {
  EXPECT_TRUE(OkStatus().ok());
  EXPECT_EQ(OkStatus().code(), Code::kOk);
  EXPECT_EQ(OkStatus().message(), "");
  EXPECT_EQ(sizeof(Status), sizeof(void*));
}

TEST(Status, MessageIsFormattedAndAnnotated) {
  const Status status = Fails();
  EXPECT_EQ(status.ToString(), "INVALID_ARGUMENT: expected 3, got four");
  EXPECT_EQ(status.Annotate("node x").message(), "node x: expected 3, got four");
  EXPECT_TRUE(OkStatus().Annotate("x").ok());
}

TEST(Status, LongMessagesAreCut) {
  const Status status = InvalidArgument("{}", std::string(100'000, 'x'));
  EXPECT_LE(status.message().size(), kMaxMessageBytes + 3);
}

TEST(Result, MacrosPassErrorsOn) {
  EXPECT_EQ(*Quarter(8), 2);
  EXPECT_EQ(Quarter(6).status().message(), "3 is odd");
  EXPECT_TRUE(Chain(8).ok());
  EXPECT_EQ(Chain(5).message(), "5 is odd");
}

TEST(Format, KeepsSurplusVisible) {
  EXPECT_EQ(Format("a {} b"), "a {} b");
  EXPECT_EQ(Format("a", 1, true), "a 1 true");
  EXPECT_EQ(Format("{}", 0.5), "0.5");
}

TEST(Format, PrintableEscapesAndCuts) {
  EXPECT_EQ(Printable("a\nb\x01"), "a\\x0ab\\x01");
  EXPECT_EQ(Printable(std::string(300, 'x')).size(), 203u);
}

}  // namespace
}  // namespace penstock
