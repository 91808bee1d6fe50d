#include "penstock/graph/node_check.h"

#include <gtest/gtest.h>

namespace penstock {
namespace {

// op(first: int32, values: N * T)
OpDef ListOp() {
  OpDef def;
  def.name = "ListOp";
  def.inputs.resize(2);
  def.inputs[0].name = "first";
  def.inputs[0].dtype = DType::kInt32;
  def.inputs[1].name = "values";
  def.inputs[1].type_attr = "T";
  def.inputs[1].number_attr = "N";
  def.attrs.resize(2);
  def.attrs[0].name = "N";
  def.attrs[0].kind = "int";
  def.attrs[1].name = "T";
  def.attrs[1].kind = "type";
  return def;
}

TEST(CompleteAttrs, InfersLengthsAndTypes) {
  AttrMap attrs;
  ASSERT_TRUE(CompleteAttrs(ListOp(), {DType::kInt32, DType::kFloat, DType::kFloat}, &attrs).ok());
  EXPECT_EQ(*FindAttr(attrs, "N"), AttrValue(int64_t{2}));
  EXPECT_EQ(*FindAttr(attrs, "T"), AttrValue(DType::kFloat));
}

TEST(CompleteAttrs, AbsurdLengthsAreRefusedLater) {
  AttrMap attrs{{"N", INT64_MAX}, {"T", DType::kFloat}};
  EXPECT_TRUE(CompleteAttrs(ListOp(), {DType::kInt32, DType::kFloat}, &attrs).ok());
  EXPECT_EQ(ExpandTypes(ListOp(), attrs).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace penstock
