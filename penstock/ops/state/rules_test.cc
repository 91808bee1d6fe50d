// What holds for state: who may see a value while it changes, how long state lives, and what a
// handle is worth that is old, forged or of another kind.
#include <thread>

#include "penstock/ops/state/testing/state_fixture.h"

namespace penstock::ops {
namespace {

class StateRulesTest : public StateFixture {
 protected:
  void Give(const Expr& handle, const Expr& value) {
    Do(Node("AssignVariableOp", {handle, value}));
  }
  std::shared_ptr<penstock::StateVariable> Find(std::string_view name,
                                                std::string_view container = "") {
    return std::dynamic_pointer_cast<penstock::StateVariable>(state->Find(container, name));
  }
  Tensor HandleOf(std::string_view container, std::string_view name) {
    Tensor tensor(DType::kResource, Shape());
    tensor.mutable_data<ResourceHandle>()->container = container;
    tensor.mutable_data<ResourceHandle>()->name = name;
    return tensor;
  }
};

TEST_F(StateRulesTest, UpdatesAreInPlaceAlsoFromAnotherVariable) {
  const Expr a = Handle({3}, DType::kFloat, "a"), b = Handle({3}, DType::kFloat, "b");
  const Expr r = Variable({3}, DType::kFloat, "r");
  Give(a, Floats({1, 2, 3}));
  Give(b, Floats({10, 20, 30}));
  Do(Op("Assign", r, Floats({1, 1, 1})));
  const NodeId add = Node("AssignAddVariableOp", {a, Read(b)});
  const Expr add_ref = Op("AssignAdd", r, Read(b));
  Do(add);  // away from the constants' memory
  Do(add_ref);
  const void* const memory = Find("a")->Read().raw();
  const void* const memory_ref = Find("r")->Read().raw();
  Do(add);
  Do(add_ref);
  EXPECT_EQ(Find("a")->Read().raw(), memory);
  EXPECT_EQ(Find("r")->Read().raw(), memory_ref);
  Expect(Read(a), "float [3] {21, 42, 63}");
  Expect(r, "float [3] {21, 41, 61}");
  Expect(Read(b), "float [3] {10, 20, 30}");
  const Tensor held = Find("a")->Read();
  Do(add);
  EXPECT_EQ(held.ToString(), "float [3] {21, 42, 63}");
  Expect(Read(a), "float [3] {31, 62, 93}");
}

TEST_F(StateRulesTest, AVariableMayBeAddedToItself) {
  const Expr a = Handle({2});
  Give(a, Floats({1, 2}));
  const NodeId twice = Node("AssignAddVariableOp", {a, Read(a)});
  Do(twice);
  Do(twice);
  Expect(Read(a), "float [2] {4, 8}");
}

// With and without use_locking: no update is lost, and no reader sees half of one.
TEST_F(StateRulesTest, ConcurrentLockedUpdatesAreAllCounted) {
  constexpr int kThreads = 4, kSteps = 100, kElements = 5000;
  Tensor zeros(DType::kInt64, {kElements}), ones(DType::kInt64, {kElements});
  std::fill_n(zeros.mutable_data<int64_t>(), kElements, 0);
  std::fill_n(ones.mutable_data<int64_t>(), kElements, 1);
  const Expr v = Variable({kElements}, DType::kInt64);
  Do(Op("Assign", v, s.Constant(zeros)));
  const Expr locked = Op("AssignAdd", v, s.Constant(ones), {{"use_locking", true}});
  const Expr unlocked = Op("AssignAdd", v, s.Constant(ones), {{"use_locking", false}});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kSteps; ++i) {
        EXPECT_TRUE(Run({}, {(t % 2 == 0 ? locked : unlocked).ref().node}).ok());
        const Result<std::vector<Tensor>> got = Run({v});
        ASSERT_TRUE(got.ok());
        const auto values = (*got)[0].values<int64_t>();
        for (const int64_t x : values) ASSERT_EQ(x, values[0]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Find("v")->Read().data<int64_t>()[0], kThreads * kSteps);
}

TEST_F(StateRulesTest, AStaleHandleFailsAndDoesNotWriteWhereNobodyReads) {
  const Expr h = Handle({2});
  Give(h, Floats({1, 2}));
  const Expr p = Fed(DType::kResource);
  const Expr read = Read(p);
  const NodeId add = Node("AssignAddVariableOp", {p, Floats({1, 1})});
  const NodeId scatter = Node("ResourceScatterAdd", {p, Int32s({0}), Floats({1})});
  const NodeId assign = Node("AssignVariableOp", {p, Floats({5, 6})});
  const NodeId destroy = Node("DestroyResourceOp", {p}, {{"ignore_lookup_error", false}});
  const Expr is_there = Op("VarIsInitializedOp", p);
  for (const bool by_reset : {true, false}) {
    Give(h, Floats({1, 2}));
    const Result<std::vector<Tensor>> handle = Run({h});
    ASSERT_TRUE(handle.ok());
    const Feeds feeds = {{p, (*handle)[0]}};
    EXPECT_TRUE(Run({read}, {}, feeds).ok());
    if (by_reset) {
      ASSERT_TRUE(session->Reset({}).ok());
    } else {
      Do(destroy, feeds);
    }
    ExpectError(Run({read}, {}, feeds), Code::kFailedPrecondition, "Could not find variable h.");
    ExpectError(Run({}, {add}, feeds), Code::kFailedPrecondition, "Could not find variable h.");
    ExpectError(Run({}, {scatter}, feeds), Code::kFailedPrecondition, "Could not find variable h.");
    ExpectError(Run({}, {destroy}, feeds), Code::kNotFound, "does not exist");
    EXPECT_FALSE(Run({is_there}, {}, feeds)->at(0).scalar<bool>());
    // Assigning makes the variable again, under its name.
    Do(assign, feeds);
    Expect(Read(h), "float [2] {5, 6}");
  }
}

TEST_F(StateRulesTest, ForgedHandlesAreRefused) {
  const Expr p = Fed(DType::kResource);
  const Expr read = Read(p);
  const NodeId add = Node("AssignAddVariableOp", {p, Floats({1, 1})});
  const NodeId assign = Node("AssignVariableOp", {p, Floats({5, 6})});
  const NodeId scatter =
      Node("ResourceScatterNdAdd", {p, Const<int32_t>({1, 1}, {0}), Floats({1})});
  const NodeId slice =
      Node("ResourceStridedSliceAssign", {p, Int32s({0}), Int32s({1}), Int32s({1}), Floats({1})});
  const Expr gather = Op("ResourceGather", p, Int32s({0}), {{"dtype", DType::kFloat}});
  const Expr lock = Op("MutexLock", p);
  const Expr count = Op("ResourceAccumulatorNumAccumulated", p);
  const Expr take = Op("ResourceAccumulatorTakeGradient", p, Scalar(1), {{"dtype", DType::kFloat}});
  Do(Node("AssignVariableOp", {Handle({2}), Floats({1, 2})}));
  Do(Source("MutexV2", {}, "m"));

  const Feeds invented = {{p, HandleOf("", "invented")}};
  for (const NodeId node : {add, assign, scatter, slice, read.ref().node, gather.ref().node}) {
    ExpectError(Run({}, {node}, invented), Code::kFailedPrecondition,
                "Could not find variable invented. This could mean that the variable has been "
                "deleted. In TF1, it can also mean the variable is uninitialized. Debug info: "
                "container=localhost");
  }
  const Feeds empty = {{p, Tensor(DType::kResource, Shape{0})}};
  const Feeds two = {{p, Tensor(DType::kResource, Shape{2})}};
  const Feeds mutex = {{p, HandleOf("localhost", "m")}};
  for (const NodeId node : {add, assign, scatter, slice, read.ref().node, gather.ref().node}) {
    ExpectError(Run({}, {node}, empty), Code::kInvalidArgument, "expected a handle of a variable");
    ExpectError(Run({}, {node}, two), Code::kInvalidArgument, "expected a handle of a variable");
    ExpectError(Run({}, {node}, mutex), Code::kInvalidArgument, "must be a variable, got a mutex");
  }
  const Feeds variable = {{p, HandleOf("", "h")}};
  for (const Expr& expr : {lock, count, take}) {
    ExpectError(Run({expr}, {}, invented), Code::kNotFound,
                "Resource localhost/invented does not exist.");
    ExpectError(Run({expr}, {}, empty), Code::kInvalidArgument, "expected a handle of a ");
    ExpectError(Run({expr}, {}, variable), Code::kInvalidArgument, "got a variable float [2]");
  }
  // A handle with nothing but the right name is enough.
  EXPECT_TRUE(Run({read}, {}, variable).ok());
  // Feeds of another dtype do not get that far.
  ExpectError(Run({read}, {}, {{p, Tensor::Scalar(1.f)}}), Code::kInvalidArgument, "must be");
}

// A placeholder says what shape the handle has, not the value behind it.
TEST_F(StateRulesTest, AFedHandleIsAScalarWhateverItPointsAt) {
  Give(Handle({2}), Floats({1, 2}));
  const Expr p = Source("Placeholder", {{"dtype", DType::kResource}, {"shape", Shape()}});
  const Expr read = Read(p);
  EXPECT_FALSE(read.shape().has_rank());
  const Result<std::vector<Tensor>> got = Run({read}, {}, {{p, HandleOf("", "h")}});
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ((*got)[0].ToString(), "float [2] {1, 2}");
}

TEST_F(StateRulesTest, SharedStateOutlivesASessionAndPrivateStateDoesNot) {
  const Expr h = Handle({2});
  Give(h, Floats({1, 2}));
  const Expr read = Read(h);
  session.reset();
  Expect(read, "float [2] {1, 2}");
  const auto own = MakeLocalSession(graph);
  ExpectError(RunIn(*own, {read}), Code::kFailedPrecondition, "Could not find variable h");
}

TEST_F(StateRulesTest, ContainersAreResetByName) {
  const auto in = [&](std::string container) {
    return Source("VarHandleOp", {{"shape", Shape{2}},
                                  {"dtype", DType::kFloat},
                                  {"container", container},
                                  {"shared_name", "x"}});
  };
  const Expr a = in("a"), b = in("b"), none = in("");
  const Expr counts[] = {Read(a), Read(b), Read(none)};
  for (const Expr& h : {a, b, none}) Give(h, Floats({1, 2}));
  EXPECT_EQ(state->Containers(), (std::vector<std::string>{"a", "b", "localhost"}));
  EXPECT_EQ(state->MemoryByContainer(),
            (std::map<std::string, size_t>{{"a", 8}, {"b", 8}, {"localhost", 8}}));
  const std::vector<std::string> names = {"a", "nowhere"};
  ASSERT_TRUE(session->Reset(names).ok());
  ExpectError(Run({counts[0]}), Code::kFailedPrecondition, "container=a");
  EXPECT_TRUE(Run({counts[1]}).ok());
  EXPECT_TRUE(Run({counts[2]}).ok());
  ASSERT_TRUE(session->Reset({}).ok());
  EXPECT_TRUE(Run({counts[1]}).ok());
  ExpectError(Run({counts[2]}), Code::kFailedPrecondition, "container=localhost");
}

// Steps of all kinds of state while their container is reset: they end, well or with an error that
// says what is gone.
TEST_F(StateRulesTest, ConcurrentResetsAreSurvived) {
  const Expr h = Handle({2});
  const NodeId assign = Node("AssignVariableOp", {h, Floats({1, 2})});
  const NodeId add = Node("AssignAddVariableOp", {h, Floats({1, 2})}, {}, {assign});
  const NodeId scatter = Node("ResourceScatterAdd", {h, Int32s({1}), Floats({1})}, {}, {assign});
  const Expr mutex = Source("MutexV2", {});
  const NodeId consume = Node("ConsumeMutexLock", {Op("MutexLock", mutex)});
  const Expr sum =
      Source("ResourceConditionalAccumulator", {{"dtype", DType::kFloat}, {"shape", Shape{2}}});
  const NodeId apply =
      Node("ResourceAccumulatorApplyGradient", {sum, Scalar(int64_t{1} << 60), Floats({1, 2})});
  const Expr taken = s.After({apply}).Add("ResourceAccumulatorTakeGradient", {sum, Scalar(1)},
                                          {{"dtype", DType::kFloat}});
  ASSERT_TRUE(Run({}, {assign}).ok());
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        if (t == 0) {
          EXPECT_TRUE(session->Reset({}).ok());
          continue;
        }
        RunOptions options;
        options.timeout = std::chrono::milliseconds(20000);
        const std::vector<NodeId> targets[] = {{add}, {scatter}, {consume}};
        for (const std::vector<NodeId>& nodes : targets) {
          const Result<std::vector<Tensor>> got = Run({}, nodes, {}, options);
          const Code code = got.status().code();
          EXPECT_TRUE(got.ok() || code == Code::kFailedPrecondition || code == Code::kNotFound)
              << got.status().ToString();
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(Run({taken}).ok());
}

TEST_F(StateRulesTest, SlicesAreAssigned) {
  const Expr h = Handle({2, 3});
  const Expr v = Variable({2, 3});
  const Expr before = Const<float>({2, 3}, {1, 2, 3, 4, 5, 6});
  Give(h, before);
  Do(Op("Assign", v, before));
  const Expr x = Fed(DType::kFloat);
  // [:, ::-2], then [1, 1:].
  const std::vector<Expr> columns = {Int32s({0, 0}), Int32s({0, 0}), Int32s({1, -2})};
  const AttrMap all = {{"begin_mask", 3}, {"end_mask", 3}};
  const Expr four = Const<float>({2, 2}, {10, 20, 30, 40});
  Do(Node("ResourceStridedSliceAssign", {h, columns[0], columns[1], columns[2], four}, all));
  Expect(Read(h), "float [2,3] {20, 2, 10, 40, 5, 30}");
  Expect(s.Add("StridedSliceAssign", {v, columns[0], columns[1], columns[2], four}, all),
         "float [2,3] {20, 2, 10, 40, 5, 30}");
  const std::vector<Expr> row = {Int32s({1, 1}), Int32s({2, 0}), Int32s({1, 1})};
  const AttrMap one = {{"end_mask", 2}, {"shrink_axis_mask", 1}};
  const NodeId assign = Node("ResourceStridedSliceAssign", {h, row[0], row[1], row[2], x}, one);
  Do(assign, {{x, Tensor::FromValues<float>({2}, {7, 8})}});
  Expect(Read(h), "float [2,3] {20, 2, 10, 40, 7, 8}");
  ExpectError(Run({}, {assign}, {{x, Tensor::FromValues<float>({3}, {7, 8, 9})}}),
              Code::kUnimplemented,
              "sliced l-value shape [2] does not match r-value shape [3]. Automatic broadcasting "
              "not yet implemented.");
  // Nothing, and a variable that is not there.
  Do(Node("ResourceStridedSliceAssign",
          {h, Int32s({1}), Int32s({1}), Int32s({1}), Const<float>({0, 3}, {})}));
  Expect(Read(h), "float [2,3] {20, 2, 10, 40, 7, 8}");
  const Expr w = Variable({3}, DType::kFloat, "w");
  ExpectError(
      Run({s.Add("StridedSliceAssign", {w, Int32s({0}), Int32s({1}), Int32s({1}), Floats({1})})}),
      Code::kFailedPrecondition, "Attempting to use uninitialized value w");
  // A part of itself.
  const Expr shifted = s.Add("StridedSlice", {Read(h), Int32s({0}), Int32s({1}), Int32s({1})});
  Do(Node("ResourceStridedSliceAssign", {h, Int32s({1}), Int32s({2}), Int32s({1}), shifted}));
  Expect(Read(h), "float [2,3] {20, 2, 10, 20, 2, 10}");
}

TEST_F(StateRulesTest, BadSlicesAreRefusedByTheGraph) {
  ExpectRefused(s.Add("StridedSliceAssign",
                      {Variable({3}), Int32s({0}), Int32s({2}), Int32s({1}), Floats({1, 2, 3})}),
                "sliced l-value shape [2]");
}

TEST_F(StateRulesTest, RowsAreGatheredFromAVariable) {
  const Expr h = Handle({3, 2});
  Give(h, Const<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  const AttrMap attrs = {{"dtype", DType::kFloat}};
  const Expr rows = Op("ResourceGather", h, Int32s({2, 0}), attrs);
  EXPECT_EQ(rows.shape(), Shape({2, 2}));
  Expect(rows, "float [2,2] {5, 6, 1, 2}");
  Expect(Op("ResourceGather", h, Const<int64_t>({0}, {}), attrs), "float [0,2] {}");
  Expect(Op("ResourceGather", h, Const<int32_t>({3, 1}, {1, 0, 1}),
            {{"dtype", DType::kFloat}, {"batch_dims", 1}}),
         "float [3,1] {2, 3, 6}");
  ExpectError(Run({Op("ResourceGather", h, Int32s({0, 3}), attrs)}), Code::kInvalidArgument,
              "indices[1] = 3 is not in [0, 3)");
  Expect(Op("ResourceGatherNd", h, Const<int32_t>({2, 2}, {0, 1, 2, 0}), attrs),
         "float [2] {2, 5}");
  ExpectError(Run({Op("ResourceGatherNd", h, Const<int32_t>({1, 2}, {0, 2}), attrs)}),
              Code::kInvalidArgument, "indices[0] = [0, 2] does not index into shape [3,2]");
  // Whoever gives the variable another shape finds out here.
  Find("h")->Write(Tensor::FromValues<float>({3}, {1, 2, 3}));
  ExpectError(Run({rows + rows}), Code::kInvalidArgument, "must have shape [2,2], got [2]");
  const Expr unknown = Handle(Shape::Unknown(), DType::kFloat, "unknown");
  EXPECT_FALSE(Op("ResourceGather", unknown, Int32s({0}), attrs).shape().has_rank());
  ExpectError(Run({Op("ResourceGather", unknown, Int32s({0}), attrs)}), Code::kFailedPrecondition,
              "Could not find variable unknown");
}

TEST_F(StateRulesTest, GatheringHasAGradient) {
  const Expr h = Handle({3, 2});
  Give(h, Const<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  const AttrMap attrs = {{"dtype", DType::kFloat}};
  const auto gradient_of = [&](const Expr& gathered, const Expr& dy) {
    const penstock::Node& node = graph.node(gathered.ref().node);
    Gradients gradients(&s, graph, gathered.ref().node, {dy});
    const Status status = node.op->gradient(node.decoded.get(), gradients);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return gradients.results()[0];
  };
  Expect(gradient_of(Op("ResourceGather", h, Int32s({2, 2}), attrs),
                     Const<float>({2, 2}, {1, 2, 3, 4})),
         "float [3,2] {0, 0, 0, 0, 4, 6}");
  Expect(gradient_of(Op("ResourceGatherNd", h, Const<int64_t>({1, 2}, {1, 0}), attrs), Floats({5})),
         "float [3,2] {0, 0, 5, 0, 0, 0}");
}

TEST_F(StateRulesTest, ManyVariablesByOneNode) {
  const AttrMap attrs = {{"N", 2},
                         {"containers", std::vector<std::string>{"", "c"}},
                         {"shared_names", std::vector<std::string>{"x", "y"}},
                         {"dtypes", std::vector<DType>{DType::kFloat, DType::kInt32}},
                         {"shapes", std::vector<Shape>{Shape{2}, Shape()}}};
  const Expr x = Source("_VarHandlesOp", attrs), y = x.Output(1);
  const AttrMap types = {{"dtypes", std::vector<DType>{DType::kFloat, DType::kInt32}}};
  const Expr read = s.Add("_ReadVariablesOp", {x, y}, types);
  ExpectError(Run({read}), Code::kFailedPrecondition, "Could not find variable x");
  Give(x, Floats({1, 2}));
  Give(y, Scalar(3));
  Expect(read, "float [2] {1, 2}");
  Expect(read.Output(1), "int32 [] {3}");
  EXPECT_NE(Find("y", "c"), nullptr);
  Do(Node("DisableCopyOnRead", {x}));
  const Expr count = Op("ResourceCountUpTo", y, {{"limit", 5}, {"T", DType::kInt32}});
  Expect(count, "int32 [] {3}");
  Expect(count, "int32 [] {4}");
  ExpectError(Run({count}), Code::kOutOfRange, "Reached limit of 5");
  AttrMap short_names = attrs;
  SetAttr(short_names, "shared_names", std::vector<std::string>{"x"});
  ExpectError(Run({Source("_VarHandlesOp", short_names)}), Code::kInvalidArgument,
              "must each have N = 2 elements, got 1");
}

}  // namespace
}  // namespace penstock::ops
