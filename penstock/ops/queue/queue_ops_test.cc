#include "penstock/ops/queue/queue_ops.h"

#include <gtest/gtest.h>

#include <thread>

#include "penstock/ops/queue/testing/session_test.h"

namespace penstock::ops {
namespace {

class QueueOpsTest : public SessionTest {
 protected:
  Expr Fifo(int64_t capacity, const Shape& shape = {}, std::string_view op = "FIFOQueueV2",
            std::string_view name = "q") {
    return s.Add(op, std::vector<Expr>(),
                 {{"component_types", std::vector<DType>{DType::kFloat}},
                  {"shapes", std::vector<Shape>{shape}},
                  {"capacity", capacity}},
                 name);
  }
  Expr Dequeue(const Expr& queue, std::string_view op = "QueueDequeueV2",
               std::vector<DType> types = {DType::kFloat}) {
    return Op(op, queue, {{"component_types", std::move(types)}});
  }
  Expr DequeueMany(const Expr& queue, int32_t n, std::string_view op = "QueueDequeueManyV2",
                   std::vector<DType> types = {DType::kFloat}) {
    return Op(op, queue, s.Constant(Tensor::Scalar(n)), {{"component_types", std::move(types)}});
  }
};

TEST_F(QueueOpsTest, BothFormsWork) {
  for (const bool v2 : {false, true}) {
    const std::string end = v2 ? "V2" : "";
    const Expr q = Fifo(10, {}, "FIFOQueue" + end, "q" + end);
    EXPECT_EQ(q.shape(), v2 ? Shape() : Shape({2}));
    const NodeId put = Node("QueueEnqueue" + end, {q, Float(1)});
    const NodeId put_many = Node("QueueEnqueueMany" + end, {q, Floats({2, 3, 4, 5, 6})});
    const Expr get = Dequeue(q, "QueueDequeue" + end);
    const Expr get_many = DequeueMany(q, 2, "QueueDequeueMany" + end);
    const Expr get_rest = DequeueMany(q, 9, "QueueDequeueUpTo" + end);
    const Expr size = Op("QueueSize" + end, q), closed = Op("QueueIsClosed" + end, q);
    const NodeId close = Node("QueueClose" + end, {q});
    EXPECT_FALSE(get.shape().has_rank());
    ASSERT_TRUE(Run({}, {put}).ok());
    ASSERT_TRUE(Run({}, {put_many}).ok());
    Expect(size, "int32 [] {6}");
    Expect(get, "float [] {1}");
    Expect(get_many, "float [2] {2, 3}");
    Expect(closed, "bool [] {false}");
    ASSERT_TRUE(Run({}, {close}).ok());
    Expect(closed, "bool [] {true}");
    ExpectError(Run({}, {put}), Code::kCancelled, "is closed.");
    Expect(get_rest, "float [3] {4, 5, 6}");
    ExpectError(Run({get}), Code::kOutOfRange,
                "FIFOQueue '_0_q" + end +
                    "' is closed and has insufficient elements (requested 1, current size 0)");
    ExpectError(Run({get_many}), Code::kOutOfRange, "requested 2, current size 0");
    ExpectError(Run({}, {close}), Code::kCancelled, "is already closed");
  }
}

TEST_F(QueueOpsTest, AFakeQueueIsTheQueue) {
  const Expr q = Fifo(10);
  const Expr old = Op("FakeQueue", q);
  ASSERT_TRUE(Run({}, {Node("QueueEnqueue", {old, Float(3)})}).ok());
  Expect(Dequeue(q), "float [] {3}");
}

TEST_F(QueueOpsTest, AStepWaitsForItself) {
  const Expr q = Fifo(1);
  std::vector<NodeId> puts;
  for (int i = 0; i < 20; ++i) puts.push_back(Node("QueueEnqueueV2", {q, Float(1)}));
  std::vector<Expr> gets;
  for (int i = 0; i < 20; ++i) gets.push_back(Dequeue(q));
  for (int round = 0; round < 20; ++round) {
    const Result<std::vector<Tensor>> got = Run(gets, puts);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    for (const Tensor& value : *got) EXPECT_EQ(value.ToString(), "float [] {1}");
  }
  Expect(Op("QueueSizeV2", q), "int32 [] {0}");
}

// Nodes after a dequeue run with the element, whatever its shape.
TEST_F(QueueOpsTest, ElementsOfAnyShapeAndTypePassThrough) {
  const std::vector<DType> types{DType::kString, DType::kInt32};
  const Expr q = s.Add("FIFOQueueV2", std::vector<Expr>(), {{"component_types", types}});
  const Expr text = s.Constant(Tensor::FromValues<std::string>({2}, {"a", "b"}));
  const Expr numbers = s.Constant(Tensor::FromValues<int32_t>({1, 2}, {1, 2}));
  const NodeId put = Node("QueueEnqueueV2", {q, text, numbers});
  ASSERT_TRUE(Run({}, {put}).ok());
  ASSERT_TRUE(Run({}, {put}).ok());
  const Expr get = Dequeue(q, "QueueDequeueV2", types);
  const Result<std::vector<Tensor>> got = Run({get, get.Output(1) + get.Output(1)});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[0].ToString(), "string [2] {\"a\", \"b\"}");
  EXPECT_EQ((*got)[1].ToString(), "int32 [1,2] {2, 4}");
  ExpectError(Run({DequeueMany(q, 1, "QueueDequeueManyV2", types)}), Code::kInvalidArgument,
              "require the components to have specified shapes");
}

TEST_F(QueueOpsTest, StringsAreBatched) {
  const Expr q = s.Add("FIFOQueueV2", std::vector<Expr>(),
                       {{"component_types", std::vector<DType>{DType::kString}},
                        {"shapes", std::vector<Shape>{Shape()}}});
  const Expr text = s.Constant(Tensor::FromValues<std::string>({3}, {"a", "b", "c"}));
  ASSERT_TRUE(Run({}, {Node("QueueEnqueueManyV2", {q, text})}).ok());
  Expect(DequeueMany(q, 3, "QueueDequeueManyV2", {DType::kString}),
         "string [3] {\"a\", \"b\", \"c\"}");
}

TEST_F(QueueOpsTest, PaddingQueuesPad) {
  const Expr q = Fifo(10, {-1, 2}, "PaddingFIFOQueueV2");
  const Expr one = s.Constant(Tensor::FromValues<float>({1, 2}, {1, 2}));
  const Expr two = s.Constant(Tensor::FromValues<float>({2, 2}, {3, 4, 5, 6}));
  const Expr none = s.Constant(Tensor(DType::kFloat, Shape{0, 2}));
  for (const Expr& element : {one, none, two}) {
    ASSERT_TRUE(Run({}, {Node("QueueEnqueueV2", {q, element})}).ok());
  }
  Expect(DequeueMany(q, 3), "float [3,2,2] {1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 5, 6}");
  ExpectError(Run({}, {Node("QueueEnqueueV2", {q, Floats({1, 2})})}), Code::kInvalidArgument,
              "Shape mismatch in tuple component 0. Expected [?,2], got [2]");
}

TEST_F(QueueOpsTest, PriorityQueuesSort) {
  const Expr q = s.Add("PriorityQueueV2", std::vector<Expr>(),
                       {{"component_types", std::vector<DType>{DType::kFloat}},
                        {"shapes", std::vector<Shape>{Shape()}}});
  const Expr priorities = s.Constant(Tensor::FromValues<int64_t>({4}, {3, 1, 3, -2}));
  ASSERT_TRUE(Run({}, {Node("QueueEnqueueManyV2", {q, priorities, Floats({1, 2, 3, 4})})}).ok());
  const Expr get = DequeueMany(q, 4, "QueueDequeueManyV2", {DType::kInt64, DType::kFloat});
  const Result<std::vector<Tensor>> got = Run({get, get.Output(1)});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[0].ToString(), "int64 [4] {-2, 1, 3, 3}");
  EXPECT_EQ((*got)[1].ToString(), "float [4] {4, 2, 1, 3}");
  ExpectError(Run({}, {Node("QueueEnqueueV2", {q, Float(1), Float(1)})}), Code::kInvalidArgument,
              "Type mismatch in tuple component 0. Expected int64, got float");
  const Expr bare = s.Add("PriorityQueueV2", std::vector<Expr>(),
                          {{"shapes", AttrValue(AttrValue::EmptyList{})}}, "bare");
  ASSERT_TRUE(Run({}, {Node("QueueEnqueueManyV2", {bare, priorities})}).ok());
  Expect(Dequeue(bare, "QueueDequeueV2", {DType::kInt64}), "int64 [] {-2}");
}

