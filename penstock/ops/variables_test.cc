#include "penstock/ops/variables.h"

#include <gtest/gtest.h>

#include <thread>

#include "penstock/device/state.h"
#include "penstock/graph/scope.h"
#include "penstock/session/session.h"

namespace penstock::ops {
namespace {

// A graph, its session and state that outlives it.
class VariablesTest : public testing::Test {
 protected:
  Expr Variable(const Shape& shape, DType dtype = DType::kFloat, std::string_view name = "v") {
    return s.Add("VariableV2", std::vector<Expr>(), {{"shape", shape}, {"dtype", dtype}}, name);
  }
  Expr Handle(const Shape& shape, DType dtype = DType::kFloat, std::string_view name = "v") {
    return s.Add("VarHandleOp", std::vector<Expr>(), {{"shape", shape}, {"dtype", dtype}}, name);
  }
  Expr Read(const Expr& handle, DType dtype = DType::kFloat) {
    return Op("ReadVariableOp", handle, {{"dtype", dtype}});
  }
  NodeId AssignTo(const Expr& handle, const Expr& value) {
    return Node("AssignVariableOp", {handle, value});
  }
  // A node without outputs.
  NodeId Node(std::string op, const std::vector<Expr>& inputs, AttrMap attrs = {}) {
    NodeSpec spec;
    spec.op = std::move(op);
    for (const Expr& input : inputs) spec.inputs.push_back(input.ref());
    spec.attrs = std::move(attrs);
    Result<NodeId> node = s.AddNode(std::move(spec));
    EXPECT_TRUE(node.ok()) << node.status().ToString();
    return node.ok() ? *node : kNoNode;
  }
  Expr Floats(std::initializer_list<float> values) {
    return s.Constant(Tensor::FromValues<float>({static_cast<int64_t>(values.size())}, values));
  }

  Result<std::vector<Tensor>> Run(const std::vector<Expr>& fetches,
                                  const std::vector<NodeId>& targets = {},
                                  const std::vector<std::pair<Expr, Tensor>>& feeds = {}) {
    TRY(s.status());
    if (session == nullptr) {
      LocalSessionOptions options;
      options.state = state;
      options.threads = 4;
      session = MakeLocalSession(graph, options);
    }
    CallableSpec spec;
    std::vector<Tensor> values;
    for (const Expr& fetch : fetches) spec.fetches.push_back(fetch.ref());
    for (const auto& [expr, value] : feeds) {
      spec.feeds.push_back(expr.ref());
      values.push_back(value);
    }
    spec.targets = targets;
    return session->Run(spec, values, {}, nullptr);
  }
  std::string Text(const Expr& fetch) {
    Result<std::vector<Tensor>> got = Run({fetch});
    return got.ok() ? (*got)[0].ToString() : got.status().ToString();
  }
  void Expect(const Expr& fetch, const std::string& want) { EXPECT_EQ(Text(fetch), want); }
  void ExpectError(const Result<std::vector<Tensor>>& got, Code code, std::string_view text) {
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.status().code(), code) << got.status().ToString();
    EXPECT_NE(got.status().message().find(text), std::string::npos) << got.status().ToString();
  }

