#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/core/resource.h"
#include "penstock/device/state.h"
#include "penstock/graph/scope.h"
#include "penstock/session/session.h"

namespace penstock::ops {

// A graph, its session and state that outlives it.
class GraphTest : public testing::Test {
 protected:
  Expr Add(std::string_view op, const std::vector<Expr>& inputs, AttrMap attrs = {},
           std::string_view name = "") {
    return s.Add(op, inputs, std::move(attrs), name);
  }
  // A node that runs after `before`.
  Expr After(const std::vector<NodeId>& before, std::string_view op,
             const std::vector<Expr>& inputs, AttrMap attrs = {}) {
    const Scope after = s.After(before);
    const Expr made = after.Add(op, inputs, std::move(attrs));
    return made.valid() ? Expr(&s, made.ref()) : made;
  }
  // A node without outputs.
  NodeId Node(std::string op, const std::vector<Expr>& inputs, AttrMap attrs = {},
              const std::vector<NodeId>& before = {}) {
    NodeSpec spec;
    spec.op = std::move(op);
    for (const Expr& input : inputs) spec.inputs.push_back(input.ref());
    spec.attrs = std::move(attrs);
    Result<NodeId> node = s.After(before).AddNode(std::move(spec));
    EXPECT_TRUE(node.ok()) << node.status().ToString();
    return node.ok() ? *node : kNoNode;
  }
  template <class T>
  Expr Vector(std::initializer_list<T> values) {
    return s.Constant(Tensor::FromValues<T>({static_cast<int64_t>(values.size())}, values));
  }
  Expr Floats(std::initializer_list<float> values) { return Vector<float>(values); }
  Expr Ints(std::initializer_list<int32_t> values) { return Vector<int32_t>(values); }
  Expr Int(int32_t value) { return s.Constant(Tensor::Scalar(value)); }
  template <class T>
  Expr Matrix(const Shape& shape, std::initializer_list<T> values) {
    return s.Constant(Tensor::FromValues<T>(shape, values));
  }
  Expr Placeholder(DType dtype, const Shape& shape = Shape::Unknown()) {
    return Add("Placeholder", {}, {{"dtype", dtype}, {"shape", shape}});
  }

  Result<std::vector<Tensor>> Run(const std::vector<Expr>& fetches,
                                  const std::vector<NodeId>& targets = {},
                                  const std::vector<std::pair<Expr, Tensor>>& feeds = {}) {
    TRY(s.status());
    if (session == nullptr) {
      LocalSessionOptions options;
      options.state = state;
      options.threads = 4;
      session = MakeLocalSession(graph, options);
    }
    CallableSpec spec;
    std::vector<Tensor> values;
    for (const Expr& fetch : fetches) spec.fetches.push_back(fetch.ref());
    for (const auto& [expr, value] : feeds) {
      spec.feeds.push_back(expr.ref());
      values.push_back(value);
    }
    spec.targets = targets;
    return session->Run(spec, values, {}, nullptr);
  }
  void Expect(const std::vector<Expr>& fetches, const std::vector<std::string>& want) {
    const Result<std::vector<Tensor>> got = Run(fetches);
    ASSERT_TRUE(got.ok()) << got.status().ToString();
    for (size_t i = 0; i < want.size(); ++i) EXPECT_EQ((*got)[i].ToString(), want[i]) << i;
  }
  void Expect(const Expr& fetch, const std::string& want) { Expect(std::vector{fetch}, {want}); }
  void ExpectError(const Result<std::vector<Tensor>>& got, Code code, std::string_view text) {
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.status().code(), code) << got.status().ToString();
    EXPECT_NE(got.status().message().find(text), std::string::npos) << got.status().ToString();
  }
  void ExpectError(const Expr& fetch, Code code, std::string_view text) {
    ExpectError(Run({fetch}), code, text);
  }
  void ExpectInvalid(const Expr& fetch, std::string_view text) {
    ExpectError(fetch, Code::kInvalidArgument, text);
  }
  // Adding the node must fail; the graph goes on without it.
  void ExpectRefused(std::string_view op, const std::vector<Expr>& inputs, AttrMap attrs,
                     std::string_view text) {
    const Scope scope = s.WithoutError();
    const Expr made = scope.Add(op, inputs, std::move(attrs));
    EXPECT_FALSE(made.valid()) << op;
    EXPECT_EQ(scope.status().code(), Code::kInvalidArgument) << scope.status().ToString();
    EXPECT_NE(scope.status().message().find(text), std::string::npos) << scope.status().ToString();
  }

  // Handles that nobody should trust: of nothing, of something else, and of no handle at all.
  static std::vector<Tensor> HostileHandles() {
    class Queue final : public Resource {
      std::string DebugString() const override { return "queue"; }
    };
    Tensor queue = Tensor::Scalar(ResourceHandle());
    queue.mutable_data<ResourceHandle>()->resource = std::make_shared<Queue>();
    Tensor variable = Tensor::Scalar(ResourceHandle());
    variable.mutable_data<ResourceHandle>()->resource =
        std::make_shared<StateVariable>(DType::kFloat);
    Tensor stale = Tensor::Scalar(ResourceHandle());
    stale.mutable_data<ResourceHandle>()->name = "gone";
    return {Tensor::Scalar(ResourceHandle()),
            queue,
            variable,
            stale,
            Tensor(DType::kResource, Shape{0}),
            Tensor(DType::kResource, Shape{2})};
  }
  // Each of them must be refused by what `fetches` or `targets` stand for.
  void ExpectHostileHandlesAreRefused(const Expr& handle, const std::vector<Expr>& fetches,
                                      const std::vector<NodeId>& targets) {
    for (const Tensor& bad : HostileHandles()) {
      for (const Expr& fetch : fetches) {
        ExpectError(Run({fetch}, {}, {{handle, bad}}), Code::kInvalidArgument, "");
      }
      for (const NodeId target : targets) {
        ExpectError(Run({}, {target}, {{handle, bad}}), Code::kInvalidArgument, "");
      }
    }
  }
  // The nodes of the gradient of `y`'s node, where `dys` arrive at its outputs.
  std::vector<Expr> Differentiate(const Expr& y, std::vector<Expr> dys) {
    const penstock::Node& node = graph.node(y.ref().node);
    dys.resize(node.outputs.size());
    Gradients gradients(&s, graph, y.ref().node, std::move(dys));
    const Status status = node.op->gradient(node.decoded.get(), gradients);
    EXPECT_TRUE(status.ok()) << status.ToString();
    return gradients.results();
  }

  Graph graph;
  Scope s{graph};
  std::shared_ptr<StateRegistry> state = std::make_shared<StateRegistry>();
  std::unique_ptr<SessionBackend> session;
};

}  // namespace penstock::ops
