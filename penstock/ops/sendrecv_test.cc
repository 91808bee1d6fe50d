#include "penstock/ops/sendrecv.h"

#include <gtest/gtest.h>

#include "penstock/graph/scope.h"
#include "penstock/session/session.h"

namespace penstock::ops {
namespace {

AttrMap Edge(const char* name, int64_t incarnation = 1) {
  return {{"tensor_name", name},
          {"send_device", "/device:CPU:0"},
          {"send_device_incarnation", incarnation},
          {"recv_device", "/device:CPU:1"}};
}

// A step that sends constants to itself.
class SendRecvTest : public testing::Test {
 protected:
  void Send(const char* op, const Tensor& value, const AttrMap& edge) {
    NodeSpec spec{.op = op, .attrs = edge};
    spec.inputs = {scope_.Constant(value).ref()};
    const Result<NodeId> node = scope_.AddNode(std::move(spec));
    ASSERT_TRUE(node.ok()) << node.status().ToString();
    sends_.push_back(*node);
  }
  OutputRef Recv(const char* op, DType dtype, AttrMap edge) {
    edge.emplace_back("tensor_type", dtype);
    return scope_.Add(op, {}, edge).ref();
  }
  Result<std::vector<Tensor>> Run(const std::vector<OutputRef>& fetches) {
    const auto session = MakeLocalSession(graph_);
    RunOptions options;
    options.timeout = timeout_;
    return session->Run({{}, fetches, sends_}, {}, options, nullptr);
  }

  Graph graph_;
  const Scope scope_{graph_};
  std::vector<NodeId> sends_;
  std::chrono::milliseconds timeout_{60'000};
};

TEST_F(SendRecvTest, ValuesMeetByKey) {
  Send("_Send", Tensor::Scalar(1.f), Edge("a"));
  Send("_HostSend", Tensor::Scalar(std::string("text")), Edge("b"));
  const OutputRef a = Recv("_Recv", DType::kFloat, Edge("a"));
  const OutputRef b = Recv("_HostRecv", DType::kString, Edge("b"));
  const auto out = Run({b, a});
  ASSERT_TRUE(out.ok()) << out.status().ToString();
  EXPECT_EQ((*out)[0].scalar<std::string>(), "text");
  EXPECT_EQ((*out)[1].scalar<float>(), 1);
}

TEST_F(SendRecvTest, TheReceiverChecksTheType) {
  Send("_Send", Tensor::Scalar(1.f), Edge("a"));
  const Status status = Run({Recv("_Recv", DType::kInt32, Edge("a"))}).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("a;0:0 must be int32, got float"), std::string::npos)
      << status.ToString();
}

TEST_F(SendRecvTest, AnotherIncarnationIsAnotherKey) {
  timeout_ = std::chrono::milliseconds(10);
  Send("_Send", Tensor::Scalar(1.f), Edge("a", 1));
  const Status status = Run({Recv("_Recv", DType::kFloat, Edge("a", 2))}).status();
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded) << status.ToString();
}

TEST_F(SendRecvTest, WithoutARendezvousItIsAnError) {
  const OutputRef received = Recv("_Recv", DType::kFloat, Edge("a"));
  const Node& node = graph_.node(received.node);
  const DType types[] = {DType::kFloat};
  const auto kernel =
      StandardKernels().Create("_Recv", "CPU", {node.decoded, node.name, {}, types});
  ASSERT_TRUE(kernel.ok()) << kernel.status().ToString();
  StepResources resources;
  KernelContextBuilder builder(&resources);
  Status status;
  (*kernel)->ComputeAsync(builder.context(), [&](const Status& s) { status = s; });
  EXPECT_EQ(status.code(), Code::kInternal) << status.ToString();
}

TEST_F(SendRecvTest, TheShapeIsUnknown) {
  EXPECT_FALSE(graph_.output(Recv("_Recv", DType::kFloat, Edge("a"))).shape.has_rank());
}

}  // namespace
}  // namespace penstock::ops