TEST_F(QueueOpsTest, ShuffleQueuesKeepSomeBack) {
  const Expr q = s.Add("RandomShuffleQueueV2", std::vector<Expr>(),
                       {{"component_types", std::vector<DType>{DType::kFloat}},
                        {"shapes", std::vector<Shape>{Shape()}},
                        {"min_after_dequeue", 2},
                        {"seed", 1}});
  ASSERT_TRUE(Run({}, {Node("QueueEnqueueManyV2", {q, Floats({1, 2, 3})})}).ok());
  ASSERT_TRUE(Run({Dequeue(q)}).ok());
  RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  ExpectError(Run({Dequeue(q)}, {}, {}, options), Code::kDeadlineExceeded, "");
  ASSERT_TRUE(Run({}, {Node("QueueCloseV2", {q})}).ok());
  ASSERT_TRUE(Run({DequeueMany(q, 2)}).ok());
}

TEST_F(QueueOpsTest, WrongElementsAreRefused) {
  const Expr q = Fifo(10, {2});
  const Expr x = s.Add("Placeholder", std::vector<Expr>(), {{"dtype", DType::kFloat}});
  const NodeId put = Node("QueueEnqueueV2", {q, x}), many = Node("QueueEnqueueManyV2", {q, x});
  const Tensor three = Tensor::FromValues<float>({3}, {1, 2, 3});
  ExpectError(Run({}, {put}, {{x, three}}), Code::kInvalidArgument,
              "Shape mismatch in tuple component 0. Expected [2], got [3]");
  ExpectError(Run({}, {many}, {{x, three}}), Code::kInvalidArgument,
              "Shape mismatch in tuple component 0. Expected [?,2], got [3]");
  ExpectError(Run({}, {many}, {{x, Tensor::Scalar(1.f)}}), Code::kInvalidArgument, "got []");
  ExpectError(Run({}, {Node("QueueEnqueueV2", {q, s.Constant(Tensor::Scalar(1))})}),
              Code::kInvalidArgument, "Type mismatch in tuple component 0. Expected float");
  ExpectError(Run({}, {Node("QueueEnqueueV2", {q, x, x})}, {{x, three}}), Code::kInvalidArgument,
              "Wrong number of components in tuple. Expected 1, got 2");
  ExpectError(Run({Dequeue(q, "QueueDequeueV2", {DType::kInt32})}), Code::kInvalidArgument,
              "must be of types");
  Expect(Op("QueueSizeV2", q), "int32 [] {0}");
  const std::vector<DType> two{DType::kFloat, DType::kFloat};
  const Expr pairs = s.Add("FIFOQueueV2", std::vector<Expr>(), {{"component_types", two}}, "pairs");
  ExpectError(Run({}, {Node("QueueEnqueueManyV2", {pairs, Floats({1}), Floats({1, 2})})}),
              Code::kInvalidArgument, "Component 1 has 2, and should have 1");
}

