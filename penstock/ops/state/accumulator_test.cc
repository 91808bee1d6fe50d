#include "penstock/ops/state/accumulator.h"

#include <atomic>
#include <thread>

#include "penstock/ops/state/testing/state_fixture.h"

namespace penstock::ops {
namespace {

class AccumulatorTest : public StateFixture {
 protected:
  Expr Accumulator(const Shape& shape, DType dtype = DType::kFloat, std::string reduction = "MEAN",
                   std::string op = "ConditionalAccumulator", std::string_view name = "acc") {
    return Source(op, {{"dtype", dtype}, {"shape", shape}, {"reduction_type", reduction}}, name);
  }
  NodeId ApplyTo(const Expr& accumulator, int64_t step, const Expr& gradient,
                 const std::string& family = "") {
    return Node(family + "AccumulatorApplyGradient", {accumulator, Scalar(step), gradient});
  }
  Expr Take(const Expr& accumulator, int32_t required, DType dtype = DType::kFloat,
            const std::string& family = "") {
    return Op(family + "AccumulatorTakeGradient", accumulator, Scalar(required),
              {{"dtype", dtype}});
  }
  NodeId ApplySparse(const Expr& accumulator, const Expr& indices, const Expr& values,
                     const Expr& shape, bool known) {
    return Node("SparseAccumulatorApplyGradient",
                {accumulator, Scalar(int64_t{0}), indices, values, shape},
                {{"has_known_shape", known}});
  }
  // Waits until so many nodes wait at the accumulator.
  void AwaitWaiting(std::string_view name, std::string_view text) {
    for (;;) {
      const std::shared_ptr<Resource> found = state->Find("", name);
      if (found != nullptr && found->DebugString().ends_with(text)) return;
      std::this_thread::yield();
    }
  }
};

TEST_F(AccumulatorTest, AveragesWhatWasAppliedAndDropsWhatIsStale) {
  for (const std::string family : {"", "Resource"}) {
    const Expr acc = Accumulator({2}, DType::kFloat, "MEAN", family + "ConditionalAccumulator",
                                 family.empty() ? "acc" : "resource_acc");
    const Expr count = Op(family + "AccumulatorNumAccumulated", acc);
    Expect(count, "int32 [] {0}");
    Do(ApplyTo(acc, 0, Floats({1, 2}), family));
    Do(ApplyTo(acc, 0, Floats({3, 6}), family));
    Do(ApplyTo(acc, 5, Floats({5, 4}), family));
    Expect(count, "int32 [] {3}");
    Expect(Take(acc, 2, DType::kFloat, family), "float [2] {3, 4}");
    Expect(count, "int32 [] {0}");
    Do(ApplyTo(acc, 0, Floats({9, 9}), family));  // its step is over
    Expect(count, "int32 [] {0}");
    Do(ApplyTo(acc, 1, Floats({9, 9}), family));
    Expect(count, "int32 [] {1}");
    Do(Node(family + "AccumulatorSetGlobalStep", {acc, Scalar(int64_t{7})}));
    Do(ApplyTo(acc, 6, Floats({9, 9}), family));
    Expect(count, "int32 [] {1}");
    // Going back is only logged.
    Do(Node(family + "AccumulatorSetGlobalStep", {acc, Scalar(int64_t{6})}));
    Do(ApplyTo(acc, 6, Floats({9, 9}), family));
    Expect(count, "int32 [] {2}");
  }
}

TEST_F(AccumulatorTest, SumsAndTypes) {
  const Expr sum = Accumulator({2}, DType::kDouble, "SUM");
  for (int i = 0; i < 3; ++i) Do(ApplyTo(sum, 0, Const<double>({2}, {1, 2})));
  Expect(Take(sum, 3, DType::kDouble), "double [2] {3, 6}");
  const Expr halves = Accumulator({}, DType::kHalf, "MEAN", "ConditionalAccumulator", "halves");
  Do(ApplyTo(halves, 0, Scalar(half(1))));
  Do(ApplyTo(halves, 0, Scalar(half(2))));
  Expect(Take(halves, 1, DType::kHalf), "half [] {1.5}");
  const Expr empty = Accumulator({0, 2}, DType::kFloat, "MEAN", "ConditionalAccumulator", "empty");
  Do(ApplyTo(empty, 0, Const<float>({0, 2}, {})));
  Expect(Take(empty, 1), "float [0,2] {}");
  ExpectError(
      Run({}, {Accumulator({}, DType::kInt32, "SUM", "ConditionalAccumulator", "ints").ref().node}),
      Code::kUnimplemented, "int32");
}

// What was given is neither written nor seen to change.
TEST_F(AccumulatorTest, GradientsAreNotOverwritten) {
  const Expr acc = Accumulator(Shape::Unknown());
  const Expr gradient = Floats({1, 2});
  const NodeId apply = ApplyTo(acc, 0, gradient);
  Do(apply);
  Do(apply);
  const Result<std::vector<Tensor>> taken = Run({Take(acc, 2)});
  ASSERT_TRUE(taken.ok());
  Do(ApplyTo(acc, 9, gradient));
  Do(ApplyTo(acc, 9, gradient));
  EXPECT_EQ((*taken)[0].ToString(), "float [2] {1, 2}");
  Expect(gradient, "float [2] {1, 2}");
}

TEST_F(AccumulatorTest, ShapesAreChecked) {
  const Expr acc = Accumulator({-1, 2});
  const Expr x = Fed(DType::kFloat);
  const NodeId apply = ApplyTo(acc, 0, x);
  ExpectError(Run({}, {apply}, {{x, Tensor::Scalar(1.f)}}), Code::kInvalidArgument,
              "Shape mismatch: expected [?,2], got []");
  Do(apply, {{x, Tensor::FromValues<float>({1, 2}, {1, 2})}});
  ExpectError(Run({}, {apply}, {{x, Tensor::FromValues<float>({2, 2}, {1, 2, 3, 4})}}),
              Code::kInvalidArgument, "Shape mismatch: expected [1,2], got [2,2]");
  Expect(Op("AccumulatorNumAccumulated", acc), "int32 [] {1}");
  const Expr steps = Fed(DType::kInt64);
  ExpectError(Run({}, {Node("AccumulatorApplyGradient", {acc, steps, x})},
                  {{steps, Tensor::FromValues<int64_t>({2}, {0, 0})},
                   {x, Tensor::FromValues<float>({1, 2}, {1, 2})}}),
              Code::kInvalidArgument, "Argument local_step must be scalar, but had bad shape [2]");
  ExpectError(Run({Take(acc, 0)}), Code::kInvalidArgument,
              "Argument num_required must be positive, but was 0");
  ExpectError(Run({Take(acc, 1, DType::kDouble)}), Code::kInvalidArgument, "must hold double");
  ExpectError(Run({}, {ApplyTo(acc, 0, Const<double>({1, 2}, {1, 2}))}), Code::kInvalidArgument,
              "must hold double");
  EXPECT_FALSE(Take(acc, 1).shape().has_rank());
}

TEST_F(AccumulatorTest, OneNameMeansOneAccumulator) {
  const AttrMap attrs = {
      {"dtype", DType::kFloat}, {"shape", Shape{1}}, {"shared_name", "one"}, {"container", "c"}};
  const Expr a = Source("ConditionalAccumulator", attrs);
  const Expr b = Source("ResourceConditionalAccumulator", attrs);
  Do(ApplyTo(a, 0, Floats({4})));
  EXPECT_EQ(state->MemoryByContainer()["c"], 4u);
  Expect(Op("ResourceAccumulatorNumAccumulated", b), "int32 [] {1}");
  AttrMap other = attrs;
  SetAttr(other, "dtype", DType::kDouble);
  ExpectError(Run({}, {Source("ConditionalAccumulator", other).ref().node}), Code::kInvalidArgument,
              "Shared accumulator 'one' has dtype float");
  other = attrs;
  SetAttr(other, "shape", Shape{2});
  ExpectError(Run({}, {Source("ConditionalAccumulator", other).ref().node}), Code::kInvalidArgument,
              "Shared accumulator 'one' has shape [1]");
  ExpectError(Run({}, {Source("SparseConditionalAccumulator", attrs).ref().node}),
              Code::kInvalidArgument, "c/one is a accumulator");
  ASSERT_TRUE(session->Reset(std::vector<std::string>{"c"}).ok());
  Expect(Op("ResourceAccumulatorNumAccumulated", b), "int32 [] {0}");
}

TEST_F(AccumulatorTest, TakingWaitsWithoutAThread) {
  const Expr acc = Accumulator({1});
  const Expr take = Take(acc, 2);
  const NodeId apply = ApplyTo(acc, int64_t{1} << 40, Floats({3}));
  session = NewSession(1);
  ASSERT_TRUE(Run({}, {acc.ref().node}).ok());
  std::atomic<bool> done{false};
  std::thread waiter([&] {
    const Result<std::vector<Tensor>> got = Run({take});
    EXPECT_TRUE(got.ok()) << got.status().ToString();
    ASSERT_TRUE(got.ok());
    EXPECT_EQ((*got)[0].ToString(), "float [1] {3}");
    done = true;
  });
  AwaitWaiting("acc", "1 waiting");
  Do(apply);
  EXPECT_FALSE(done);
  Do(apply);
  waiter.join();
}

TEST_F(AccumulatorTest, ACancelledTakerLeavesTheOthers) {
  const Expr acc = Accumulator({1});
  const Expr two = Take(acc, 2), one = Take(acc, 1);
  const NodeId apply = ApplyTo(acc, int64_t{1} << 40, Floats({3}));
  ASSERT_TRUE(Run({}, {acc.ref().node}).ok());
  Cancellation cancellation;
  std::thread first([&] {
    RunOptions options;
    options.cancellation = &cancellation;
    ExpectError(Run({two}, {}, {}, options), Code::kCancelled, "");
  });
  AwaitWaiting("acc", "1 waiting");
  std::thread second([&] { EXPECT_TRUE(Run({one}).ok()); });
  AwaitWaiting("acc", "2 waiting");
  Do(apply);  // the first in line wants more
  Expect(Op("AccumulatorNumAccumulated", acc), "int32 [] {1}");
  cancellation.Cancel(Cancelled("enough"));
  first.join();
  second.join();
  Expect(Op("AccumulatorNumAccumulated", acc), "int32 [] {0}");
  // A step that is cancelled before it begins to wait.
  RunOptions options;
  options.cancellation = &cancellation;
  ExpectError(Run({one}, {}, {}, options), Code::kCancelled, "");
}

TEST_F(AccumulatorTest, ClosingTheSessionEndsTheWait) {
  const Expr acc = Accumulator({1});
  const Expr take = Take(acc, 1);
  ASSERT_TRUE(Run({}, {acc.ref().node}).ok());
  std::thread waiter([&] { ExpectError(Run({take}), Code::kCancelled, ""); });
  AwaitWaiting("acc", "1 waiting");
  EXPECT_TRUE(session->Close().ok());
  waiter.join();
}

TEST_F(AccumulatorTest, ConcurrentGradientsAreAllCounted) {
  constexpr int kThreads = 4, kSteps = 100;
  const Expr acc = Accumulator({3}, DType::kDouble, "SUM");
  const NodeId apply = ApplyTo(acc, int64_t{1} << 40, Const<double>({3}, {1, 2, 3}));
  const Expr take = Take(acc, kThreads * kSteps, DType::kDouble);
  ASSERT_TRUE(Run({}, {acc.ref().node}).ok());
  std::thread taker([&] {
    const Result<std::vector<Tensor>> got = Run({take});
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_EQ((*got)[0].ToString(), "double [3] {400, 800, 1200}");
  });
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kSteps; ++i) EXPECT_TRUE(Run({}, {apply}).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  taker.join();
}

TEST_F(AccumulatorTest, SparseRowsAreAveragedOverThoseThatHadThem) {
  const Expr acc = Source("SparseConditionalAccumulator",
                          {{"dtype", DType::kFloat}, {"shape", Shape{4, 2}}}, "sparse");
  const Expr shape = Const<int64_t>({2}, {4, 2});
  Do(ApplySparse(acc, Const<int64_t>({2}, {3, 0}), Const<float>({2, 2}, {1, 2, 3, 4}), shape,
                 true));
  Do(ApplySparse(acc, Const<int64_t>({3}, {3, 2, 3}), Const<float>({3, 2}, {1, 2, 5, 6, 1, 2}),
                 Const<int64_t>({0}, {}), false));
  Expect(Op("AccumulatorNumAccumulated", acc), "int32 [] {2}");
  const auto take = [&] {
    return Op("SparseAccumulatorTakeGradient", acc, Scalar(2), {{"dtype", DType::kFloat}});
  };
  const Expr taken = take();
  const Result<std::vector<Tensor>> got = Run({taken, taken.Output(1), taken.Output(2)});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[0].ToString(), "int64 [3] {0, 2, 3}");
  EXPECT_EQ((*got)[1].ToString(), "float [3,2] {3, 4, 5, 6, 1.5, 3}");
  EXPECT_EQ((*got)[2].ToString(), "int64 [2] {4, 2}");
  Expect(Op("AccumulatorNumAccumulated", acc), "int32 [] {0}");
  EXPECT_EQ(state->MemoryByContainer()["localhost"], 0u);
}

TEST_F(AccumulatorTest, SparseSumsWithoutAShape) {
  const Expr acc = Source(
      "SparseConditionalAccumulator",
      {{"dtype", DType::kFloat}, {"shape", Shape::Unknown()}, {"reduction_type", "SUM"}}, "sparse");
  const Expr none = Const<int64_t>({0}, {});
  Do(ApplySparse(acc, Const<int64_t>({1}, {7}), Floats({2}), none, false));
  Do(ApplySparse(acc, Const<int64_t>({1}, {7}), Floats({3}), none, false));
  Do(ApplySparse(acc, none, Const<float>({0}, {}), none, false));
  const Expr taken =
      Op("SparseAccumulatorTakeGradient", acc, Scalar(3), {{"dtype", DType::kFloat}});
  const Result<std::vector<Tensor>> got = Run({taken, taken.Output(1), taken.Output(2)});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[0].ToString(), "int64 [1] {7}");
  EXPECT_EQ((*got)[1].ToString(), "float [1] {5}");
  EXPECT_EQ((*got)[2].ToString(), "int64 [1] {-1}");
}

