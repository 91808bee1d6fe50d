#include "penstock/ops/queue/map_stage.h"

#include <gtest/gtest.h>

#include <thread>

#include "penstock/ops/queue/testing/call.h"
#include "penstock/ops/queue/testing/session_test.h"

namespace penstock::ops {
namespace {

class MapStageTest : public SessionTest, public testing::WithParamInterface<std::string> {
 protected:
  std::string Name(const std::string& op) { return GetParam() + op; }
  AttrMap Attrs(std::vector<DType> dtypes) {
    return {{"dtypes", std::move(dtypes)},
            {"capacity", capacity},
            {"memory_limit", memory_limit},
            {"shared_name", "map"}};
  }
  Expr Key(int64_t key) { return s.Constant(Tensor::Scalar(key)); }
  Expr Indices(const std::vector<int32_t>& indices) {
    return s.Constant(Tensor::FromValues<int32_t>({static_cast<int64_t>(indices.size())}, indices));
  }
  NodeId Put(int64_t key, const std::vector<int32_t>& indices, const std::vector<Expr>& values) {
    std::vector<Expr> inputs{Key(key), Indices(indices)};
    inputs.insert(inputs.end(), values.begin(), values.end());
    return Node(Name("MapStage"), inputs, Attrs(types));
  }
  Expr Get(int64_t key, const std::vector<int32_t>& indices, std::vector<DType> dtypes,
           const std::string& op = "MapUnstage") {
    return Op(Name(op), Key(key), Indices(indices), Attrs(std::move(dtypes)));
  }
  Expr Size(const std::string& op = "MapSize") {
    return s.Add(Name(op), std::vector<Expr>(), Attrs(types));
  }
  Expr NoKey() { return s.Constant(Tensor::FromValues<int64_t>({1}, {1})); }  // no key
  Expr Int(int32_t value) { return s.Constant(Tensor::Scalar(value)); }
  void Ok(NodeId node) {
    const Result<std::vector<Tensor>> got = Run({}, {node});
    EXPECT_TRUE(got.ok()) << got.status().ToString();
  }
  void Waits(const std::vector<Expr>& fetches, const std::vector<NodeId>& targets = {}) {
    RunOptions options;
    options.timeout = std::chrono::milliseconds(20);
    ExpectError(Run(fetches, targets, {}, options), Code::kDeadlineExceeded, "");
  }

