#include "penstock/ops/collections/stacks.h"

#include "penstock/ops/collections/testing/graph_test.h"

namespace penstock::ops {
namespace {

class StacksTest : public GraphTest {
 protected:
  Expr Stack(int32_t max_size = -1, DType dtype = DType::kFloat) {
    return Add("StackV2", {Int(max_size)}, {{"elem_type", dtype}, {"stack_name", "s"}});
  }
  Expr Pop(const Expr& stack, const std::vector<NodeId>& before, DType dtype = DType::kFloat) {
    return After(before, "StackPopV2", {stack}, {{"elem_type", dtype}});
  }
};

TEST_F(StacksTest, GiveBackTheLastFirst) {
  const Expr h = Stack();
  const Expr p1 = Add("StackPushV2", {h, Floats({1, 2})});
  const Expr p2 = After({p1.ref().node}, "StackPushV2", {h, Floats({3})}, {{"swap_memory", true}});
  const Expr a = Pop(h, {p2.ref().node});
  const Expr b = Pop(h, {a.ref().node});
  EXPECT_EQ(p1.shape(), Shape({2}));
  for (int step = 0; step < 2; ++step) {  // each step has its own
    Expect({p1, a, b}, {"float [2] {1, 2}", "float [1] {3}", "float [2] {1, 2}"});
  }
  EXPECT_TRUE(state->Containers().empty());
}

TEST_F(StacksTest, ByReference) {
  const Expr h = Add("Stack", {}, {{"elem_type", DType::kString}});
  const Expr p = Add("StackPush", {h, Vector<std::string>({"a", "b"})});
  const Expr a = After({p.ref().node}, "StackPop", {h}, {{"elem_type", DType::kString}});
  const NodeId close = Node("StackClose", {h}, {}, {a.ref().node});
  const Expr late = After({close}, "StackPush", {h, Vector<std::string>({"c"})});
  const Result<std::vector<Tensor>> got = Run({a}, {close});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[0].data<std::string>()[1], "b");
  ExpectInvalid(late, "has already been closed.");
}

TEST_F(StacksTest, RefuseWhatDoesNotFit) {
  const Expr h = Stack(1);
  ExpectInvalid(Pop(h, {}), "is empty when calling Pop().");
  const Expr p1 = Add("StackPushV2", {h, Floats({1, 2})});
  ExpectInvalid(After({p1.ref().node}, "StackPushV2", {h, Floats({3})}),
                "overflowed its max_size (1)");
  ExpectInvalid(Add("StackPushV2", {h, Ints({3})}), "Must have type float but got int32");
  ExpectInvalid(Pop(h, {p1.ref().node}, DType::kInt32), "Must have type float but got int32");
  const NodeId close = Node("StackCloseV2", {h}, {}, {p1.ref().node});
  ExpectInvalid(Pop(h, {close}), "has already been closed.");
  ExpectInvalid(Add("StackPushV2", {Stack(0), Floats({1})}), "overflowed its max_size (0)");
  ExpectRefused("StackV2", {Ints({1, 2})}, {{"elem_type", DType::kFloat}}, "must be a scalar");
}

TEST_F(StacksTest, HostileHandlesAreRefused) {
  const Expr h = Placeholder(DType::kResource);
  ExpectHostileHandlesAreRefused(h, {Add("StackPushV2", {h, Floats({1})}), Pop(h, {})},
                                 {Node("StackCloseV2", {h})});
}

// What was pushed does not change when the value's memory is used again.
TEST_F(StacksTest, KeepValuesThatWouldLieInTheArena) {
  const Expr x = Placeholder(DType::kFloat, {4});
  const Expr h = Stack();
  const Expr sum = x + x;
  const Expr p = Add("StackPushV2", {h, sum});
  const Expr other = After({p.ref().node}, "Mul", {x, Floats({7, 7, 7, 7})}) * x;
  const Expr popped = Pop(h, {other.ref().node});
  const Tensor values = Tensor::FromValues<float>({4}, {1, 2, 3, 4});
  const Result<std::vector<Tensor>> got = Run({popped, other}, {}, {{x, values}});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[0].ToString(), "float [4] {2, 4, 6, 8}");
}

}  // namespace
}  // namespace penstock::ops
