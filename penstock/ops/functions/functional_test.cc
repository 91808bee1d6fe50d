#include "penstock/ops/functions/functional.h"

#include <gtest/gtest.h>

#include "penstock/graph/scope.h"
#include "penstock/ops/functions/called_function.h"
#include "penstock/session/session.h"

namespace penstock {
namespace {

std::string Truth(const Tensor& value) {
  const Result<bool> truth = IsTrue(value);
  return truth.ok() ? (*truth ? "true" : "false") : std::string(ToString(truth.status().code()));
}

TEST(Functional, WhatIsTrue) {
  EXPECT_EQ(Truth(Tensor::Scalar(true)), "true");
  EXPECT_EQ(Truth(Tensor::Scalar(false)), "false");
  EXPECT_EQ(Truth(Tensor::Scalar(-0.5f)), "true");
  EXPECT_EQ(Truth(Tensor::Scalar(-0.0)), "false");
  EXPECT_EQ(Truth(Tensor::Scalar<int64_t>(int64_t{1} << 40)), "true");
  EXPECT_EQ(Truth(Tensor::Scalar<uint8_t>(0)), "false");
  EXPECT_EQ(Truth(Tensor::Scalar(std::string("x"))), "true");
  EXPECT_EQ(Truth(Tensor::Scalar(std::string())), "false");
  EXPECT_EQ(Truth(Tensor(DType::kFloat, Shape{0})), "false");
  EXPECT_EQ(Truth(Tensor::FromValues<float>(Shape{1}, {0})), "true");
  EXPECT_EQ(Truth(Tensor::Scalar(complex64(1, 0))), "INVALID_ARGUMENT");
}

// The only output of the last node, or the error.
std::string Value(const Graph& graph, const Expr& fetch) {
  const auto session = MakeLocalSession(graph);
  auto out = session->Run({{}, {fetch.ref()}, {}}, {}, {}, nullptr);
  return out.ok() ? (*out)[0].ToString() : out.status().ToString();
}

TEST(Functional, FakeParamsHaveTheShapeThatIsKnown) {
  Graph graph;
  const Scope scope(graph);
  auto shape_of = [&](const Shape& shape) {
    return Value(graph, Op("Shape", scope.Add("FakeParam", {},
                                              {{"dtype", DType::kString}, {"shape", shape}})));
  };
  EXPECT_EQ(shape_of(Shape{2, 3}), "int32 [2] {2, 3}");
  EXPECT_EQ(shape_of(Shape{-1, 3}), "int32 [2] {0, 3}");
  EXPECT_EQ(shape_of(Shape::Unknown()), "int32 [0] {}");
}

TEST(Functional, ShapesOfOutputs) {
  Graph graph;
  const Scope scope(graph);
  const Expr x = scope.Constant(Tensor::Scalar(1.f));
  auto shape_of = [&](AttrMap attrs) {
    attrs.emplace_back("cond", FunctionName{"c", {}});
    attrs.emplace_back("body", FunctionName{"b", {}});
    return scope.Add("StatelessWhile", {x}, attrs).shape().ToString();
  };
  EXPECT_EQ(shape_of({}), Shape::Unknown().ToString());
  EXPECT_EQ(shape_of({{"output_shapes", std::vector<Shape>{Shape{-1, 2}}}}), "[?,2]");
  EXPECT_TRUE(scope.status().ok()) << scope.status().ToString();
  // A shape too many is found when the kernel is made.
  const Expr wrong = scope.Add("StatelessWhile", {x},
                               {{"cond", FunctionName{"c", {}}},
                                {"body", FunctionName{"b", {}}},
                                {"output_shapes", std::vector<Shape>{Shape{}, Shape{}}}});
  EXPECT_NE(Value(graph, wrong).find("a shape for each of 1 outputs, got 2"), std::string::npos);
}

TEST(Functional, PythonIsRefused) {
  Graph graph;
  const Scope scope(graph);
  for (const char* op : {"PyFunc", "PyFuncStateless", "EagerPyFunc"}) {
    const Expr call = scope.Add(
        op, {scope.Constant(Tensor::Scalar(1.f))},
        {{"token", std::string("pyfunc_0")}, {"Tout", std::vector<DType>{DType::kFloat}}});
    ASSERT_TRUE(scope.status().ok()) << scope.status().ToString();
    const std::string text = Value(graph, call);
    EXPECT_NE(text.find("UNIMPLEMENTED"), std::string::npos) << text;
    EXPECT_NE(text.find("Python"), std::string::npos) << text;
  }
}

TEST(Optional, HoldsValuesOrNone) {
  Graph graph;
  const Scope scope(graph);
  const Expr a = scope.Constant(Tensor::FromValues<float>(Shape{2}, {1, 2}));
  const Expr b = scope.Constant(Tensor::Scalar(std::string("text")));
  const Expr some = scope.Add("OptionalFromValue", {a, b});
  const Expr none = scope.Add("OptionalNone", {});
  auto get = [&](const Expr& optional, const std::vector<DType>& types,
                 const std::vector<Shape>& shapes) {
    return scope.Add("OptionalGetValue", {optional},
                     {{"output_types", types}, {"output_shapes", shapes}});
  };
  const std::vector<DType> types{DType::kFloat, DType::kString};
  EXPECT_EQ(Value(graph, Op("OptionalHasValue", some)), "bool [] {true}");
  EXPECT_EQ(Value(graph, Op("OptionalHasValue", none)), "bool [] {false}");
  EXPECT_EQ(Value(graph, get(some, types, {Shape{-1}, Shape{}})), "float [2] {1, 2}");
  EXPECT_EQ(Value(graph, get(some, types, {Shape{-1}, Shape{}}).Output(1)),
            Tensor::Scalar(std::string("text")).ToString());
  auto fails = [&](const Expr& fetch, std::string_view part) {
    const std::string text = Value(graph, fetch);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  fails(get(none, types, {Shape{-1}, Shape{}}), "does not have a value");
  fails(get(some, {DType::kFloat}, {Shape{2}}), "must have 1 components, got 2");
  fails(get(some, types, {Shape{3}, Shape{}}), "component 0 must be float [3], got float [2]");
  EXPECT_TRUE(scope.status().ok()) << scope.status().ToString();
}

}  // namespace
}  // namespace penstock
