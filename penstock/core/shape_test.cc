#include "penstock/core/shape.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

TEST(Shape, KnowsWhatIsKnown) {
  EXPECT_TRUE(Shape().IsScalar());
  EXPECT_EQ(Shape().num_elements(), 1);
  EXPECT_TRUE((Shape{2, 3}).IsFullyKnown());
  EXPECT_FALSE((Shape{2, -1}).IsFullyKnown());
  EXPECT_FALSE(Shape::Unknown().has_rank());
  EXPECT_EQ((Shape{2, -5, 3}).ToString(), "[2,?,3]");
  EXPECT_EQ(Shape::Unknown().ToString(), "<unknown>");
}

TEST(Shape, HighRanksLiveOnTheHeap) {
  std::vector<int64_t> dims(200, 1);
  dims.back() = 7;
  Shape shape(dims);
  Shape copy = shape;
  Shape moved = std::move(shape);
  EXPECT_EQ(copy, moved);
  EXPECT_EQ(moved.dims().back(), 7);
  copy = Shape{2};
  EXPECT_EQ(copy.rank(), 1);
  copy.Append(3);
  EXPECT_EQ(copy, (Shape{2, 3}));
}

TEST(Shape, MakeRefusesTheAbsurd) {
  EXPECT_TRUE(Shape::Make(std::vector<int64_t>{2, -1}).ok());
  EXPECT_EQ(Shape::Make(std::vector<int64_t>{-2}).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(Shape::Make(std::vector<int64_t>(255, 1)).status().code(), Code::kInvalidArgument);
  EXPECT_FALSE(Shape::Make(std::vector<int64_t>{INT64_MAX, 2}).ok());
  // A zero hides no overflow: strides would still be computed from the others.
  EXPECT_FALSE(Shape::Make(std::vector<int64_t>{0, INT64_MAX, 2}).ok());
  EXPECT_EQ((Shape{INT64_MAX, 2}).CheckedNumElements(), std::nullopt);
}

TEST(Shape, MergesAndBroadcasts) {
  EXPECT_EQ(*MergeShapes(Shape{2, -1}, Shape{-1, 3}), (Shape{2, 3}));
  EXPECT_EQ(*MergeShapes(Shape::Unknown(), Shape{3}), (Shape{3}));
  EXPECT_EQ(MergeShapes(Shape{2}, Shape{3}).status().message(), "shapes must agree: [2] vs [3]");
  EXPECT_EQ(*BroadcastShapes(Shape{4, 1}, Shape{3}), (Shape{4, 3}));
  EXPECT_EQ(*BroadcastShapes(Shape{-1, 1}, Shape{5}), (Shape{-1, 5}));
  EXPECT_EQ(*BroadcastShapes(Shape{-1}, Shape{1}), (Shape{-1}));
  EXPECT_EQ(*BroadcastShapes(Shape{0}, Shape{1}), (Shape{0}));
  EXPECT_FALSE(BroadcastShapes(Shape{2}, Shape{3}).ok());
  EXPECT_FALSE(BroadcastShapes(Shape::Unknown(), Shape{3})->has_rank());
}

TEST(Shape, ResolvesAxes) {
  EXPECT_EQ(*ResolveAxis(-1, 3), 2);
  EXPECT_EQ(ResolveAxis(3, 3).status().message(), "axis must be in [-3, 3) for rank 3, got 3");
  EXPECT_FALSE(ResolveAxis(INT64_MIN, 3).ok());
}

}  // namespace
}  // namespace penstock