  Graph graph;
  Scope s{graph};
  std::shared_ptr<StateRegistry> state = std::make_shared<StateRegistry>();
  std::unique_ptr<SessionBackend> session;
};

TEST_F(VariablesTest, AReferenceKeepsItsValueBetweenSteps) {
  const Expr v = Variable({2});
  const Expr is_there = Op("IsVariableInitialized", v);
  Expect(is_there, "bool [] {false}");
  ExpectError(Run({v}), Code::kFailedPrecondition, "Attempting to use uninitialized value v");
  ExpectError(Run({v + v}), Code::kFailedPrecondition, "Attempting to use uninitialized value v");
  Expect(Op("Assign", v, Floats({1, 2})), "float [2] {1, 2}");
  Expect(is_there, "bool [] {true}");
  Expect(v, "float [2] {1, 2}");
  Expect(v + v, "float [2] {2, 4}");
  Expect(Op("AssignAdd", v, Floats({10, 20})), "float [2] {11, 22}");
  Expect(Op("AssignSub", v, Floats({1, 1})), "float [2] {10, 21}");
  Expect(v, "float [2] {10, 21}");
}

TEST_F(VariablesTest, UpdatingBeforeAssigningFails) {
  const Expr v = Variable({2});
  ExpectError(Run({Op("AssignAdd", v, Floats({1, 2}))}), Code::kFailedPrecondition,
              "Attempting to use uninitialized value v");
  const Expr w = Variable({2}, DType::kFloat, "w");
  ExpectError(Run({Op("Assign", v, w)}), Code::kFailedPrecondition,
              "Attempting to use uninitialized value");
}

TEST_F(VariablesTest, ShapesAreChecked) {
  const Expr v = Variable({2});
  EXPECT_FALSE(Op("Assign", v, Floats({1, 2, 3})).valid());
  EXPECT_EQ(s.status().code(), Code::kInvalidArgument);
}

TEST_F(VariablesTest, ShapesAreCheckedWhenTheyCome) {
  const Expr v = Variable({2});
  const Expr x = s.Add("Placeholder", std::vector<Expr>(), {{"dtype", DType::kFloat}});
  const Tensor three = Tensor::FromValues<float>({3}, {1, 2, 3});
  ExpectError(Run({Op("Assign", v, x)}, {}, {{x, three}}), Code::kInvalidArgument,
              "lhs shape= [2] rhs shape= [3]");
  Expect(Op("Assign", v, Floats({1, 2})), "float [2] {1, 2}");
  ExpectError(Run({Op("AssignAdd", v, x)}, {}, {{x, three}}), Code::kInvalidArgument, "[3]");
  // Another shape is a wish; the graph's nodes that trust the declared one refuse it.
  const Expr any = Op("Assign", v, x, {{"validate_shape", false}});
  EXPECT_TRUE(Run({}, {any.ref().node}, {{x, three}}).ok());
  ExpectError(Run({v + v}), Code::kInvalidArgument, "must have shape [2], got [3]");
}

TEST_F(VariablesTest, AVariableOfUnknownShapeTakesAny) {
  const Expr v = Variable(Shape::Unknown());
  Expect(Op("Assign", v, Floats({1, 2}), {{"validate_shape", false}}), "float [2] {1, 2}");
  Expect(Op("Assign", v, Floats({1, 2, 3}), {{"validate_shape", false}}), "float [3] {1, 2, 3}");
  Expect(v + v, "float [3] {2, 4, 6}");
  const Expr old =
      s.Add("Variable", std::vector<Expr>(), {{"shape", Shape()}, {"dtype", DType::kFloat}}, "old");
  Expect(Op("Assign", old, Floats({1, 2})), "float [2] {1, 2}");
}

TEST_F(VariablesTest, AFedReferenceIsNoVariable) {
  const Expr v = Variable({2});
  const Expr assign = Op("Assign", v, Floats({1, 2}));
  ExpectError(Run({assign}, {}, {{v, Tensor::FromValues<float>({2}, {3, 4})}}),
              Code::kInvalidArgument, "expected a handle");
}

TEST_F(VariablesTest, ValuesThatWereReadDoNotChange) {
  const Expr v = Variable({2});
  ASSERT_TRUE(Run({Op("Assign", v, Floats({1, 2}))}).ok());
  const Result<std::vector<Tensor>> before = Run({v});
  ASSERT_TRUE(before.ok());
  Expect(Op("AssignAdd", v, Floats({10, 10})), "float [2] {11, 12}");
  EXPECT_EQ((*before)[0].ToString(), "float [2] {1, 2}");
}

TEST_F(VariablesTest, AConstantIsNotOverwritten) {
  const Expr v = Variable({2});
  const Expr constant = Floats({1, 2});
  const Expr assign = Op("Assign", v, constant);
  ASSERT_TRUE(Run({assign}).ok());
  ASSERT_TRUE(Run({Op("AssignAdd", v, constant)}).ok());
  Expect(constant, "float [2] {1, 2}");
  Expect(assign, "float [2] {1, 2}");
}

TEST_F(VariablesTest, MemoryOfTheCallerIsNeitherKeptNorWritten) {
  const Expr v = Variable({2});
  const Expr x =
      s.Add("Placeholder", std::vector<Expr>(), {{"dtype", DType::kFloat}, {"shape", Shape{2}}});
  float mine[] = {1, 2};
  ASSERT_TRUE(Run({}, {Op("Assign", v, x).ref().node},
                  {{x, Tensor::FromMemory(DType::kFloat, {2}, mine, nullptr)}})
                  .ok());
  mine[0] = 100;
  Expect(Op("AssignAdd", v, Floats({1, 1})), "float [2] {2, 3}");
  EXPECT_EQ(mine[0], 100);
}

TEST_F(VariablesTest, AComputedValueIsKept) {
  const Expr v = Variable({2});
  const Expr x = Floats({1, 2});
  ASSERT_TRUE(Run({}, {Op("Assign", v, x + x).ref().node}).ok());
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Run({x * x}).ok());
  Expect(v, "float [2] {2, 4}");
}

