#include "penstock/ops/optim/update_many.h"

#include "penstock/ops/state/testing/state_fixture.h"

namespace penstock::ops {
namespace {

class UpdateManyTest : public StateFixture {
 protected:
  // Momentum over variables with a slot each.
  NodeId Many(const std::vector<Expr>& slots, const std::vector<Expr>& gradients) {
    std::vector<Expr> inputs = slots;
    inputs.insert(inputs.end(), {Scalar(0.5f), Scalar(0.5f)});
    inputs.insert(inputs.end(), gradients.begin(), gradients.end());
    return Node("_ResourceApplyMany", inputs,
                {{"op", "ResourceApplyMomentum"},
                 {"T", DType::kFloat},
                 {"M", static_cast<int64_t>(slots.size())},
                 {"P", 2},
                 {"N", static_cast<int64_t>(gradients.size())}});
  }
  Expr Slot(const char* name, const Expr& value) {
    const Expr handle = Handle(Shape::Unknown(), DType::kFloat, name);
    Do(Node("AssignVariableOp", {handle, value}));
    return handle;
  }
};

TEST_F(UpdateManyTest, MovesEachByItsGradient) {
  const Expr v = Slot("v", Floats({1, 2})), a = Slot("a", Floats({0, 4}));
  const Expr w = Slot("w", Scalar(3.f)), b = Slot("b", Scalar(1.f));
  Do(Many({v, a, w, b}, {Floats({2, -1}), Scalar(1.f)}));
  Expect(Read(v), "float [2] {0, 1.5}");
  Expect(Read(a), "float [2] {2, 1}");
  Expect(Read(w), "float [] {2.25}");
  Expect(Read(b), "float [] {1.5}");
}

TEST_F(UpdateManyTest, BadInputsChangeNothing) {
  const Expr v = Slot("v", Floats({1, 2})), a = Slot("a", Floats({0, 4}));
  const Expr w = Slot("w", Scalar(3.f)), b = Slot("b", Scalar(1.f));
  const Expr empty = Handle(Shape::Unknown(), DType::kFloat, "empty");
  const auto run = [&](const std::vector<Expr>& slots, const std::vector<Expr>& gradients) {
    return Run({}, {Many(slots, gradients)});
  };
  ExpectError(run({v, a, w, empty}, {Floats({2, -1}), Scalar(1.f)}), Code::kFailedPrecondition,
              "empty");
  ExpectError(run({v, a, w, b}, {Floats({2, -1}), Floats({1})}), Code::kInvalidArgument,
              "[] vs [1]");
  ExpectError(run({v, a, w, v}, {Floats({2, -1}), Scalar(1.f)}), Code::kInvalidArgument,
              "different");
  Expect(Read(v), "float [2] {1, 2}");
  Expect(Read(a), "float [2] {0, 4}");
}

TEST_F(UpdateManyTest, IsCheckedBeforeItRuns) {
  const Expr v = Slot("v", Floats({1, 2}));
  const auto make = [&](const char* op, int64_t slots) {
    NodeSpec spec;
    spec.op = "_ResourceApplyMany";
    for (int64_t i = 0; i < slots; ++i) spec.inputs.push_back(v.ref());
    spec.inputs.insert(spec.inputs.end(), {Scalar(0.5f).ref(), Floats({1, 2}).ref()});
    spec.attrs = {{"op", op}, {"T", DType::kFloat}, {"M", slots}, {"P", 1}, {"N", 1}};
    return s.graph().AddNode(std::move(spec));
  };
  EXPECT_TRUE(Run({}, {*make("ResourceApplyGradientDescent", 1)}).ok());
  ExpectError(Run({}, {*make("ResourceApplyGradientDescent", 2)}), Code::kInvalidArgument,
              "1 gradients need 1 variables each");
  ExpectError(Run({}, {*make("ResourceApplyMomentum", 2)}), Code::kInvalidArgument,
              "takes 2 numbers, got 1");
  EXPECT_FALSE(make("_ResourceApplyLamb", 3).ok());  // its elements do not move one by one
}

}  // namespace
}  // namespace penstock::ops
