#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/device/state.h"
#include "penstock/graph/scope.h"
#include "penstock/session/session.h"

namespace penstock::ops {

// A graph, sessions of it, and state that outlives them: what tests of state ops need.
class StateFixture : public testing::Test {
 protected:
  Expr Source(std::string_view op, AttrMap attrs, std::string_view name = "") {
    return s.Add(op, std::vector<Expr>(), std::move(attrs), name);
  }
  Expr Variable(const Shape& shape, DType dtype = DType::kFloat, std::string_view name = "v") {
    return Source("VariableV2", {{"shape", shape}, {"dtype", dtype}}, name);
  }
  Expr Handle(const Shape& shape, DType dtype = DType::kFloat, std::string_view name = "h") {
    return Source("VarHandleOp", {{"shape", shape}, {"dtype", dtype}}, name);
  }
  Expr Fed(DType dtype) { return Source("Placeholder", {{"dtype", dtype}}); }
  Expr Read(const Expr& handle, DType dtype = DType::kFloat) {
    return Op("ReadVariableOp", handle, {{"dtype", dtype}});
  }
  // A node without outputs.
  NodeId Node(std::string op, const std::vector<Expr>& inputs, AttrMap attrs = {},
              const std::vector<NodeId>& after = {}) {
    NodeSpec spec;
    spec.op = std::move(op);
    for (const Expr& input : inputs) spec.inputs.push_back(input.ref());
    spec.attrs = std::move(attrs);
    spec.control_inputs = after;
    Result<NodeId> node = s.AddNode(std::move(spec));
    EXPECT_TRUE(node.ok()) << node.status().ToString();
    return node.ok() ? *node : kNoNode;
  }
  template <class T>
  Expr Const(const Shape& shape, std::initializer_list<T> values) {
    return s.Constant(Tensor::FromValues<T>(shape, values));
  }
  Expr Floats(std::initializer_list<float> values) {
    return Const<float>({static_cast<int64_t>(values.size())}, values);
  }
  Expr Int32s(std::initializer_list<int32_t> values) {
    return Const<int32_t>({static_cast<int64_t>(values.size())}, values);
  }
  Expr Scalar(auto value) { return s.Constant(Tensor::Scalar(value)); }

  std::unique_ptr<SessionBackend> NewSession(int threads = 4) {
    LocalSessionOptions options;
    options.state = state;
    options.threads = threads;
    return MakeLocalSession(graph, options);
  }
  using Feeds = std::vector<std::pair<Expr, Tensor>>;
  Result<std::vector<Tensor>> RunIn(SessionBackend& backend, const std::vector<Expr>& fetches,
                                    const std::vector<NodeId>& targets = {},
                                    const Feeds& feeds = {}, const RunOptions& options = {}) {
    TRY(s.status());
    CallableSpec spec;
    std::vector<Tensor> values;
    for (const Expr& fetch : fetches) spec.fetches.push_back(fetch.ref());
    for (const auto& [expr, value] : feeds) {
      spec.feeds.push_back(expr.ref());
      values.push_back(value);
    }
    spec.targets = targets;
    return backend.Run(spec, values, options, nullptr);
  }
  Result<std::vector<Tensor>> Run(const std::vector<Expr>& fetches,
                                  const std::vector<NodeId>& targets = {}, const Feeds& feeds = {},
                                  const RunOptions& options = {}) {
    if (session == nullptr) session = NewSession();
    return RunIn(*session, fetches, targets, feeds, options);
  }
  void Do(NodeId target, const Feeds& feeds = {}) {
    const Result<std::vector<Tensor>> got = Run({}, {target}, feeds);
    EXPECT_TRUE(got.ok()) << got.status().ToString();
  }
  void Do(const Expr& target) { Do(target.ref().node); }
  void Expect(const Expr& fetch, const std::string& want) {
    const Result<std::vector<Tensor>> got = Run({fetch});
    EXPECT_EQ(got.ok() ? (*got)[0].ToString() : got.status().ToString(), want);
  }
  void ExpectError(const Result<std::vector<Tensor>>& got, Code code, std::string_view text) {
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.status().code(), code) << got.status().ToString();
    EXPECT_NE(got.status().message().find(text), std::string::npos) << got.status().ToString();
  }
  // The graph refuses the node.
  void ExpectRefused(const Expr& expr, std::string_view text) {
    EXPECT_FALSE(expr.valid());
    EXPECT_NE(s.status().message().find(text), std::string::npos) << s.status().ToString();
  }

  Graph graph;
  Scope s{graph};
  std::shared_ptr<StateRegistry> state = std::make_shared<StateRegistry>();
  std::unique_ptr<SessionBackend> session;
};

}  // namespace penstock::ops