TEST_F(VariablesTest, StringsAreVariablesToo) {
  const Expr v = Variable({1}, DType::kString);
  Expect(Op("Assign", v, s.Constant(Tensor::FromValues<std::string>({1}, {"hello"}))),
         "string [1] {\"hello\"}");
  Expect(v, "string [1] {\"hello\"}");
}

TEST_F(VariablesTest, CountUpToStopsAtItsLimit) {
  const Expr v = Variable({}, DType::kInt32);
  ASSERT_TRUE(Run({Op("Assign", v, s.Constant(Tensor::Scalar(0)))}).ok());
  const Expr count = Op("CountUpTo", v, {{"limit", 2}});
  Expect(count, "int32 [] {0}");
  Expect(count, "int32 [] {1}");
  ExpectError(Run({count}), Code::kOutOfRange, "Reached limit of 2");
  Expect(v, "int32 [] {2}");
}

TEST_F(VariablesTest, ATemporaryVariableEndsWithItsStep) {
  const Expr t = s.Add("TemporaryVariable", std::vector<Expr>(),
                       {{"shape", Shape{2}}, {"dtype", DType::kFloat}, {"var_name", "t"}});
  const Expr sum = Op("AssignAdd", t, Floats({1, 2}));
  const Expr last = Op("DestroyTemporaryVariable", sum, {{"var_name", "t"}});
  Expect(last, "float [2] {1, 2}");
  Expect(last, "float [2] {1, 2}");
  EXPECT_TRUE(state->Containers().empty());
  ExpectError(Run({Op("DestroyTemporaryVariable", sum, {{"var_name", "u"}})}),
              Code::kInvalidArgument, "must be u, got t");
  const Expr partial = s.Add("TemporaryVariable", std::vector<Expr>(),
                             {{"shape", Shape{-1}}, {"dtype", DType::kFloat}});
  ExpectError(Run({partial}), Code::kInvalidArgument, "known in full");
}

TEST_F(VariablesTest, VariablesOfOneNameAreOne) {
  const AttrMap attrs = {{"shape", Shape{2}}, {"dtype", DType::kFloat}, {"shared_name", "same"}};
  const Expr a = s.Add("VariableV2", std::vector<Expr>(), attrs);
  const Expr b = s.Add("VariableV2", std::vector<Expr>(), attrs);
  ASSERT_TRUE(Run({Op("Assign", a, Floats({1, 2}))}).ok());
  Expect(b, "float [2] {1, 2}");
  AttrMap other = attrs;
  SetAttr(other, "container", "elsewhere");
  const Expr c = s.Add("VariableV2", std::vector<Expr>(), other);
  ExpectError(Run({c}), Code::kFailedPrecondition, "uninitialized value same");
  AttrMap integers = attrs;
  SetAttr(integers, "dtype", DType::kInt32);
  const Expr d = s.Add("VariableV2", std::vector<Expr>(), integers);
  ExpectError(Run({d}), Code::kInvalidArgument, "must hold int32");
}

TEST_F(VariablesTest, ClearedStateIsUninitialized) {
  const Expr v = Variable({2});
  const Expr assign = Op("Assign", v, Floats({1, 2}));
  ASSERT_TRUE(Run({assign}).ok());
  Expect(v, "float [2] {1, 2}");
  state->Clear("");
  ExpectError(Run({v}), Code::kFailedPrecondition, "uninitialized");
  Expect(assign, "float [2] {1, 2}");
  Expect(v, "float [2] {1, 2}");
}

