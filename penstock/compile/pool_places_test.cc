#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "penstock/compile/passes.h"
#include "penstock/compile/testing/pass_text.h"

namespace penstock {
namespace {

// A pooling and its derivative, with attributes of the second to choose.
std::string Pools(std::string_view attrs, std::string_view x = "[2,5,5,3]") {
  return "x = Placeholder(shape=" + std::string(x) + R"()
      y = MaxPool(x, ksize=[1,3,3,1], strides=[1,2,2,1], padding="SAME")
      dy = Placeholder()
      dx = MaxPoolGrad(x, y, dy, )" +
         std::string(attrs) + ")\nr = _Retval(y, index=0)\ns = _Retval(dx, index=1)\n";
}
constexpr char kSame[] = R"(ksize=[1,3,3,1], strides=[1,2,2,1], padding="SAME")";

bool HandsOver(const std::string& text) {
  const std::string after = After(text, HandOverPoolPlaces);
  EXPECT_EQ(after.find("INVALID"), std::string::npos) << after;
  EXPECT_EQ(after.find("_MaxPoolPlaces(") != std::string::npos,
            after.find("_MaxPoolPlacesGrad(") != std::string::npos);
  return after.find("_MaxPoolPlaces") != std::string::npos;
}

TEST(PoolPlaces, AreHandedToTheDerivative) {
  EXPECT_EQ(After(Pools(kSame), HandOverPoolPlaces),
            "x = Placeholder()\n"
            "y = _MaxPoolPlaces(x)\n"
            "dy = Placeholder()\n"
            "dx = _MaxPoolPlacesGrad(dx/shape, y:1, dy)\n"
            "r = _Retval(y)\n"
            "s = _Retval(dx)\n"
            "dx/shape = int64 [4] {2, 5, 5, 3}\n");
  // The shape of the input is read where it is not known.
  const std::string unknown = After(Pools(kSame, "[?,5,5,3]"), HandOverPoolPlaces);
  EXPECT_NE(unknown.find("dx/shape = Shape(x)\n"), std::string::npos) << unknown;
}

TEST(PoolPlaces, GoToEachDerivative) {
  const std::string after = After(
      Pools(kSame) + "other = MaxPoolGrad(x, y, y, " + kSame + ")\nt = _Retval(other, index=2)\n",
      HandOverPoolPlaces);
  EXPECT_NE(after.find("other = _MaxPoolPlacesGrad(other/shape, y:1, y)"), std::string::npos)
      << after;
}

TEST(PoolPlaces, OfWindowsThatAreConstants) {
  const std::string text = R"(x = Placeholder(shape=[2,5,5,3])
      k = Const(value=int32[1,3,3,1])
      y = MaxPoolV2(x, k, k, padding="VALID")
      dx = MaxPoolGradV2(x, y, y, k, k, padding="VALID")
      s = _Retval(dx, index=0))";
  EXPECT_EQ(After(text, HandOverPoolPlaces),
            "x = Placeholder()\n"
            "y = _MaxPoolPlaces(x)\n"
            "dx = _MaxPoolPlacesGrad(dx/shape, y:1, y)\n"
            "s = _Retval(dx)\n"
            "dx/shape = int64 [4] {2, 5, 5, 3}\n");
  std::string fed = text;
  fed.replace(fed.find("Const(value=int32[1,3,3,1])"), 27, "Placeholder(dtype=int32)");
  EXPECT_FALSE(HandsOver(fed));
}

TEST(PoolPlaces, NeedTheSameWindows) {
  EXPECT_FALSE(HandsOver(Pools(R"(ksize=[1,4,3,1], strides=[1,2,2,1], padding="SAME")")));
  EXPECT_FALSE(HandsOver(Pools(
      R"(ksize=[1,3,3,1], strides=[1,2,2,1], padding="EXPLICIT", explicit_paddings=[0,0,1,1,1,1,0,0])")));
}

TEST(PoolPlaces, NeedWindowsThatAByteCounts) {
  const auto text = [](const std::string& width) {
    const std::string attrs = "ksize=[1,16," + width + R"(,1], strides=[1,2,2,1], padding="SAME")";
    return "x = Placeholder(shape=[2,32,32,3])\ny = MaxPool(x, " + attrs +
           ")\ndx = MaxPoolGrad(x, y, y, " + attrs + ")\ns = _Retval(dx, index=0)\n";
  };
  EXPECT_TRUE(HandsOver(text("16")));
  EXPECT_FALSE(HandsOver(text("17")));
}

TEST(PoolPlaces, NeedBothEndsOfThePooling) {
  const std::string start = R"(x = Placeholder(shape=[2,5,5,3])
      z = Placeholder(shape=[2,5,5,3])
      p = Placeholder(dtype=bool, shape=[])
      y = MaxPool(x, ksize=[1,3,3,1], strides=[1,2,2,1], padding="SAME")
      n = Neg(y)
      w = Switch(y, p)
)";
  for (const char* inputs : {"z, y", "x, n", "x, w:1"}) {
    EXPECT_FALSE(HandsOver(start + "dx = MaxPoolGrad(" + inputs + ", y, " + kSame +
                           ")\ns = _Retval(dx, index=0)\n"))
        << inputs;
  }
}

}  // namespace
}  // namespace penstock
