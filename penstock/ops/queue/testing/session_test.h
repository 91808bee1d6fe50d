#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/device/state.h"
#include "penstock/graph/scope.h"
#include "penstock/session/session.h"

namespace penstock::ops {

// A graph, its session and state that outlives it.
class SessionTest : public testing::Test {
 protected:
  Result<NodeId> AddNode(std::string op, const std::vector<Expr>& inputs, AttrMap attrs = {}) {
    NodeSpec spec;
    spec.op = std::move(op);
    for (const Expr& input : inputs) spec.inputs.push_back(input.ref());
    spec.attrs = std::move(attrs);
    return s.WithoutError().AddNode(std::move(spec));
  }
  // A node without outputs.
  NodeId Node(std::string op, const std::vector<Expr>& inputs, AttrMap attrs = {}) {
    const Result<NodeId> node = AddNode(std::move(op), inputs, std::move(attrs));
    EXPECT_TRUE(node.ok()) << node.status().ToString();
    return node.ok() ? *node : kNoNode;
  }
  Expr Float(float value) { return s.Constant(Tensor::Scalar(value)); }
  Expr Floats(std::initializer_list<float> values) {
    return s.Constant(Tensor::FromValues<float>({static_cast<int64_t>(values.size())}, values));
  }
  Result<NodeId> DequeueManyWith(const Expr& queue, const Expr& n) {
    return AddNode("QueueDequeueManyV2", {queue, n},
                   {{"component_types", std::vector<DType>{DType::kFloat}}});
  }

  Result<std::vector<Tensor>> Run(const std::vector<Expr>& fetches,
                                  const std::vector<NodeId>& targets = {},
                                  const std::vector<std::pair<Expr, Tensor>>& feeds = {},
                                  const RunOptions& options = {}) {
    TRY(s.status());
    CallableSpec spec;
    std::vector<Tensor> values;
    for (const Expr& fetch : fetches) spec.fetches.push_back(fetch.ref());
    for (const auto& [expr, value] : feeds) {
      spec.feeds.push_back(expr.ref());
      values.push_back(value);
    }
    spec.targets = targets;
    return session->Run(spec, values, options, nullptr);
  }
  std::string Text(const Expr& fetch) {
    const Result<std::vector<Tensor>> got = Run({fetch});
    return got.ok() ? (*got)[0].ToString() : got.status().ToString();
  }
  void Expect(const Expr& fetch, const std::string& want) { EXPECT_EQ(Text(fetch), want); }
  void ExpectError(const Result<std::vector<Tensor>>& got, Code code, std::string_view text) {
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.status().code(), code) << got.status().ToString();
    EXPECT_NE(got.status().message().find(text), std::string::npos) << got.status().ToString();
  }

  Graph graph;
  Scope s{graph};
  std::shared_ptr<StateRegistry> state = std::make_shared<StateRegistry>();
  std::unique_ptr<SessionBackend> session = MakeLocalSession(
      graph,
      {.device = nullptr, .state = state, .disabled_passes = {}, .threads = 4, .memory_limit = 0});
};

}  // namespace penstock::ops