TEST_F(QueueOpsTest, BatchesOfNoneAndOfNegativeSize) {
  const Expr q = Fifo(10, {2});
  const Expr none = s.Constant(Tensor(DType::kFloat, Shape{0, 2}));
  ASSERT_TRUE(Run({}, {Node("QueueEnqueueManyV2", {q, none})}).ok());
  Expect(Op("QueueSizeV2", q), "int32 [] {0}");
  Expect(DequeueMany(q, 0), "float [0,2] {}");
  Expect(DequeueMany(q, 0, "QueueDequeueUpToV2"), "float [0,2] {}");
  ExpectError(Run({DequeueMany(q, -1)}), Code::kInvalidArgument, "-1 < 0 elements");
}

TEST_F(QueueOpsTest, ShapesAreCheckedWhenTheGraphIsBuilt) {
  const Expr q = Fifo(10);
  EXPECT_FALSE(DequeueManyWith(q, Floats({1})).ok());
}

TEST_F(QueueOpsTest, TimeoutsAreRefused) {
  const Expr q = Fifo(10);
  ExpectError(
      Run({Op("QueueDequeueV2", q,
              {{"component_types", std::vector<DType>{DType::kFloat}}, {"timeout_ms", 5}})}),
      Code::kInvalidArgument, "timeout_ms must be -1, got 5");
  ExpectError(Run({}, {Node("QueueEnqueueV2", {q, Float(1)}, {{"timeout_ms", 0}})}),
              Code::kInvalidArgument, "timeout_ms must be -1, got 0");
}

