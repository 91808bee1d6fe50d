#include "penstock/execute/parallel_step.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "penstock/graph/op.h"
#include "penstock/ops/dataflow.h"
#include "penstock/ops/op_kernel.h"

namespace penstock {
namespace {

// Ops that do what executors must cope with: wait and fail.
struct Later {  // y = x, from another thread
  static constexpr auto kName = "Later";
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"x", float>, Out<"y", float>>;
  Result<Shape> InferShape(const Shape& x) const { return x; }

  class LaterKernel final : public Kernel {
   public:
    // A step may end while the call that started its last thread is still returning.
    ~LaterKernel() override {
      std::vector<std::thread> threads;
      {
        MutexLock lock(mu_);
        threads.swap(threads_);
      }
      for (std::thread& thread : threads) thread.join();
    }
    Status Compute(KernelContext&) override {
      return Internal("asynchronous kernels are not computed");
    }
    bool IsAsync() const override { return true; }
    void ComputeAsync(KernelContext& context, std::function<void(Status)> done) override {
      MutexLock lock(mu_);
      threads_.emplace_back([&context, done = std::move(done)] {
        context.SetOutput(0, context.input(0));
        done(OkStatus());
      });
    }

   private:
    Mutex mu_;
    std::vector<std::thread> threads_ GUARDED_BY(mu_);
  };
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest&) {
    return std::unique_ptr<Kernel>(std::make_unique<LaterKernel>());
  }
};

struct Never {  // waits until the step is cancelled
  static constexpr auto kName = "Never";
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"x", float>, Out<"y", float>>;

  class NeverKernel final : public Kernel {
   public:
    Status Compute(KernelContext&) override {
      return Internal("asynchronous kernels are not computed");
    }
    bool IsAsync() const override { return true; }
    void ComputeAsync(KernelContext& context, std::function<void(Status)> done) override {
      Cancellation* cancellation = context.cancellation();
      const auto token = cancellation->Register([=] { done(cancellation->status()); });
      if (token == 0) done(cancellation->status());
    }
  };
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest&) {
    return std::unique_ptr<Kernel>(std::make_unique<NeverKernel>());
  }
};

struct Fails {
  static constexpr auto kName = "Fails";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"x", float>, Out<"y", float>>;
  Status ComputeCpu(CpuContext&, const Tensor&) const { return OutOfRange("as told"); }
};

std::atomic<int> calls{0};
struct Count {
  static constexpr auto kName = "Count";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"x", float>, Out<"y", float>>;
  Status ComputeCpu(CpuContext& context, const Tensor& x) const {
    calls.fetch_add(1);
    context.SetOutput(0, x);
    return OkStatus();
  }
};

class ParallelStepTest : public testing::Test {
 protected:
  ParallelStepTest() {
    Registrar registrar(&ops_, &kernels_);
    registrar.AddAll<Later, Never, Fails, Count, ops::Arg, ops::Retval>();
    EXPECT_TRUE(registrar.status().ok());
    graph_ = std::make_unique<Graph>(ops_);
    calls = 0;
  }

  NodeId AddArg() {
    return *graph_->AddNode(
        {.op = "_Arg", .name = "arg", .attrs = {{"T", DType::kFloat}, {"index", 0}}});
  }
  void AddResult(OutputRef value) {
    EXPECT_TRUE(
        graph_->AddNode({.op = "_Retval", .inputs = {value}, .attrs = {{"index", 0}}}).ok());
  }
  NodeId Add(std::string op, std::vector<OutputRef> inputs, std::string name) {
    Result<NodeId> node = graph_->AddNode(
        {.op = std::move(op), .name = std::move(name), .inputs = std::move(inputs)});
    EXPECT_TRUE(node.ok()) << node.status().ToString();
    return *node;
  }

  Result<std::vector<Tensor>> Run(float value, Cancellation* cancellation) {
    if (plan_ == nullptr) {
      Schedule schedule;
      schedule.order = *graph_->TopologicalOrder();
      schedule.sequential = false;
      Result<std::unique_ptr<Plan>> plan =
          Plan::Make(graph_->Clone(), schedule, kernels_, MakeCpuDevice({.threads = 2}));
      EXPECT_TRUE(plan.ok()) << plan.status().ToString();
      plan_ = *std::move(plan);
    }
    const Tensor arg = Tensor::Scalar(value);
    StateRegistry state;
    StepRequest request;
    request.args = {&arg, 1};
    request.cancellation = cancellation;
    request.state = &state;
    return RunStep(*plan_, request);
  }

  OpRegistry ops_;
  KernelRegistry kernels_;
  std::unique_ptr<Graph> graph_;
  std::unique_ptr<Plan> plan_;
};

TEST_F(ParallelStepTest, ParallelWaitingNodesHoldNoThread) {
  const NodeId arg = AddArg();
  NodeId value = arg;
  for (int i = 0; i < 20; ++i) value = Add("Later", {{value, 0}}, "later");
  for (int i = 0; i < 50; ++i) Add("Later", {{arg, 0}}, "beside");
  AddResult({value, 0});
  for (int round = 0; round < 3; ++round) {
    Cancellation cancellation;
    Result<std::vector<Tensor>> out = Run(7, &cancellation);
    ASSERT_TRUE(out.ok()) << out.status().ToString();
    EXPECT_EQ((*out)[0].scalar<float>(), 7);
  }
}

TEST_F(ParallelStepTest, ParallelFirstErrorFailsTheStepOnceAndWakesTheRest) {
  const NodeId arg = AddArg();
  Add("Never", {{arg, 0}}, "never");
  const NodeId bad = Add("Fails", {{arg, 0}}, "bad");
  const NodeId after = Add("Count", {{bad, 0}}, "after");
  AddResult({after, 0});
  for (int round = 0; round < 20; ++round) {
    Cancellation cancellation;
    const Status status = Run(1, &cancellation).status();
    EXPECT_EQ(status.code(), Code::kOutOfRange) << status.ToString();
    EXPECT_NE(status.message().find("[[{{node bad}}]]"), std::string::npos) << status.ToString();
  }
  EXPECT_EQ(calls.load(), 0);
}

TEST_F(ParallelStepTest, ParallelCancelEndsAWaitingStep) {
  const NodeId arg = AddArg();
  const NodeId never = Add("Never", {{arg, 0}}, "never");
  AddResult({never, 0});
  Cancellation cancellation;
  std::thread canceller([&] { cancellation.Cancel(Cancelled("enough")); });
  const Status status = Run(1, &cancellation).status();
  canceller.join();
  EXPECT_EQ(status.code(), Code::kCancelled) << status.ToString();
}

}  // namespace
}  // namespace penstock