TEST_F(VariablesTest, AResourceKeepsItsValueBetweenSteps) {
  const Expr h = Handle({2});
  const Expr read = Read(h);
  EXPECT_EQ(read.shape(), Shape({2}));
  const Expr is_there = Op("VarIsInitializedOp", h);
  Expect(is_there, "bool [] {false}");
  ExpectError(Run({read}), Code::kFailedPrecondition,
              "Could not find variable v. This could mean that the variable has been deleted.");
  ASSERT_TRUE(Run({}, {AssignTo(h, Floats({1, 2}))}).ok());
  Expect(is_there, "bool [] {true}");
  Expect(read, "float [2] {1, 2}");
  ASSERT_TRUE(Run({}, {Node("AssignAddVariableOp", {h, Floats({1, 1})})}).ok());
  Expect(read + read, "float [2] {4, 6}");
  ASSERT_TRUE(Run({}, {Node("AssignSubVariableOp", {h, Floats({2, 2})})}).ok());
  Expect(read, "float [2] {0, 1}");
  Expect(Op("VariableShape", h), "int32 [1] {2}");
  Expect(Op("VariableShape", h, {{"out_type", DType::kInt64}}), "int64 [1] {2}");
}

TEST_F(VariablesTest, ADestroyedResourceIsGone) {
  const Expr h = Handle({2});
  const NodeId destroy = Node("DestroyResourceOp", {h});
  const NodeId strict = Node("DestroyResourceOp", {h}, {{"ignore_lookup_error", false}});
  EXPECT_TRUE(Run({}, {destroy}).ok());
  ExpectError(Run({}, {strict}), Code::kNotFound, "does not exist");
  ASSERT_TRUE(Run({}, {AssignTo(h, Floats({1, 2}))}).ok());
  EXPECT_TRUE(Run({}, {strict}).ok());
  ExpectError(Run({Read(h)}), Code::kFailedPrecondition, "Could not find variable v");
}

TEST_F(VariablesTest, ResourceShapesAndTypesAreChecked) {
  const Expr h = Handle({2});
  const Expr x = s.Add("Placeholder", std::vector<Expr>(), {{"dtype", DType::kFloat}});
  const Tensor three = Tensor::FromValues<float>({3}, {1, 2, 3});
  ExpectError(Run({}, {AssignTo(h, x)}, {{x, three}}), Code::kInvalidArgument,
              "Expected [2] got [3]");
  ExpectError(Run({}, {AssignTo(h, s.Constant(Tensor::Scalar(1)))}), Code::kInvalidArgument,
              "must hold int32");
  ExpectError(Run({Read(h, DType::kInt32)}), Code::kInvalidArgument, "must hold int32");
  ExpectError(Run({}, {Node("AssignAddVariableOp", {h, x})}, {{x, three}}),
              Code::kFailedPrecondition, "Could not find variable");
  ASSERT_TRUE(Run({}, {AssignTo(h, Floats({1, 2}))}).ok());
  ExpectError(Run({}, {Node("AssignAddVariableOp", {h, x})}, {{x, three}}), Code::kInvalidArgument,
              "shapes must be equal");
}

// Another graph may give the same variable another shape than ours was compiled for.
TEST_F(VariablesTest, AValueOfAnotherShapeIsRefused) {
  const Expr h = Handle({2});
  auto variable = std::make_shared<penstock::StateVariable>(DType::kFloat);
  variable->Write(Tensor::FromValues<float>({3}, {1, 2, 3}));
  ASSERT_TRUE(state->FindOrMake<penstock::StateVariable>("", "v", [&] { return variable; }).ok());
  const Expr read = Read(h);
  ExpectError(Run({read + read}), Code::kInvalidArgument, "must have shape [2], got [3]");
  ExpectError(Run({Op("VariableShape", Op("Identity", Handle({2, 2})))}), Code::kFailedPrecondition,
              "Could not find variable");
}

TEST_F(VariablesTest, HostileHandlesAreRefused) {
  class Queue final : public Resource {
    std::string DebugString() const override { return "queue"; }
  };
  const Expr h = Handle({2});
  const Expr read = Read(h);
  Tensor handle = Tensor::Scalar(ResourceHandle());
  ExpectError(Run({read}, {}, {{h, handle}}), Code::kFailedPrecondition, "Could not find");
  handle.mutable_data<ResourceHandle>()->resource = std::make_shared<Queue>();
  ExpectError(Run({read}, {}, {{h, handle}}), Code::kInvalidArgument, "must be a variable");
  ExpectError(Run({Op("VarIsInitializedOp", h)}, {}, {{h, handle}}), Code::kInvalidArgument, "");
  EXPECT_TRUE(Run({}, {Node("DestroyResourceOp", {h})}, {{h, handle}}).ok());
  auto variable = std::make_shared<penstock::StateVariable>(DType::kFloat);
  variable->Write(Tensor::FromValues<float>({3}, {1, 2, 3}));
  handle.mutable_data<ResourceHandle>()->resource = variable;
  ExpectError(Run({read + read}, {}, {{h, handle}}), Code::kInvalidArgument, "must have shape");
  const Expr p = s.Add("Placeholder", std::vector<Expr>(), {{"dtype", DType::kResource}});
  const Expr any = Read(p);
  const Tensor none(DType::kResource, Shape{0});
  ExpectError(Run({any}, {}, {{p, none}}), Code::kInvalidArgument, "expected a handle");
  ExpectError(Run({}, {Node("DestroyResourceOp", {p})}, {{p, none}}), Code::kInvalidArgument, "");
  EXPECT_TRUE(Run({any}, {}, {{p, handle}}).ok());
}