TEST_F(QueueOpsTest, ImpossibleQueuesAreRefused) {
  const std::vector<DType> one{DType::kFloat};
  auto refuse = [&](std::string_view op, AttrMap attrs, std::string_view text) {
    SetAttr(attrs, "component_types", one);
    ExpectError(Run({}, {s.Add(op, std::vector<Expr>(), attrs).ref().node}), Code::kInvalidArgument,
                text);
  };
  refuse("FIFOQueueV2", {{"shapes", std::vector<Shape>{{}, {}}}}, "1 components, got 2 shapes");
  refuse("FIFOQueueV2", {{"shapes", std::vector<Shape>{{-1}}}}, "fully known, got [?]");
  refuse("FIFOQueueV2", {{"capacity", 0}}, "capacity");
  refuse("PaddingFIFOQueueV2", {}, "Shapes must be provided for all components");
  refuse("PaddingFIFOQueueV2", {{"shapes", std::vector<Shape>{Shape::Unknown()}}}, "known rank");
  refuse("RandomShuffleQueueV2", {{"min_after_dequeue", -1}}, "must be >= 0");
  refuse("RandomShuffleQueueV2", {{"capacity", 5}, {"min_after_dequeue", 5}}, "must be < capacity");
}

TEST_F(QueueOpsTest, QueuesOfOneNameAreOne) {
  const AttrMap attrs = {{"component_types", std::vector<DType>{DType::kFloat}},
                         {"shapes", std::vector<Shape>{Shape()}},
                         {"capacity", 3},
                         {"shared_name", "same"}};
  const Expr a = s.Add("FIFOQueueV2", std::vector<Expr>(), attrs);
  const Expr b = s.Add("FIFOQueueV2", std::vector<Expr>(), attrs);
  ASSERT_TRUE(Run({}, {Node("QueueEnqueueV2", {a, Float(7)})}).ok());
  Expect(Dequeue(b), "float [] {7}");
  auto refuse = [&](std::string_view op, std::string name, AttrValue value, std::string_view text) {
    AttrMap other = attrs;
    SetAttr(other, name, std::move(value));
    ExpectError(Run({}, {s.Add(op, std::vector<Expr>(), other).ref().node}), Code::kInvalidArgument,
                text);
  };
  refuse("FIFOQueueV2", "capacity", 4, "has capacity 3 but requested capacity was 4");
  refuse("FIFOQueueV2", "component_types", std::vector<DType>{DType::kInt32},
         "has component types [float] but requested component types were [int32]");
  refuse("FIFOQueueV2", "shapes", std::vector<Shape>{{2}},
         "has component shapes {[]} but requested component shapes were {[2]}");
  refuse("PaddingFIFOQueueV2", "capacity", 3, "has type FIFOQueue but requested type was Padding");
  AttrMap elsewhere = attrs;
  SetAttr(elsewhere, "container", "elsewhere");
  const Expr c = s.Add("FIFOQueueV2", std::vector<Expr>(), elsewhere);
  ASSERT_TRUE(Run({}, {Node("QueueEnqueueV2", {a, Float(8)})}).ok());
  Expect(Op("QueueSizeV2", c), "int32 [] {0}");
  EXPECT_NE(state->DebugString().find("FIFOQueue 'same' with 1 elements"), std::string::npos)
      << state->DebugString();
}

