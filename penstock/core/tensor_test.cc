#include "penstock/core/tensor.h"

#include <gtest/gtest.h>

#include "penstock/core/resource.h"

namespace penstock {
namespace {

TEST(Tensor, FitsACacheLine) { EXPECT_EQ(sizeof(Tensor), 64u); }

TEST(Tensor, SlicesShareTheBuffer) {
  Tensor whole = Tensor::FromValues<float>(Shape{3, 2}, {1, 2, 3, 4, 5, 6});
  const Tensor rows = whole.Rows(1, 3);
  EXPECT_EQ(rows.shape(), (Shape{2, 2}));
  EXPECT_EQ(rows.data<float>()[0], 3);
  EXPECT_TRUE(rows.SharesBufferWith(whole));
  EXPECT_FALSE(whole.OwnsUniquely());
  whole = Tensor();
  EXPECT_EQ(rows.data<float>()[3], 6);
  EXPECT_TRUE(rows.OwnsUniquely());
  EXPECT_EQ(rows.Reshaped(Shape{4}).shape(), (Shape{4}));
}

TEST(Tensor, StringsAreConstructedAndDestroyed) {
  Tensor text(DType::kString, Shape{2});
  text.mutable_data<std::string>()[1] = std::string(1000, 'x');
  const Tensor copy = text.Clone();
  text = Tensor();
  EXPECT_EQ(copy.data<std::string>()[0], "");
  EXPECT_EQ(copy.data<std::string>()[1].size(), 1000u);
  EXPECT_FALSE(copy.SharesBufferWith(text));
}

TEST(Tensor, MakeChecksSizes) {
  EXPECT_EQ(Tensor::Make(HostAllocator(), DType::kFloat, Shape{-1}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(Tensor::Make(HostAllocator(), DType::kDouble, Shape{INT64_MAX / 4}).status().code(),
            Code::kInvalidArgument);
  EXPECT_EQ(Tensor::Make(HostAllocator(), DType::kInvalid, Shape{1}).status().code(),
            Code::kInvalidArgument);
  EXPECT_TRUE(Tensor::Make(HostAllocator(), DType::kFloat, Shape{0, 5}).ok());
}

TEST(Tensor, ForeignMemoryIsReleasedOnce) {
  float data[2] = {1, 2};
  int released = 0;
  {
    Tensor view = Tensor::FromMemory(DType::kFloat, Shape{2}, data, [&] { ++released; });
    const Tensor other = view;
    view = Tensor();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(other.data<float>(), data);
  }
  EXPECT_EQ(released, 1);
}

TEST(Tensor, PrintsItself) {
  EXPECT_EQ(Tensor::FromValues<int32_t>(Shape{3}, {1, 2, 3}).ToString(2), "int32 [3] {1, 2, ...}");
  EXPECT_EQ(Tensor::Scalar<std::string>("a\"b").ToString(), "string [] {\"a\"b\"}");
  EXPECT_EQ(Tensor().ToString(), "<uninitialized>");
}

TEST(DType, NamesAndNumbersAgree) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_GT(SizeOf(dtype), 0u) << i;
    EXPECT_EQ(ParseDType(ToString(dtype)), dtype);
  }
  EXPECT_EQ(ParseDType("DT_FLOAT"), DType::kFloat);
  EXPECT_EQ(ParseDType("nothing"), std::nullopt);
  EXPECT_EQ(static_cast<int>(kDTypeOf<uint64_t>), 23);
}

}  // namespace
}  // namespace penstock
