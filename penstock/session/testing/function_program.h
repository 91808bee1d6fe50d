#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/device/device.h"
#include "penstock/graph/testing/functions.h"
#include "penstock/session/session.h"

// Graphs with functions, run as calls and inlined.

namespace penstock {

using Tensors = std::vector<Tensor>;

// Whether the calls of the test at hand are inlined.
inline bool inlines = false;

class FunctionTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override { inlines = GetParam(); }
};
inline std::unique_ptr<SessionBackend> MakeSession(const Graph& graph) {
  LocalSessionOptions options;
  options.threads = 2;
  if (!inlines) options.disabled_passes = {"inline"};
  return MakeLocalSession(graph, options);
}

// A graph with functions and a session.
struct Program {
  Graph graph;
  std::unique_ptr<SessionBackend> session;

  NodeId Add(NodeSpec spec) {
    Result<NodeId> node = graph.AddNode(std::move(spec));
    EXPECT_TRUE(node.ok()) << node.status().ToString();
    return node.ok() ? *node : kNoNode;
  }
  OutputRef Const(const Tensor& value) {
    return {Add({.op = "Const", .attrs = {{"value", value}, {"dtype", value.dtype()}}}), 0};
  }
  NodeId Call(const std::string& op, const std::vector<OutputRef>& inputs, const std::string& f,
              const std::vector<DType>& outputs = {DType::kFloat}) {
    AttrMap attrs{{"f", FunctionName{f, {}}}, {"Tout", outputs}};
    if (outputs.empty()) attrs[1].second = AttrValue::EmptyList{};
    return Add({.op = op, .name = "call", .inputs = inputs, .attrs = attrs});
  }
  NodeId While(const std::vector<OutputRef>& inputs, const std::string& cond,
               const std::string& body) {
    return Add({.op = "While",
                .name = "loop",
                .inputs = inputs,
                .attrs = {{"cond", FunctionName{cond, {}}}, {"body", FunctionName{body, {}}}}});
  }
  Result<Tensors> Run(const std::vector<OutputRef>& fetches,
                      const std::vector<NodeId>& targets = {}, const RunOptions& options = {}) {
    if (session == nullptr) session = MakeSession(graph);
    return session->Run({{}, fetches, targets}, {}, options, nullptr);
  }
  // The only fetch as text, or the error.
  std::string Value(OutputRef fetch) {
    Result<Tensors> out = Run({fetch});
    return out.ok() ? (*out)[0].ToString() : out.status().ToString();
  }
};

inline FunctionDef AddOne() {
  return MakeFunction("add_one", {{"x"}}, {{"y", DType::kFloat, "add:z:0"}},
                      {ConstNode("one", Tensor::Scalar(1.f)),
                       MakeNode("add", "AddV2", {"x", "one:output:0"}, {{"T", DType::kFloat}})});
}

// cond: i < limit; body: i + 1, both of int32.
inline void AddCounter(Graph& graph, int32_t limit) {
  AddFunction(
      graph,
      MakeFunction("below", {{"i", DType::kInt32}}, {{"r", DType::kBool, "less:z:0"}},
                   {ConstNode("limit", Tensor::Scalar(limit)),
                    MakeNode("less", "Less", {"i", "limit:output:0"}, {{"T", DType::kInt32}})}));
  AddFunction(
      graph,
      MakeFunction("next", {{"i", DType::kInt32}}, {{"r", DType::kInt32, "add:z:0"}},
                   {ConstNode("one", Tensor::Scalar(1)),
                    MakeNode("add", "AddV2", {"i", "one:output:0"}, {{"T", DType::kInt32}})}));
}

inline std::string Contains(const Result<Tensors>& result, Code code, std::string_view part) {
  if (result.ok()) return "succeeded";
  if (result.status().code() != code) return result.status().ToString();
  return result.status().message().find(part) == std::string::npos ? result.status().ToString()
                                                                   : "";
}

// A variable v, and functions that add to and multiply it.
struct Counter : Program {
  OutputRef v;
  Counter() {
    v = {Add({.op = "VarHandleOp",
              .name = "v",
              .attrs = {{"dtype", DType::kFloat}, {"shape", Shape{}}, {"shared_name", "v"}}}),
         0};
    for (const bool ordered : {false, true}) {
      // v = (v + 2) * 10 in the order that is written, though no data says so.
      std::vector<FunctionNode> nodes{
          ConstNode("two", Tensor::Scalar(2.f)),
          ConstNode("ten", Tensor::Scalar(10.f)),
          MakeNode("add", "AssignAddVariableOp", {"v", "two:output:0"}, {{"dtype", DType::kFloat}}),
          MakeNode("read", "ReadVariableOp", {"v"}, {{"dtype", DType::kFloat}}),
          MakeNode("mul", "Mul", {"read:value:0", "ten:output:0"}, {{"T", DType::kFloat}}),
          MakeNode("set", "AssignVariableOp", {"v", "mul:z:0"}, {{"dtype", DType::kFloat}})};
      if (ordered) {
        nodes[3].inputs.push_back("^add");
        std::reverse(nodes.begin(), nodes.end());
      }
      AddFunction(
          graph, MakeFunction(
                     ordered ? "ordered" : "written", {{"v", DType::kResource}}, {}, nodes,
                     ordered ? std::vector<std::string>{"set"} : std::vector<std::string>{}, true));
    }
    const NodeId set = Add({.op = "AssignVariableOp", .inputs = {v, Const(Tensor::Scalar(1.f))}});
    EXPECT_TRUE(Run({}, {set}).ok());
  }
  std::string Read() {
    return Value(
        {Add({.op = "ReadVariableOp", .inputs = {v}, .attrs = {{"dtype", DType::kFloat}}}), 0});
  }
};

}  // namespace penstock