TEST_F(QueueOpsTest, HostileHandlesAreRefused) {
  const Expr p = s.Add("Placeholder", std::vector<Expr>(), {{"dtype", DType::kResource}});
  const Expr get = Dequeue(p), size = Op("QueueSizeV2", p);
  Tensor handle = Tensor::Scalar(ResourceHandle());
  ExpectError(Run({get}, {}, {{p, handle}}), Code::kNotFound, "does not exist");
  ExpectError(Run({size}, {}, {{p, handle}}), Code::kNotFound, "does not exist");
  handle.mutable_data<ResourceHandle>()->resource = std::make_shared<StateVariable>(DType::kFloat);
  ExpectError(Run({get}, {}, {{p, handle}}), Code::kInvalidArgument, "must be a queue, got a");
  const Tensor none(DType::kResource, Shape{0});
  ExpectError(Run({get}, {}, {{p, none}}), Code::kInvalidArgument, "expected a handle of a queue");
  const Expr q = Fifo(10, {}, "FIFOQueue");
  const Tensor names = Tensor::FromValues<std::string>({2}, {"", "q"});
  ExpectError(Run({Dequeue(q, "QueueDequeue")}, {}, {{q, names}}), Code::kInvalidArgument,
              "expected a handle of a queue");
  // A handle that only names the queue finds it, also for a call that waits.
  const Expr named = Fifo(10, {}, "FIFOQueueV2", "named");
  ASSERT_TRUE(Run({}, {Node("QueueEnqueueV2", {named, Float(4)})}).ok());
  Tensor by_name = Tensor::Scalar(ResourceHandle());
  by_name.mutable_data<ResourceHandle>()->name = "named";
  const Result<std::vector<Tensor>> got = Run({get}, {}, {{p, by_name}});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[0].ToString(), "float [] {4}");
}

TEST_F(QueueOpsTest, ADeadlineEndsAWaitingStepOnly) {
  const Expr q = Fifo(10);
  const Expr get = Dequeue(q), get_many = DequeueMany(q, 3);
  const NodeId put = Node("QueueEnqueueV2", {q, Float(1)});
  std::thread waits([&] { Expect(get, "float [] {1}"); });
  RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  ExpectError(Run({get_many}, {}, {}, options), Code::kDeadlineExceeded, "");
  EXPECT_TRUE(Run({}, {put}).ok());
  waits.join();
}

TEST_F(QueueOpsTest, AFailingStepLeavesTheLine) {
  const Expr q = Fifo(10);
  const Expr get = Dequeue(q);
  const Expr bad = Fifo(10, {}, "FIFOQueueV2", "bad");
  ASSERT_TRUE(Run({}, {Node("QueueCloseV2", {bad})}).ok());
  ExpectError(Run({get, Dequeue(bad)}), Code::kOutOfRange, "is closed");
  ASSERT_TRUE(Run({}, {Node("QueueEnqueueV2", {q, Float(1)})}).ok());
  Expect(get, "float [] {1}");
}

// Four clients each way, all through one session.
TEST_F(QueueOpsTest, ConcurrentClientsMeet) {
  constexpr int kClients = 4, kSteps = 200;
  const Expr q = Fifo(3);
  const NodeId put = Node("QueueEnqueueV2", {q, Float(1)});
  const Expr get = Dequeue(q);
  ASSERT_TRUE(Run({}, {put}).ok());
  Expect(get, "float [] {1}");
  std::vector<std::thread> threads;
  for (int t = 0; t < kClients; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kSteps; ++i) ASSERT_TRUE(Run({}, {put}).ok());
    });
    threads.emplace_back([&] {
      for (int i = 0; i < kSteps; ++i) ASSERT_TRUE(Run({get}).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  Expect(Op("QueueSizeV2", q), "int32 [] {0}");
}

}  // namespace
}  // namespace penstock::ops