  const std::vector<DType> types{DType::kFloat, DType::kInt32};
  int64_t capacity = 0, memory_limit = 0;
};

TEST_P(MapStageTest, ElementsAreFoundByKey) {
  Ok(Put(7, {0, 1}, {Float(1), Int(2)}));
  Ok(Put(3, {0, 1}, {Float(3), Int(4)}));
  Expect(Size(), "int32 [] {2}");
  Expect(Get(7, {1}, {DType::kInt32}, "MapPeek"), "int32 [] {2}");
  const Expr both = Get(7, {0, 1}, types);
  const Result<std::vector<Tensor>> got = Run({both, both.Output(1)});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[0].ToString() + (*got)[1].ToString(), "float [] {1}int32 [] {2}");
  Waits({Get(7, {0, 1}, types)});
  Expect(Size(), "int32 [] {1}");
  Ok(Node(Name("MapClear"), {}, Attrs(types)));
  Expect(Size(), "int32 [] {0}");
}

TEST_P(MapStageTest, WithoutAKeyTheSmallestLeaves) {
  for (const int64_t key : {5, 2, 9}) {
    Ok(Put(key, {0, 1}, {Float(static_cast<float>(key)), Int(0)}));
  }
  const Expr next = Op(Name("MapUnstageNoKey"), Indices({0, 1}), Attrs(types));
  EXPECT_EQ(next.shape(), Shape());
  for (const char* want : {"2", "5", "9"}) {
    const Result<std::vector<Tensor>> got = Run({next, next.Output(1)});
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    EXPECT_EQ((*got)[0].ToString(), std::string("int64 [] {") + want + "}");
    EXPECT_EQ((*got)[1].ToString(), std::string("float [] {") + want + "}");
  }
  Waits({next});
}

TEST_P(MapStageTest, ComponentsComeAndLeaveOneByOne) {
  Ok(Put(1, {1}, {Int(5)}));
  Expect(Size("MapIncompleteSize"), "int32 [] {1}");
  Expect(Size(), "int32 [] {0}");
  Waits({Get(1, {1}, {DType::kInt32})});
  ExpectError(Run({}, {Put(1, {1}, {Int(6)})}), Code::kInvalidArgument,
              "The tensor for index '1' for key '1' was already initialized");
  Ok(Put(1, {0}, {Float(4)}));
  Expect(Size("MapIncompleteSize"), "int32 [] {0}");
  Expect(Get(1, {0}, {DType::kFloat}), "float [] {4}");
  Expect(Size(), "int32 [] {1}");
  ExpectError(Run({Get(1, {0, 1}, types)}), Code::kInvalidArgument,
              "Tensor at index '0' for key '1' has already been removed.");
  Expect(Get(1, {1}, {DType::kInt32}), "int32 [] {5}");
  Expect(Size(), "int32 [] {0}");
}

TEST_P(MapStageTest, LimitsMakePuttersWait) {
  capacity = 1;
  Ok(Put(1, {0, 1}, {Float(1), Int(1)}));
  const NodeId second = Put(2, {0, 1}, {Float(2), Int(2)});
  Waits({}, {second});
  Ok(Put(2, {0}, {Float(2)}));  // what is incomplete takes no place yet
  const NodeId rest = Put(2, {1}, {Int(3)});
  const Expr one = Get(1, {0, 1}, types), two = Get(2, {1}, {DType::kInt32});
  std::thread waits([&] { Ok(rest); });
  Expect(one, "float [] {1}");
  waits.join();
  Expect(two, "int32 [] {3}");
}

TEST_P(MapStageTest, MemoryIsBounded) {
  memory_limit = 8;
  Ok(Put(1, {0, 1}, {Float(1), Int(1)}));
  Waits({}, {Put(2, {0}, {Float(1)})});
  ExpectError(Run({}, {Put(2, {0, 1}, {Floats({1, 2}), Int(1)})}), Code::kResourceExhausted,
              "memory limit of '8'");
  Expect(Get(1, {0, 1}, types), "float [] {1}");
  Ok(Put(2, {0}, {Float(1)}));
}

TEST_P(MapStageTest, BadCallsAreRefused) {
  Ok(Put(1, {0, 1}, {Float(1), Int(1)}));
  ExpectError(Run({}, {Put(1, {0, 1}, {Float(1), Int(1)})}), Code::kAlreadyExists, "key 1");
  ExpectError(Run({}, {Put(2, {1, 0}, {Int(1), Float(1)})}), Code::kInvalidArgument,
              "Indices are not strictly ordered");
  ExpectError(Run({}, {Put(2, {0}, {Float(1), Int(1)})}), Code::kInvalidArgument,
              "1 indices, got 2 values");
  ExpectError(Run({}, {Put(2, {2}, {Float(1)})}), Code::kInvalidArgument, "out of bounds '2'");
  ExpectError(Run({}, {Put(2, {-1}, {Float(1)})}), Code::kInvalidArgument, "'-1'");
  ExpectError(Run({}, {Put(2, {0}, {Int(1)})}), Code::kInvalidArgument, "must be float, got int32");
  ExpectError(Run({Get(1, {2}, {DType::kFloat})}), Code::kInvalidArgument,
              "Index '2' for key '1' was out of bounds '2'.");
  ExpectError(Run({Get(1, {0}, {DType::kInt32})}), Code::kInvalidArgument, "must be int32");
  ExpectError(Run({Get(1, {0}, types)}), Code::kInvalidArgument, "2 outputs, got 1 indices");
  ExpectError(Run({}, {Node(Name("MapStage"), {NoKey(), Indices({0}), Float(1)}, Attrs(types))}),
              Code::kInvalidArgument, "key");
  EXPECT_FALSE(AddNode(Name("MapUnstage"), {NoKey(), Indices({0})}, Attrs(types)).ok());
  Expect(Get(1, {0, 1}, types), "float [] {1}");
}

INSTANTIATE_TEST_SUITE_P(Forms, MapStageTest, testing::Values("", "Ordered"),
                         [](const auto& info) { return info.param + "Map"; });

// Components of a key come from different threads; other threads wait for the key.
TEST(StagingMap, ConcurrentPuttersAndGettersMeet) {
  constexpr int kKeys = 2000;
  const auto map = std::make_shared<StagingMap>(StageLimits{0, 0});
  const std::vector<DType> dtypes{DType::kInt32, DType::kInt32};
  std::vector<std::thread> threads;
  for (int32_t component = 0; component < 2; ++component) {
    threads.emplace_back([&, component] {
      for (int key = 0; key < kKeys; ++key) {
        Call call(0);
        ops::Done done = call.Done();
        const int mine = component == 0 ? key : kKeys - 1 - key;
        ASSERT_TRUE(
            map->Put(call.context(), mine, {component}, {Tensor::Scalar(mine)}, 2, done).ok());
        ASSERT_TRUE(call.Wait().ok());
      }
    });
    threads.emplace_back([&, component] {
      for (int key = component; key < kKeys; key += 2) {
        Call call(2);
        ops::Done done = call.Done();
        ASSERT_TRUE(map->Get(call.context(), key, {0, 1}, false, dtypes, done).ok());
        ASSERT_TRUE(call.Wait().ok());
        ASSERT_EQ(*call.output(1).data<int32_t>(), key);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(map->size() + map->incomplete_size(), 0);
  EXPECT_EQ(map->MemoryBytes(), 0u);
}

}  // namespace
}  // namespace penstock::ops