TEST_F(VariablesTest, AnonymousVariablesAreNotShared) {
  const Expr h = s.Add("VarHandleOp", std::vector<Expr>(),
                       {{"shape", Shape{2}},
                        {"dtype", DType::kFloat},
                        {"shared_name", "cd2c89b7-88b7-44c8-ad83-06c2a9158347"}});
  const NodeId assign = AssignTo(h, Floats({1, 2}));
  const Scope after = s.After({assign});
  const Expr read = after.Add("ReadVariableOp", {h}, {{"dtype", DType::kFloat}});
  Expect(read, "float [2] {1, 2}");
  ExpectError(Run({Read(h)}), Code::kFailedPrecondition, "Could not find");
  EXPECT_TRUE(state->Containers().empty());
}

// Steps that update, read and drop one variable at once: every update counts, every reader sees a
// whole value.
TEST_F(VariablesTest, ConcurrentStepsDoNotLoseUpdates) {
  constexpr int kThreads = 4, kSteps = 200, kElements = 1000;
  Tensor zeros(DType::kInt32, {kElements}), ones(DType::kInt32, {kElements});
  std::fill_n(zeros.mutable_data<int32_t>(), kElements, 0);
  std::fill_n(ones.mutable_data<int32_t>(), kElements, 1);
  const Expr v = Variable({kElements}, DType::kInt32);
  const Expr h = Handle({kElements}, DType::kInt32, "h");
  const Expr one = s.Constant(ones);
  const Expr add = Op("AssignAdd", v, one);
  const NodeId add_resource = Node("AssignAddVariableOp", {h, one});
  const Expr read = Read(h, DType::kInt32);
  ASSERT_TRUE(Run({Op("Assign", v, s.Constant(zeros))}, {AssignTo(h, s.Constant(zeros))}).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kSteps; ++i) {
        EXPECT_TRUE(Run({}, {add.ref().node, add_resource}).ok());
        const Result<std::vector<Tensor>> got = Run({v, read});
        ASSERT_TRUE(got.ok());
        for (const Tensor& value : *got) {
          const auto elements = value.values<int32_t>();
          for (const int32_t x : elements) ASSERT_EQ(x, elements[0]);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Result<std::vector<Tensor>> got = Run({v, read});
  ASSERT_TRUE(got.ok());
  EXPECT_EQ((*got)[0].data<int32_t>()[0], kThreads * kSteps);
  EXPECT_EQ((*got)[1].data<int32_t>()[kElements - 1], kThreads * kSteps);
}

TEST_F(VariablesTest, ConcurrentClearsAreSurvived) {
  const Expr v = Variable({2});
  const Expr assign = Op("Assign", v, Floats({1, 2}));
  const Expr h = Handle({2}, DType::kFloat, "h");
  const NodeId assign_resource = AssignTo(h, Floats({1, 2}));
  const NodeId destroy = Node("DestroyResourceOp", {h});
  const Expr read = Read(h);
  ASSERT_TRUE(Run({assign}).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        if (t == 0) {
          state->Clear("");
          EXPECT_TRUE(Run({}, {destroy}).ok());
        } else {
          const Status status = Run({assign}, {assign_resource}).status();
          EXPECT_TRUE(status.ok()) << status.ToString();
          for (const Expr& expr : {v, read}) {
            const Result<std::vector<Tensor>> got = Run({expr});
            const Code code = got.status().code();
            EXPECT_TRUE(got.ok() || code == Code::kFailedPrecondition) << got.status().ToString();
          }
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace penstock::ops