TEST_F(AccumulatorTest, BadSparseGradientsAreRefusedAndNotCounted) {
  const Expr acc = Source("SparseConditionalAccumulator",
                          {{"dtype", DType::kFloat}, {"shape", Shape{4, 2}}}, "sparse");
  const Expr indices = Fed(DType::kInt64), values = Fed(DType::kFloat), shape = Fed(DType::kInt64);
  const auto try_with = [&](const Tensor& i, const Tensor& v, const Tensor& d, bool known,
                            std::string_view text) {
    ExpectError(Run({}, {ApplySparse(acc, indices, values, shape, known)},
                    {{indices, i}, {values, v}, {shape, d}}),
                Code::kInvalidArgument, text);
  };
  const Tensor one = Tensor::FromValues<int64_t>({1}, {1});
  const Tensor row = Tensor::FromValues<float>({1, 2}, {1, 2});
  const Tensor full = Tensor::FromValues<int64_t>({2}, {4, 2});
  try_with(Tensor::Scalar(int64_t{1}), row, full, false,
           "Input indices should be vector but received shape: []");
  try_with(one, Tensor::Scalar(1.f), full, false, "Values cannot be 0-dimensional.");
  try_with(Tensor::FromValues<int64_t>({2}, {1, 2}), row, full, false,
           "Expected 2 non-empty input values, got 1");
  try_with(one, row, one, true, "Shape mismatch: expected shape rank at least 2, got 1");
  try_with(one, row, Tensor::FromValues<int64_t>({2}, {5, 2}), true,
           "Shape mismatch: expected shape dim 0 to be 4, got 5");
  try_with(Tensor::FromValues<int64_t>({1}, {4}), row, full, true,
           "Shape mismatch: index of slice 0 exceeded limits of shape; index is 4 exceeded 4");
  try_with(Tensor::FromValues<int64_t>({1}, {-1}), row, full, true, "index is -1");
  try_with(one, Tensor::FromValues<float>({1}, {1}), full, true,
           "Shape mismatch: expected values rank at least 2, got 1");
  try_with(one, Tensor::FromValues<float>({1, 3}, {1, 2, 3}), full, true,
           "Shape mismatch: expected values dim 1 to be 2, got 3");
  Expect(Op("AccumulatorNumAccumulated", acc), "int32 [] {0}");
  ExpectError(Run({}, {Node("AccumulatorApplyGradient", {acc, Scalar(int64_t{0}), Floats({1})})}),
              Code::kInvalidArgument, "must be a ConditionalAccumulator");
}

}  // namespace
}  // namespace penstock::ops
