#include "penstock/ops/queue/barrier.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "penstock/ops/queue/testing/call.h"
#include "penstock/ops/queue/testing/session_test.h"

namespace penstock::ops {
namespace {

class BarrierTest : public SessionTest {
 protected:
  const std::vector<DType> types{DType::kFloat, DType::kInt32};

  Expr MakeBarrier(AttrMap attrs = {}, std::string_view name = "b") {
    if (FindAttr(attrs, "component_types") == nullptr) SetAttr(attrs, "component_types", types);
    if (FindAttr(attrs, "shapes") == nullptr) {
      SetAttr(attrs, "shapes", std::vector<Shape>{Shape(), Shape{2}});
    }
    return s.Add("Barrier", std::vector<Expr>(), attrs, name);
  }
  Expr Keys(const std::vector<std::string>& keys) {
    return s.Constant(Tensor::FromValues<std::string>({static_cast<int64_t>(keys.size())}, keys));
  }
  Expr Pairs(std::initializer_list<int32_t> values) {
    return s.Constant(
        Tensor::FromValues<int32_t>({static_cast<int64_t>(values.size()) / 2, 2}, values));
  }
  NodeId Insert(const Expr& barrier, int component, const Expr& keys, const Expr& values) {
    return Node("BarrierInsertMany", {barrier, keys, values}, {{"component_index", component}});
  }
  Expr Take(const Expr& barrier, int32_t n, AttrMap attrs = {}) {
    if (FindAttr(attrs, "component_types") == nullptr) SetAttr(attrs, "component_types", types);
    return Op("BarrierTakeMany", barrier, s.Constant(Tensor::Scalar(n)), attrs);
  }
  // The keys and components that a take gave, or its error.
  std::string Taken(const Expr& take) {
    const Result<std::vector<Tensor>> got = Run({take.Output(1), take.Output(2), take.Output(3)});
    if (!got.ok()) return got.status().ToString();
    return (*got)[0].ToString() + " " + (*got)[1].ToString() + " " + (*got)[2].ToString();
  }
  void Ok(NodeId node) {
    const Result<std::vector<Tensor>> got = Run({}, {node});
    EXPECT_TRUE(got.ok()) << got.status().ToString();
  }
};

TEST_F(BarrierTest, ElementsAreReadyWhenAllComponentsAreThere) {
  const Expr b = MakeBarrier();
  const Expr ready = Op("BarrierReadySize", b), incomplete = Op("BarrierIncompleteSize", b);
  Ok(Insert(b, 0, Keys({"x", "y", "z"}), Floats({1, 2, 3})));
  Expect(ready, "int32 [] {0}");
  Expect(incomplete, "int32 [] {3}");
  Ok(Insert(b, 1, Keys({"z", "w"}), Pairs({5, 6, 7, 8})));
  Expect(ready, "int32 [] {1}");
  Expect(incomplete, "int32 [] {3}");
  Ok(Insert(b, 1, Keys({"x"}), Pairs({1, 2})));
  Ok(Insert(b, 0, Keys({"w"}), Floats({4})));
  // By the call that began them, then as they were completed.
  EXPECT_EQ(Taken(Take(b, 3)),
            "string [3] {\"z\", \"x\", \"w\"} float [3] {3, 1, 4} int32 [3,2] {5, 6, 1, 2, 7, 8}");
  Expect(incomplete, "int32 [] {1}");
  const Expr none = Take(b, 0);
  EXPECT_EQ(none.shape(), Shape({-1}));
  Expect(none, "int64 [0] {}");
}

TEST_F(BarrierTest, AClosedBarrierFinishesWhatIsBegun) {
  const Expr b = MakeBarrier();
  Ok(Insert(b, 0, Keys({"x", "y"}), Floats({1, 2})));
  const NodeId close = Node("BarrierClose", {b});
  Ok(close);
  ExpectError(Run({}, {close}), Code::kCancelled, "is already closed");
  ExpectError(Run({}, {Insert(b, 0, Keys({"new"}), Floats({1}))}), Code::kCancelled,
              "brand new key: new");
  EXPECT_EQ(Taken(Take(b, 3)).substr(0, 12), "OUT_OF_RANGE");
  ExpectError(Run({Take(b, 3)}), Code::kOutOfRange,
              "Barrier '_0_b' is closed and has insufficient elements (requested 3, total size 2)");
  ExpectError(Run({Take(b, 3, {{"allow_small_batch", true}})}), Code::kOutOfRange, "total size 0");
  Ok(Insert(b, 1, Keys({"y"}), Pairs({3, 4})));
  EXPECT_EQ(Taken(Take(b, 3, {{"allow_small_batch", true}})),
            "string [1] {\"y\"} float [1] {2} int32 [1,2] {3, 4}");
  Ok(Insert(b, 1, Keys({"x"}), Pairs({1, 2})));
  EXPECT_EQ(Taken(Take(b, 1)), "string [1] {\"x\"} float [1] {1} int32 [1,2] {1, 2}");
  ExpectError(Run({Take(b, 1)}), Code::kOutOfRange, "requested 1, total size 0");
  ExpectError(Run({}, {Insert(b, 1, Keys({"x"}), Pairs({1, 2}))}), Code::kCancelled, "is closed.");
}

TEST_F(BarrierTest, ASmallBatchMayWaitForWhatIsBegun) {
  const Expr b = MakeBarrier();
  const NodeId first = Insert(b, 0, Keys({"x"}), Floats({1}));
  const NodeId second = Insert(b, 1, Keys({"x"}), Pairs({1, 2}));
  const NodeId close = Node("BarrierClose", {b});
  const Expr take = Take(b, 5, {{"allow_small_batch", true}, {"wait_for_incomplete", true}});
  Ok(first);
  Ok(close);
  std::thread waits(
      [&] { EXPECT_EQ(Taken(take), "string [1] {\"x\"} float [1] {1} int32 [1,2] {1, 2}"); });
  Ok(second);
  waits.join();
}

TEST_F(BarrierTest, ACancellingCloseDropsWhatIsBegun) {
  const Expr b = MakeBarrier();
  Ok(Insert(b, 0, Keys({"x", "y"}), Floats({1, 2})));
  Ok(Insert(b, 1, Keys({"x"}), Pairs({1, 2})));
  Ok(Node("BarrierClose", {b}));
  const NodeId cancel = Node("BarrierClose", {b}, {{"cancel_pending_enqueues", true}});
  Ok(cancel);
  ExpectError(Run({}, {cancel}), Code::kCancelled, "already closed");
  Expect(Op("BarrierIncompleteSize", b), "int32 [] {0}");
  ExpectError(Run({}, {Insert(b, 1, Keys({"y"}), Pairs({3, 4}))}), Code::kCancelled, "is closed.");
  EXPECT_EQ(Taken(Take(b, 1)), "string [1] {\"x\"} float [1] {1} int32 [1,2] {1, 2}");
}

TEST_F(BarrierTest, CloseEndsWaitingTakes) {
  const Expr b = MakeBarrier();
  const Expr take = Take(b, 2);
  const NodeId close = Node("BarrierClose", {b});
  std::thread waits([&] { EXPECT_EQ(Taken(take).substr(0, 12), "OUT_OF_RANGE"); });
  Ok(close);
  waits.join();
}

TEST_F(BarrierTest, BadInsertsChangeNothing) {
  const Expr b = MakeBarrier();
  Ok(Insert(b, 0, Keys({"x"}), Floats({1})));
  ExpectError(Run({}, {Insert(b, 0, Keys({"y", "x"}), Floats({2, 3}))}), Code::kInvalidArgument,
              "Key x already has a value for component 0 in barrier");
  ExpectError(Run({}, {Insert(b, 0, Keys({"y", "y"}), Floats({2, 3}))}), Code::kInvalidArgument,
              "Key y already has a value");
  Expect(Op("BarrierIncompleteSize", b), "int32 [] {1}");
  ExpectError(Run({}, {Insert(b, 0, Keys({"y"}), Floats({2, 3}))}), Code::kInvalidArgument,
              "as many rows, got [1] and [2]");
  ExpectError(Run({}, {Insert(b, 0, Keys({"y"}), Float(2))}), Code::kInvalidArgument, "rows");
  ExpectError(Run({}, {Insert(b, 1, Keys({"y"}), Floats({2}))}), Code::kInvalidArgument,
              "must be int32 of shape [2], got float");
  for (const int component : {-1, 2}) {
    ExpectError(Run({}, {Insert(b, component, Keys({"y"}), Floats({2}))}), Code::kInvalidArgument,
                "component_index must be in [0, 2)");
  }
  Ok(Insert(b, 0, Keys({}), Floats({})));
  Expect(Op("BarrierIncompleteSize", b), "int32 [] {1}");
}

TEST_F(BarrierTest, BadNodesAreRefused) {
  auto refuse = [&](AttrMap attrs, std::string_view text) {
    ExpectError(Run({}, {MakeBarrier(std::move(attrs), "bad").ref().node}), Code::kInvalidArgument,
                text);
  };
  refuse({{"capacity", 5}}, "only accepts capacity=-1");
  refuse({{"shapes", std::vector<Shape>{{}}}}, "2 types, got 1 shapes");
  refuse({{"shapes", std::vector<Shape>{{}, {0}}}}, "received shape '[0]' at index 1");
  refuse({{"shapes", std::vector<Shape>{{-1}, {2}}}}, "received shape '[?]' at index 0");
  const Expr b = MakeBarrier({{"shared_name", "same"}});
  Ok(Insert(b, 0, Keys({"x"}), Floats({1})));
  refuse({{"shared_name", "same"}, {"shapes", std::vector<Shape>{{3}, {2}}}},
         "has shape [] of component 0 but requested shape was [3]");
  refuse({{"shared_name", "same"},
          {"component_types", std::vector<DType>{DType::kInt8, DType::kInt8}}},
         "has component types [float, int32]");
  ExpectError(Run({Take(b, -1)}), Code::kInvalidArgument, "must not be negative, got -1");
  ExpectError(Run({Take(b, 1, {{"timeout_ms", 5}})}), Code::kInvalidArgument, "Timeout");
  ExpectError(Run({Take(b, 1, {{"component_types", std::vector<DType>{DType::kFloat}}})}),
              Code::kInvalidArgument, "must be of types [float]");
  const Expr q = s.Add("FIFOQueue", std::vector<Expr>(), {{"component_types", types}});
  ExpectError(Run({Op("BarrierReadySize", q)}), Code::kInvalidArgument, "must be a barrier, got a");
}

TEST_F(BarrierTest, TellsAboutItself) {
  Barrier barrier("b", {DType::kFloat, DType::kFloat}, {Shape(), Shape()});
  ASSERT_TRUE(barrier.InsertMany({"x"}, 0, {Tensor::Scalar(1.f)}).ok());
  EXPECT_EQ(barrier.MemoryBytes(), 4u);
  EXPECT_EQ(barrier.DebugString(),
            "Barrier 'b' with 1 incomplete elements, open, over PriorityQueue 'b' with 0 elements, "
            "capacity unbounded, 0 waiting to enqueue, 0 to dequeue, open");
}

// Components come from several threads in any order; takers wait for them.
TEST_F(BarrierTest, ConcurrentInsertsAndTakesLoseNothing) {
  constexpr int kComponents = 3, kKeys = 2000, kBatch = 8;
  const auto barrier = std::make_shared<Barrier>(
      "b", std::vector<DType>(kComponents, DType::kInt32), std::vector<Shape>(kComponents));
  std::vector<std::thread> threads;
  std::atomic<int> taken{0};
  std::vector<std::atomic<int>> seen(kKeys);
  for (int c = 0; c < kComponents; ++c) {
    threads.emplace_back([&, c] {
      for (int i = 0; i < kKeys; ++i) {
        const int key = (i * 7 + c * 500) % kKeys;
        ASSERT_TRUE(barrier->InsertMany({std::to_string(key)}, c, {Tensor::Scalar(key)}).ok());
      }
    });
  }
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      while (taken.load() < kKeys) {
        Call call(kComponents + 2);
        ops::Done done = call.Done();
        const Status status = barrier->TakeMany(call.context(), kBatch, true, false, done);
        if (!status.ok()) break;
        if (t == 1) call.cancellation.Cancel(Cancelled("stop"));
        if (!call.Wait().ok()) {
          if (call.status.code() == Code::kOutOfRange) break;
          continue;
        }
        for (const int32_t key : call.output(2).values<int32_t>()) seen[key].fetch_add(1);
        taken.fetch_add(static_cast<int>(call.output(2).num_elements()));
      }
    });
  }
  for (int c = 0; c < kComponents; ++c) threads[c].join();
  EXPECT_TRUE(barrier->Close(false).ok());
  for (size_t t = kComponents; t < threads.size(); ++t) threads[t].join();
  EXPECT_EQ(taken.load(), kKeys);
  for (const std::atomic<int>& times : seen) EXPECT_EQ(times.load(), 1);
}

}  // namespace
}  // namespace penstock::ops
