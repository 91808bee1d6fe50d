#include "penstock/ops/state/scatter.h"

#include <random>
#include <thread>

#include "penstock/ops/state/testing/state_fixture.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::ops {
namespace {

class StateScatterTest : public StateFixture {
 protected:
  // A variable of either kind that holds these.
  Expr Held(const Expr& variable, const Expr& value) {
    if (s.graph().output(variable.ref()).is_ref) {
      Do(Op("Assign", variable, value));
    } else {
      Do(Node("AssignVariableOp", {variable, value}));
    }
    return variable;
  }
  // Resets both variables, scatters into both, and expects the same of both.
  void ExpectBoth(const std::string& op, const Expr& before, const Expr& indices,
                  const Expr& updates, const std::string& want) {
    const DType dtype = before.dtype();
    const Expr v = Held(Variable(Shape::Unknown(), dtype, "v"), before);
    const Expr h = Held(Handle(Shape::Unknown(), dtype, "h"), before);
    Expect(Op(op, v, indices, updates), want);
    Do(Node("Resource" + op, {h, indices, updates}));
    Expect(Read(h, dtype), want);
  }
};

TEST_F(StateScatterTest, CombinesByRows) {
  const Expr before = Const<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  const Expr at = Int32s({2, 0, 2});
  const Expr by = Const<float>({3, 2}, {10, 20, 2, 4, 4, 5});
  ExpectBoth("ScatterUpdate", before, at, by, "float [3,2] {2, 4, 3, 4, 4, 5}");
  ExpectBoth("ScatterAdd", before, at, by, "float [3,2] {3, 6, 3, 4, 19, 31}");
  ExpectBoth("ScatterSub", before, at, by, "float [3,2] {-1, -2, 3, 4, -9, -19}");
  ExpectBoth("ScatterMul", before, at, by, "float [3,2] {2, 8, 3, 4, 200, 600}");
  ExpectBoth("ScatterDiv", before, at, by, "float [3,2] {0.5, 0.5, 3, 4, 0.125, 0.0600000024}");
  ExpectBoth("ScatterMin", before, at, by, "float [3,2] {1, 2, 3, 4, 4, 5}");
  ExpectBoth("ScatterMax", before, at, by, "float [3,2] {2, 4, 3, 4, 10, 20}");
}

TEST_F(StateScatterTest, ScalarsEmptyIndicesAndOtherTypes) {
  const Expr before = Const<int64_t>({3}, {1, 2, 3});
  ExpectBoth("ScatterAdd", before, Const<int64_t>({2, 2}, {0, 0, 2, 1}), Scalar(int64_t{10}),
             "int64 [3] {21, 12, 13}");
  ExpectBoth("ScatterAdd", before, Const<int32_t>({0}, {}), Const<int64_t>({0}, {}),
             "int64 [3] {1, 2, 3}");
  ExpectBoth("ScatterUpdate", before, Scalar(1), Scalar(int64_t{7}), "int64 [3] {1, 7, 3}");
  const Expr words = Const<std::string>({3}, {"a", "b", "c"});
  ExpectBoth("ScatterUpdate", words, Int32s({2, 1}), Const<std::string>({2}, {"x", "y"}),
             "string [3] {\"a\", \"y\", \"x\"}");
  ExpectBoth("ScatterUpdate", words, Int32s({2, 1}), Scalar(std::string("z")),
             "string [3] {\"a\", \"z\", \"z\"}");
  ExpectBoth("ScatterMax", Const<half>({2}, {half(1), half(2)}), Int32s({0}),
             Const<half>({1}, {half(3)}), "half [2] {3, 2}");
}

TEST_F(StateScatterTest, CombinesBySlices) {
  const Expr before = Const<float>({2, 2}, {1, 2, 3, 4});
  const Expr at = Const<int32_t>({2, 2}, {0, 1, 0, 1});
  const Expr by = Floats({5, 7});
  ExpectBoth("ScatterNdUpdate", before, at, by, "float [2,2] {1, 7, 3, 4}");
  ExpectBoth("ScatterNdAdd", before, at, by, "float [2,2] {1, 14, 3, 4}");
  ExpectBoth("ScatterNdSub", before, at, by, "float [2,2] {1, -10, 3, 4}");
  ExpectBoth("ScatterNdMin", before, at, by, "float [2,2] {1, 2, 3, 4}");
  ExpectBoth("ScatterNdMax", before, at, by, "float [2,2] {1, 7, 3, 4}");
  ExpectBoth("ScatterNdAdd", before, Const<int64_t>({1, 1}, {1}), Const<float>({1, 2}, {10, 20}),
             "float [2,2] {1, 2, 13, 24}");
  const Expr h = Held(Handle({2}, DType::kBool, "b"), Const<bool>({2}, {true, false}));
  Do(Node("ResourceScatterNdAdd",
          {h, Const<int32_t>({2, 1}, {0, 1}), Const<bool>({2}, {false, false})}));
  Expect(Read(h, DType::kBool), "bool [2] {true, false}");
}

TEST_F(StateScatterTest, ABadIndexLeavesTheVariableAsItWas) {
  const Expr v = Held(Variable({5}), Floats({1, 2, 3, 4, 5}));
  const Expr h = Held(Handle({5}), Floats({1, 2, 3, 4, 5}));
  const Expr at = Int32s({0, 1, 9}), by = Floats({10, 10, 10});
  const Expr matrix = Const<int64_t>({2, 2}, {0, 1, -1, 2});
  const Expr four = Const<float>({2, 2}, {1, 1, 1, 1});
  const std::string text = "indices[2] = 9 is not in [0, 5)";
  for (const std::string op : {"Update", "Add", "Sub", "Mul", "Div", "Min", "Max"}) {
    ExpectError(Run({Op("Scatter" + op, v, at, by)}), Code::kInvalidArgument, text);
    const NodeId node = Node("ResourceScatter" + op, {h, at, by});
    ExpectError(Run({}, {node}), Code::kInvalidArgument, text);
  }
  ExpectError(Run({Op("ScatterAdd", v, matrix, four)}), Code::kInvalidArgument,
              "indices[1,0] = -1 is not in [0, 5)");
  const Expr nd = Const<int32_t>({2, 1}, {0, 9});
  const std::string nd_text = "indices[1] = [9] does not index into shape [5]";
  for (const std::string op : {"Update", "Add", "Sub", "Min", "Max"}) {
    ExpectError(Run({Op("ScatterNd" + op, v, nd, Floats({7, 7}))}), Code::kInvalidArgument,
                nd_text);
    const NodeId node = Node("ResourceScatterNd" + op, {h, nd, Floats({7, 7})});
    ExpectError(Run({}, {node}), Code::kInvalidArgument, nd_text);
  }
  Expect(v, "float [5] {1, 2, 3, 4, 5}");
  Expect(Read(h), "float [5] {1, 2, 3, 4, 5}");
  Expect(Op("ScatterNdAdd", v, nd, Floats({7, 7}), {{"bad_indices_policy", "IGNORE"}}),
         "float [5] {8, 2, 3, 4, 5}");
}

TEST_F(StateScatterTest, WrongShapesTypesAndDivisorsAreRefused) {
  const Expr v = Held(Variable({3, 2}), Const<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  const Expr x = Fed(DType::kFloat);
  const Expr indices = Fed(DType::kInt32);
  const Tensor two = Tensor::FromValues<int32_t>({2}, {0, 1});
  const Tensor three = Tensor::FromValues<float>({3}, {1, 2, 3});
  ExpectError(Run({Op("ScatterAdd", v, indices, x)}, {}, {{indices, two}, {x, three}}),
              Code::kInvalidArgument,
              "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], "
              "got updates.shape [3], indices.shape [2], params.shape [3,2]");
  ExpectError(Run({Op("ScatterNdAdd", v, indices, x)}, {},
                  {{indices, Tensor::FromValues<int32_t>({1, 3}, {0, 0, 0})}, {x, three}}),
              Code::kInvalidArgument, "at most as long as the rank");
  const Expr scalar = Held(Variable(Shape::Unknown(), DType::kFloat, "u"), Scalar(1.f));
  ExpectError(Run({Op("ScatterAdd", scalar, indices, x)}, {}, {{indices, two}, {x, three}}),
              Code::kInvalidArgument, "params must be at least 1-D, got shape []");
  const Expr n = Held(Variable({2}, DType::kInt32, "n"), Int32s({6, 7}));
  ExpectError(Run({Op("ScatterDiv", n, Int32s({0}), Int32s({0}))}), Code::kInvalidArgument,
              "Integer division by zero");
  Expect(Op("ScatterDiv", n, Int32s({1}), Int32s({-2})), "int32 [2] {6, -3}");
  const Expr h = Handle({2});
  ExpectError(Run({}, {Node("ResourceScatterAdd", {h, Int32s({0}), Floats({1})})}),
              Code::kFailedPrecondition, "Could not find variable h");
  ExpectError(Run({}, {Node("ResourceScatterAdd", {h, Int32s({0}), Int32s({1})})}),
              Code::kInvalidArgument, "must hold int32");
  ExpectError(Run({Op("ScatterAdd", Variable({2}, DType::kFloat, "w"), Int32s({0}), Floats({1}))}),
              Code::kFailedPrecondition, "Attempting to use uninitialized value w");
}

TEST_F(StateScatterTest, ShapesKnownInPartAreCheckedAsFarAsTheyAre) {
  const Expr v = Variable({-1, 2});
  EXPECT_EQ(Op("ScatterAdd", v, Int32s({0}), Const<float>({1, 2}, {1, 2})).shape(), Shape({-1, 2}));
  EXPECT_TRUE(Op("ScatterAdd", Variable(Shape::Unknown()), Int32s({0}), Floats({1})).valid());
  EXPECT_TRUE(Op("ScatterAdd", v, Int32s({0}), Scalar(1.f)).valid());
  EXPECT_TRUE(Op("ScatterNdAdd", v, Const<int32_t>({1, 2}, {0, 0}), Floats({1})).valid());
  ExpectRefused(Op("ScatterAdd", v, Int32s({0}), Floats({1, 2})), "Must have updates.shape");
}

TEST_F(StateScatterTest, ABadPolicyIsRefused) {
  ExpectRefused(Op("ScatterNdAdd", Variable({2}), Const<int32_t>({1, 1}, {0}), Floats({1}),
                   {{"bad_indices_policy", "SOMETIMES"}}),
                "SOMETIMES");
}

TEST_F(StateScatterTest, OneThreadAndManyGiveTheSameBits) {
  constexpr int kRows = 500, kColumns = 33, kUpdates = 20000;
  std::mt19937 random(3);
  Tensor table(DType::kFloat, {kRows, kColumns}), updates(DType::kFloat, {kUpdates, kColumns});
  Tensor at(DType::kInt64, {kUpdates});
  for (float& x : table.mutable_values<float>()) x = static_cast<float>(random() % 1000) / 7;
  for (float& x : updates.mutable_values<float>()) x = static_cast<float>(random() % 1000) / 9;
  for (int64_t& x : at.mutable_values<int64_t>()) x = static_cast<int64_t>(random() % kRows);
  const Expr v = Variable({kRows, kColumns});
  const Expr assign = Op("Assign", v, s.Constant(table));
  const Expr add = Op("ScatterAdd", v, s.Constant(at), s.Constant(updates));
  std::vector<Tensor> results;
  for (const int threads : {1, 2, 5}) {
    const auto backend = NewSession(threads);
    ASSERT_TRUE(RunIn(*backend, {}, {assign.ref().node}).ok());
    const Result<std::vector<Tensor>> got = RunIn(*backend, {add});
    ASSERT_TRUE(got.ok());
    results.push_back((*got)[0]);
  }
  for (const Tensor& result : results) {
    EXPECT_EQ(std::memcmp(result.raw(), results[0].raw(), result.bytes()), 0);
  }
}

TEST_F(StateScatterTest, WritesInPlaceUnlessSomebodyReads) {
  const Expr h = Held(Handle({3}), Floats({1, 2, 3}));
  const NodeId add = Node("ResourceScatterAdd", {h, Int32s({1}), Floats({10})});
  Do(add);  // away from the constant's memory
  const auto variable = std::dynamic_pointer_cast<penstock::StateVariable>(state->Find("", "h"));
  const void* const before = variable->Read().raw();
  Do(add);
  EXPECT_EQ(variable->Read().raw(), before);
  const Tensor held = variable->Read();
  Do(add);
  EXPECT_EQ(held.ToString(), "float [3] {1, 22, 3}");
  EXPECT_NE(variable->Read().raw(), before);
  Expect(Read(h), "float [3] {1, 32, 3}");
}

TEST_F(StateScatterTest, ConcurrentScattersLoseNoUpdate) {
  constexpr int kThreads = 4, kSteps = 200;
  const Expr v = Held(Variable({2}, DType::kInt32), Int32s({0, 0}));
  const Expr add =
      Op("ScatterAdd", v, Int32s({0, 1, 0}), Int32s({1, 1, 1}), {{"use_locking", true}});
  ASSERT_TRUE(Run({v}).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kSteps; ++i) EXPECT_TRUE(Run({}, {add.ref().node}).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  Expect(v, "int32 [2] {1600, 800}");
}

}  // namespace
}  // namespace penstock::ops

namespace penstock::rows {
namespace {

const OpRows kNonAliasingRows{
    Row("ScatterNdNonAliasingAdd")
        .Inputs(Vector<float>({1, 2, 3}), Values<int32_t>({2, 1}, {2, 2}), Vector<float>({5, 6}))
        .Expect(Vector<float>({1, 2, 14})),
    Row("ScatterNdNonAliasingAdd")
        .Inputs(Empty<float>({0, 2}), Empty<int64_t>({0, 1}), Empty<float>({0, 2}))
        .Expect(Empty<float>({0, 2}))
        .Named("empty"),
    Row("ScatterNdNonAliasingAdd")
        .Inputs(Vector<float>({1, 2, 3}), Values<int32_t>({1, 1}, {3}), Vector<float>({5}))
        .Fails(Code::kInvalidArgument, "indices[0] = [3] does not index into shape [3]"),
    Row("ScatterNdNonAliasingAdd")
        .Inputs(Vector<float>({1, 2, 3}), Values<int32_t>({1, 1}, {0}), Vector<float>({5, 6}))
        .Fails(Code::kInvalidArgument, "updates must have shape"),
};

}  // namespace
}  // namespace penstock::rows
