// Functions in which something waits: they hold no thread meanwhile, and go on when it is answered.

#include <gtest/gtest.h>

#include <thread>

#include "penstock/graph/scope.h"
#include "penstock/graph/testing/functions.h"
#include "penstock/session/session.h"

namespace penstock {
namespace {

using Tensors = std::vector<Tensor>;

// A queue of int32 and a loop that adds up what it takes from it until the sum is `limit`.
struct Summing {
  Graph graph;
  Scope scope{graph};
  Expr queue, loop;
  std::unique_ptr<SessionBackend> session;

  explicit Summing(int32_t limit, bool calls = false) {
    const std::vector<DType> int32{DType::kInt32};
    const std::vector<TestArg> args{{"q", DType::kResource}, {"s", DType::kInt32}};
    AddFunction(
        graph,
        MakeFunction("below", args, {{"r", DType::kBool, "less:z:0"}},
                     {ConstNode("limit", Tensor::Scalar(limit)),
                      MakeNode("less", "Less", {"s", "limit:output:0"}, {{"T", DType::kInt32}})}));
    AddFunction(graph,
                MakeFunction("take", {args[0]}, {{"r", DType::kInt32, "d:components:0"}},
                             {MakeNode("d", "QueueDequeueV2", {"q"}, {{"component_types", int32}})},
                             {}, true));
    AddFunction(
        graph,
        MakeFunction("add", args, {{"q2", DType::kResource, "q"}, {"s2", DType::kInt32, "a:z:0"}},
                     {MakeNode("t", "take", {"q"}),
                      MakeNode("a", "AddV2", {"s", "t:r:0"}, {{"T", DType::kInt32}})},
                     {}, true));
    queue = scope.Add("FIFOQueueV2", {}, {{"component_types", int32}, {"shared_name", "q"}}, "q");
    loop =
        scope.Add("While", {queue, scope.Constant(Tensor::Scalar(0))},
                  {{"cond", FunctionName{"below", {}}}, {"body", FunctionName{"add", {}}}}, "loop");
    EXPECT_TRUE(scope.status().ok()) << scope.status().ToString();
    LocalSessionOptions options;
    options.threads = 2;
    if (calls) options.disabled_passes = {"inline"};
    session = MakeLocalSession(graph, options);
  }
  NodeId Enqueue(const Tensor& values) {
    const Expr many = scope.Add("QueueEnqueueManyV2", {queue, scope.Constant(values)});
    EXPECT_TRUE(scope.status().ok()) << scope.status().ToString();
    return many.ref().node;
  }
  Result<Tensors> Run(const std::vector<OutputRef>& fetches, const std::vector<NodeId>& targets,
                      const RunOptions& options = {}) {
    return session->Run({{}, fetches, targets}, {}, options, nullptr);
  }
};

Tensor Ones(int64_t count) {
  Tensor ones(DType::kInt32, Shape{count});
  for (int32_t& one : ones.mutable_values<int32_t>()) one = 1;
  return ones;
}

TEST(WaitingFunction, ConcurrentLoopGoesOnWhenItsBodyIsAnswered) {
  for (const bool calls : {false, true}) {
    Summing p(200, calls);
    const NodeId one = p.Enqueue(Ones(1));
    ASSERT_TRUE(p.Run({}, {one}).ok());
    Result<Tensors> out = Internal("did not run");
    std::thread looping([&] { out = p.Run({p.loop.Output(1).ref()}, {}); });
    for (int i = 1; i < 200; ++i) EXPECT_TRUE(p.Run({}, {one}).ok());
    looping.join();
    ASSERT_TRUE(out.ok()) << out.status().ToString();
    EXPECT_EQ((*out)[0].scalar<int32_t>(), 200);
  }
}

// What is answered at once does not grow the stack.
TEST(WaitingFunction, ManyIterationsThatNeedNotWait) {
  Summing p(30'000);
  ASSERT_TRUE(p.Run({}, {p.Enqueue(Ones(30'000))}).ok());
  Result<Tensors> out = p.Run({p.loop.Output(1).ref()}, {});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ((*out)[0].scalar<int32_t>(), 30'000);
}

TEST(WaitingFunction, DeadlineEndsTheWait) {
  Summing p(10);
  RunOptions options;
  options.timeout = std::chrono::milliseconds(20);
  const Status status = p.Run({p.loop.Output(1).ref()}, {}, options).status();
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded) << status.ToString();
  EXPECT_NE(status.message().find("{{node loop}}"), std::string::npos) << status.ToString();
}

TEST(WaitingFunction, ConcurrentCloseEndsTheWait) {
  Summing p(10);
  Status status;
  std::thread looping([&] { status = p.Run({p.loop.Output(1).ref()}, {}).status(); });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_TRUE(p.session->Close().ok());
  looping.join();
  EXPECT_FALSE(status.ok());
}

// The first error is the step's, though the call's own nodes are cancelled by it too.
TEST(WaitingFunction, AFailureInsideIsTheErrorOfTheStep) {
  Summing p(10, true);
  AddFunction(p.graph,
              MakeFunction("fails", {{"q", DType::kResource}, {"x", DType::kInt32}}, {},
                           {MakeNode("d", "QueueDequeueV2", {"q"},
                                     {{"component_types", std::vector<DType>{DType::kInt32}}}),
                            ConstNode("two", Tensor::FromValues<int32_t>(Shape{1}, {2})),
                            MakeNode("bad", "Reshape", {"x", "two:output:0"},
                                     {{"T", DType::kInt32}, {"Tshape", DType::kInt32}})},
                           {"bad"}, true));
  const Expr call = p.scope.Add("fails", {p.queue, p.scope.Constant(Tensor::Scalar(1))});
  ASSERT_TRUE(p.scope.status().ok());
  for (int i = 0; i < 20; ++i) {
    const Status status = p.Run({p.loop.Output(1).ref()}, {call.ref().node}).status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
    EXPECT_NE(status.message().find("{{node bad}}"), std::string::npos) << status.ToString();
  }
}

}  // namespace
}  // namespace penstock
