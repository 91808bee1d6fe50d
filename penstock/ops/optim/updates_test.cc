#include "penstock/ops/optim/updates.h"

#include <cmath>
#include <thread>

#include "penstock/kernels/update.h"
#include "penstock/ops/state/testing/state_fixture.h"

namespace penstock::ops {
namespace {

struct RuleCase {
  const char* name;
  int slots;
  int numbers;        // before the gradient
  int numbers_after;  // and after it
  bool has_step;
  bool has_sparse;
};
constexpr RuleCase kRules[] = {
    {"GradientDescent", 1, 1, 0, false, false},
    {"ProximalGradientDescent", 1, 3, 0, false, true},
    {"Momentum", 2, 1, 1, false, true},
    {"Adagrad", 2, 1, 0, false, true},
    {"AdagradV2", 2, 2, 0, false, true},
    {"ProximalAdagrad", 2, 3, 0, false, true},
    {"AdagradDA", 3, 0, 3, true, true},
    {"Adadelta", 3, 3, 0, false, true},
    {"RMSProp", 3, 4, 0, false, true},
    {"CenteredRMSProp", 4, 4, 0, false, true},
    {"Adam", 3, 6, 0, false, false},
    {"AdaMax", 3, 5, 0, false, false},
    {"AddSign", 2, 4, 0, false, false},
    {"PowerSign", 2, 4, 0, false, false},
};

class UpdatesTest : public StateFixture {
 protected:
  // Variables of one kind with values that differ from slot to slot.
  std::vector<Expr> Variables(const RuleCase& rule, bool by_handle, const std::string& name) {
    std::vector<Expr> variables;
    for (int i = 0; i < rule.slots; ++i) {
      const std::string own = name + std::to_string(i);
      const float base = 0.5f + 0.25f * static_cast<float>(i);
      const Expr value = Const<float>({3, 2}, {base, 1, 2, base, 1.5, 0.75});
      const Expr v =
          by_handle ? Handle({3, 2}, DType::kFloat, own) : Variable({3, 2}, DType::kFloat, own);
      if (by_handle) {
        Do(Node("AssignVariableOp", {v, value}));
      } else {
        Do(Op("Assign", v, value));
      }
      variables.push_back(v);
    }
    return variables;
  }
  // The inputs of an op of the rule.
  std::vector<Expr> Inputs(const RuleCase& rule, std::vector<Expr> variables, bool sparse) {
    for (int i = 0; i < rule.numbers; ++i) variables.push_back(Scalar(0.1f + 0.05f * i));
    if (sparse) {
      variables.push_back(Const<float>({3, 2}, {0.5, -0.25, 0.125, -1, 2, 0}));
      variables.push_back(Int32s({2, 0, 1}));
    } else {
      variables.push_back(Const<float>({3, 2}, {0.125, -1, 2, 0, 0.5, -0.25}));
    }
    for (int i = 0; i < rule.numbers_after; ++i) variables.push_back(Scalar(0.1f + 0.05f * i));
    if (rule.has_step) variables.push_back(Scalar(int64_t{3}));
    return variables;
  }
  std::vector<std::string> ValuesOf(const std::vector<Expr>& variables, int slots, bool by_handle) {
    std::vector<std::string> values;
    for (int i = 0; i < slots; ++i) {
      const Result<std::vector<Tensor>> got =
          Run({by_handle ? Read(variables[static_cast<size_t>(i)])
                         : Op("Identity", variables[static_cast<size_t>(i)])});
      values.push_back(got.ok() ? (*got)[0].ToString() : got.status().ToString());
    }
    return values;
  }
};

// The four forms of a rule move variables alike.
TEST_F(UpdatesTest, FormsAgree) {
  for (const RuleCase& rule : kRules) {
    const std::string name = rule.name;
    std::vector<std::string> first;
    for (const bool sparse : {false, true}) {
      if (sparse && !rule.has_sparse) continue;
      for (const bool by_handle : {false, true}) {
        const std::string op =
            std::string(by_handle ? "Resource" : "") + (sparse ? "Sparse" : "") + "Apply" + name;
        const std::vector<Expr> variables = Variables(rule, by_handle, op);
        const std::vector<Expr> inputs = Inputs(rule, variables, sparse);
        if (by_handle) {
          Do(Node(op, inputs));
        } else {
          Do(s.Add(op, inputs));
        }
        const std::vector<std::string> values = ValuesOf(variables, rule.slots, by_handle);
        if (first.empty()) first = values;
        EXPECT_EQ(values, first) << op;
      }
    }
  }
}

TEST_F(UpdatesTest, KnownSteps) {
  const Expr v = Variable({2}, DType::kFloat, "v"), a = Variable({2}, DType::kFloat, "a");
  const auto reset = [&] {
    Do(Op("Assign", v, Floats({1, 2})));
    Do(Op("Assign", a, Floats({0, 4})));
  };
  reset();
  Expect(s.Add("ApplyGradientDescent", {v, Scalar(0.5f), Floats({2, -1})}), "float [2] {0, 2.5}");
  reset();
  Expect(s.Add("ApplyMomentum", {v, a, Scalar(0.5f), Floats({2, -1}), Scalar(0.5f)}),
         "float [2] {0, 1.5}");
  reset();
  Expect(s.Add("ApplyMomentum", {v, a, Scalar(0.5f), Floats({2, -1}), Scalar(0.5f)},
               {{"use_nesterov", true}}),
         "float [2] {-0.5, 2.25}");
  reset();
  Expect(s.Add("ApplyAdagrad", {v, a, Scalar(0.5f), Floats({2, 0})}), "float [2] {0.5, 2}");
  // A row that is named twice is moved twice.
  reset();
  Expect(s.Add("SparseApplyMomentum",
               {v, a, Scalar(0.5f), Floats({2, 2}), Const<int64_t>({2}, {0, 0}), Scalar(0.f)}),
         "float [2] {-1, 2}");
}

TEST_F(UpdatesTest, BadInputsChangeNothing) {
  const Expr v = Handle(Shape::Unknown(), DType::kFloat, "v");
  const Expr a = Handle(Shape::Unknown(), DType::kFloat, "a");
  const auto apply = [&](const Expr& accum, const Expr& gradient) {
    return Run({},
               {Node("ResourceApplyMomentum", {v, accum, Scalar(0.5f), gradient, Scalar(0.f)})});
  };
  ExpectError(apply(a, Floats({1, 2})), Code::kFailedPrecondition, "v");
  Do(Node("AssignVariableOp", {v, Floats({1, 2})}));
  Do(Node("AssignVariableOp", {a, Floats({1, 2, 3})}));
  ExpectError(apply(a, Floats({1, 2})), Code::kInvalidArgument, "[2] vs [3]");
  Do(Node("AssignVariableOp", {a, Floats({1, 2})}));
  ExpectError(apply(a, Floats({1, 2, 3})), Code::kInvalidArgument, "[2] vs [3]");
  ExpectError(apply(v, Floats({1, 2})), Code::kInvalidArgument, "different");
  const auto sparse = [&](const Expr& gradient, const Expr& indices) {
    return Run({}, {Node("ResourceSparseApplyAdagrad", {v, a, Scalar(0.5f), gradient, indices})});
  };
  ExpectError(sparse(Floats({1}), Int32s({2})), Code::kInvalidArgument, "indices[0] = 2");
  ExpectError(sparse(Floats({1, 2}), Int32s({1})), Code::kInvalidArgument, "grad");
  const Expr linear = Handle({2}, DType::kFloat, "l");
  const auto ftrl = [&](float rate, float power) {
    return Run({}, {Node("ResourceApplyFtrl", {v, a, linear, Floats({1, 2}), Scalar(rate),
                                               Scalar(0.f), Scalar(0.f), Scalar(power)})});
  };
  Do(Node("AssignVariableOp", {linear, Floats({0, 0})}));
  ExpectError(ftrl(-1, -0.5), Code::kInvalidArgument, "lr");
  ExpectError(ftrl(1, 0.5), Code::kInvalidArgument, "lr_power");
  Expect(Read(v), "float [2] {1, 2}");
  Expect(Read(a), "float [2] {1, 2}");
}

// A reader keeps the value it read.
TEST_F(UpdatesTest, ReadersKeepWhatTheyRead) {
  const Expr v = Handle({1}, DType::kFloat, "v");
  Do(Node("AssignVariableOp", {v, Floats({1})}));
  const Result<std::vector<Tensor>> before = Run({Read(v)});
  ASSERT_TRUE(before.ok());
  Do(Node("ResourceApplyGradientDescent", {v, Scalar(1.f), Floats({5})}));
  EXPECT_EQ((*before)[0].ToString(), "float [1] {1}");
  Expect(Read(v), "float [1] {-4}");
}

// Nodes that lock the same variables, named in another order, never wait for each other in a ring;
// and no update is lost.
TEST_F(UpdatesTest, NodesThatShareVariablesTakeTurns) {
  const Expr v = Handle({1}, DType::kFloat, "v"), a = Handle({1}, DType::kFloat, "a");
  Do(Node("AssignVariableOp", {v, Floats({0})}));
  Do(Node("AssignVariableOp", {a, Floats({0})}));
  // The first adds 1 to `a` alone, the second 1 to `v` alone.
  const NodeId nodes[] = {
      Node("ResourceApplyMomentum", {v, a, Scalar(0.f), Floats({1}), Scalar(1.f)}),
      Node("ResourceApplyMomentum", {a, v, Scalar(0.f), Floats({1}), Scalar(1.f)})};
  constexpr int kSteps = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kSteps; ++i) EXPECT_TRUE(RunIn(*session, {}, {nodes[t % 2]}).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  Expect(Read(v), "float [1] {400}");
  Expect(Read(a), "float [1] {400}");
}

// Runs of any length, type and number of threads give what single elements do.
TEST(UpdateKernels, RunsAreElements) {
  constexpr int64_t kN = 1037;
  std::vector<float> v(kN), m(kN, 0.1f), u(kN, 0.2f), g(kN), v1, m1, u1;
  for (int64_t i = 0; i < kN; ++i) {
    v[static_cast<size_t>(i)] = std::sin(static_cast<float>(i));
    g[static_cast<size_t>(i)] = std::cos(static_cast<float>(3 * i));
  }
  v1 = v, m1 = m, u1 = u;
  kernels::Update update;
  update.rule = kernels::UpdateRule::kAdam;
  update.parameters.values = {0.9, 0.99, 0.1, 0.9, 0.99, 1e-3};
  update.gradient = g.data();
  update.slots = {v.data(), m.data(), u.data()};
  kernels::UpdateAll(update, kN, ParallelFor());
  for (size_t i = 0; i < kN; ++i) {
    update.gradient = &g[i];
    update.slots = {&v1[i], &m1[i], &u1[i]};
    kernels::UpdateAll(update, 1, ParallelFor());
  }
  for (size_t i = 0; i < kN; ++i) {
    EXPECT_NEAR(v[i], v1[i], 1e-6) << i;
    EXPECT_NEAR(m[i], m1[i], 1e-6) << i;
  }
}

}  // namespace
}  // namespace penstock::ops
