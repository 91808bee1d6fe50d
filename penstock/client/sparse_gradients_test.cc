#include <gtest/gtest.h>

#include "penstock/graph/gradients.h"
#include "penstock/penstock.h"

// Gradients of looked-up rows: in what form they come, and that both forms say the same.

namespace penstock {
namespace {

using Floats = std::vector<float>;

class SparseGradients : public ::testing::Test {
 protected:
  static constexpr int kRows = 5;
  static constexpr int kColumns = 2;

  Graph g;
  Variable<float> table{g, Array<float>({kRows, kColumns}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})};

  GradientValue Differentiate(const Output<float>& y, OutputRef x) {
    return OrThrow(AddSparseGradients(Scope(g), {.ys = {y.ref()}, .xs = {x}}))[0];
  }
  GradientValue ByTable(const Output<float>& y) { return Differentiate(y, {table.handle(), 0}); }

  Tensor Fetch(OutputRef ref) {
    Session session(g);
    session.Run(InitVariables(g));
    return session.Run({}, {g.NameOf(ref)})[0];
  }
  Floats Dense(const GradientValue& value) {
    const Tensor tensor = Fetch(value.dense);
    return Floats(tensor.data<float>(), tensor.data<float>() + tensor.num_elements());
  }
  std::vector<int64_t> Indices(const GradientValue& value) {
    const Tensor tensor = Fetch(value.indices);
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      indices.push_back(tensor.dtype() == DType::kInt64 ? tensor.data<int64_t>()[i]
                                                        : tensor.data<int32_t>()[i]);
    return indices;
  }
  // The dense form, made of the rows.
  Floats Scattered(const GradientValue& value) {
    const std::vector<int64_t> indices = Indices(value);
    const Tensor values = Fetch(value.values);
    EXPECT_EQ(values.shape(), Shape({static_cast<int64_t>(indices.size()), kColumns}));
    Floats sum(kRows * kColumns);
    for (size_t i = 0; i < indices.size(); ++i) {
      for (int c = 0; c < kColumns; ++c)
        sum[indices[i] * kColumns + c] += values.data<float>()[i * kColumns + c];
    }
    return sum;
  }
  Output<int32_t> Ids(const std::vector<int32_t>& ids) { return Constant(g, Array<int32_t>(ids)); }
};

TEST_F(SparseGradients, KeepsRepeatedRowsApart) {
  const auto rows = Gather(table, Ids({3, 0, 3}));
  const auto value = ByTable(Sum(rows * rows));
  ASSERT_TRUE(value.has_rows());
  EXPECT_EQ(Indices(value), (std::vector<int64_t>{3, 0, 3}));
  EXPECT_EQ(Scattered(value), (Floats{2, 4, 0, 0, 0, 0, 28, 32, 0, 0}));
  EXPECT_EQ(Dense(value), Scattered(value));
}

TEST_F(SparseGradients, TakesIdsOfAnyRank) {
  const auto ids = Constant(g, Array<int64_t>({2, 2}, {1, 1, 4, 0}));
  const auto rows = Gather(table, ids);
  EXPECT_EQ(rows.shape(), Shape({2, 2, kColumns}));
  const auto value = ByTable(Sum(rows * rows));
  ASSERT_TRUE(value.has_rows());
  EXPECT_EQ(Indices(value), (std::vector<int64_t>{1, 1, 4, 0}));
  EXPECT_EQ(Dense(value), Scattered(value));
}

TEST_F(SparseGradients, TakesOneId) {
  const auto value = ByTable(Sum(Exp(Gather(table, Constant<int32_t>(g, 2)))));
  ASSERT_TRUE(value.has_rows());
  EXPECT_EQ(Dense(value), Scattered(value));
}

TEST_F(SparseGradients, TakesNoIds) {
  const auto value = ByTable(Sum(Gather(table, Constant(g, Array<int32_t>(Shape{0}, {})))));
  ASSERT_TRUE(value.has_rows());
  EXPECT_TRUE(Indices(value).empty());
  EXPECT_EQ(Dense(value), Floats(kRows * kColumns));
}

TEST_F(SparseGradients, JoinsTwoLookups) {
  const auto a = Gather(table, Ids({1, 2}));
  const auto b = Gather(table, Constant(g, Array<int64_t>(std::vector<int64_t>{2})));
  const auto value = ByTable(Sum(a * a) + Sum(b));
  ASSERT_TRUE(value.has_rows());
  EXPECT_EQ(Indices(value).size(), 3u);
  EXPECT_EQ(Scattered(value), (Floats{0, 0, 6, 8, 11, 13, 0, 0, 0, 0}));
  EXPECT_EQ(Dense(value), Scattered(value));
}

TEST_F(SparseGradients, IsWholeWhereOneUseIsWhole) {
  const auto rows = Gather(table, Ids({1}));
  const auto value = ByTable(Sum(rows * rows) + Sum(table * 3.f));
  EXPECT_FALSE(value.has_rows());
  EXPECT_EQ(Dense(value), (Floats{3, 3, 9, 11, 3, 3, 3, 3, 3, 3}));
}

TEST_F(SparseGradients, GoThroughIdentities) {
  const auto same = Identity(Identity(table));
  const auto value = ByTable(Sum(Gather(same, Ids({4})) + Gather(table, Ids({0}))));
  ASSERT_TRUE(value.has_rows());
  EXPECT_EQ(Scattered(value), (Floats{1, 1, 0, 0, 0, 0, 0, 0, 1, 1}));
}

TEST_F(SparseGradients, EndAtArithmetic) {
  const auto doubled = table * 2.f;
  const auto y = Sum(Gather(doubled, Ids({1, 1})));
  EXPECT_FALSE(ByTable(y).has_rows());
  EXPECT_EQ(Dense(ByTable(y)), (Floats{0, 0, 4, 4, 0, 0, 0, 0, 0, 0}));
  // The product itself was only looked up, also when more is asked than that.
  const auto both = OrThrow(
      AddSparseGradients(Scope(g), {.ys = {y.ref()}, .xs = {doubled.ref(), {table.handle(), 0}}}));
  EXPECT_TRUE(both[0].has_rows());
  EXPECT_FALSE(both[1].has_rows());
}

TEST_F(SparseGradients, AreToldToEachWhoAsks) {
  const auto y = Sum(Gather(table, Ids({1})) + Gather(table, Ids({2})));
  const OutputRef handle{table.handle(), 0};
  const auto both =
      OrThrow(AddSparseGradients(Scope(g), {.ys = {y.ref()}, .xs = {handle, handle}}));
  EXPECT_TRUE(both[0].has_rows());
  EXPECT_TRUE(both[1].has_rows());
}

TEST_F(SparseGradients, StopWhereAsked) {
  const auto read = table.Read();
  const auto y = Sum(Gather(read, Ids({1})));
  const auto value = OrThrow(AddSparseGradients(
      Scope(g), {.ys = {y.ref()}, .xs = {{table.handle(), 0}}, .stops = {read.ref()}}))[0];
  EXPECT_FALSE(value.connected());
  EXPECT_FALSE(value.has_rows());
}

TEST_F(SparseGradients, OtherAxesAreWhole) {
  const auto value = ByTable(Sum(Gather(table, Ids({1}), /*axis=*/1)));
  EXPECT_FALSE(value.has_rows());
  EXPECT_EQ(Dense(value), (Floats{0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
}

TEST_F(SparseGradients, AreWholeBehindACall) {
  Function lookup([](Output<float> rows, Output<int32_t> ids) { return Gather(rows, ids); },
                  {.noinline = true});
  const auto value = ByTable(Sum(lookup(table, Ids({1, 1}))));
  EXPECT_TRUE(value.connected());
  EXPECT_EQ(Dense(value), (Floats{0, 0, 2, 2, 0, 0, 0, 0, 0, 0}));
}

TEST_F(SparseGradients, UpdateTheTable) {
  const auto rows = Gather(table, Ids({3, 3}));
  const auto value = ByTable(Sum(rows));
  ASSERT_TRUE(value.has_rows());
  const Scope scope(g);
  const Expr handle(&scope, {table.handle(), 0});
  const NodeId update = OrThrow(scope.AddNode(
      {.op = "ResourceScatterSub", .inputs = {handle.ref(), value.indices, value.values}}));
  Session session(g);
  session.Run(InitVariables(g));
  session.Run(Operation(g, update));
  EXPECT_EQ(session.Run(table.Read()).ToVector(), (Floats{1, 2, 3, 4, 5, 6, 5, 6, 9, 10}));
}

TEST(GradientOverride, IsAnErrorAndNotIgnored) {
  Graph g;
  const auto x = Constant(g, 1.f);
  const auto y = Identity(x);
  SetAttr(g.node(y.ref().node).attrs, "_gradient_op_type", std::string("CustomGradient-7"));
  try {
    GradientOf(y * y, x);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("CustomGradient-7"), std::string::npos)
        << error.what();
  }
}

TEST(GradientOverride, OfACallIsTheDerivativeOfItsFunction) {
  Graph g;
  Function square([](Output<float> x) { return x * x; });
  const auto x = Constant(g, 3.f);
  const auto y = square(x);
  SetAttr(g.node(y.ref().node).attrs, "_gradient_op_type", std::string("PartitionedCall-7"));
  Session session(g);
  EXPECT_EQ(float(session.Run(GradientOf(y, x))), 6);
}

}  // namespace
}  // namespace penstock
