#include <gtest/gtest.h>

#include "penstock/graph/graph.h"
#include "penstock/graph/testing/tiny_ops.h"

namespace penstock {
namespace {

NodeId Add(Graph& graph, NodeSpec spec) {
  const Result<NodeId> id = graph.AddNode(std::move(spec));
  EXPECT_TRUE(id.ok()) << id.status().ToString();
  return id.ok() ? *id : kNoNode;
}

Graph Sample() {
  Graph graph(testing_ops::TinyOps());
  const NodeId x = Add(graph, {.op = "Placeholder",
                               .name = "x",
                               .attrs = {{"dtype", DType::kFloat}, {"shape", Shape{4, -1}}}});
  const NodeId axis =
      Add(graph, {.op = "Const",
                  .name = "axis",
                  .attrs = {{"value", Tensor::Scalar<int32_t>(1)}, {"dtype", DType::kInt32}}});
  const NodeId init = Add(graph, {.op = "NoOp", .name = "init"});
  const NodeId split = Add(
      graph,
      {.op = "Split", .name = "split", .inputs = {{axis, 0}, {x, 0}}, .attrs = {{"num_split", 2}}});
  Add(graph, {.op = "MatMul",
              .name = "y",
              .inputs = {{x, 0}, {split, 1}},
              .control_inputs = {init},
              .attrs = {{"transpose_b", true}, {"_mark", "a"}},
              .device = "/device:CPU:0"});
  return graph;
}

TEST(Text, PrintsOneLineANode) {
  EXPECT_EQ(Sample().ToText(),
            "x = Placeholder() {dtype: float, shape: [4,?]} [4,?]\n"
            "axis = Const() {value: int32 [] {1}, dtype: int32} []\n"
            "init = NoOp()\n"
            "split = Split(axis, x) {num_split: 2, T: float} <unknown>, <unknown>\n"
            "y = MatMul(x, split:1, ^init) {transpose_b: true, _mark: \"a\", T: float} [?,?] "
            "on /device:CPU:0\n");
}

TEST(Text, PrintsGraphviz) {
  const std::string dot = Sample().ToDot();
  EXPECT_NE(dot.find("\"split\" -> \"y\" [label=\"1: float <unknown>\"];\n"), std::string::npos)
      << dot;
  EXPECT_NE(dot.find("\"init\" -> \"y\" [style=dashed];\n"), std::string::npos) << dot;
  EXPECT_NE(dot.find("\"y\" [label=\"y\\nMatMul\"];\n"), std::string::npos) << dot;
}

TEST(Text, SkipsWhatWasRemoved) {
  Graph graph = Sample();
  graph.RemoveNode(graph.FindNode("init"));
  EXPECT_NE(graph.ToText().find("y = MatMul(x, split:1, ^?)"), std::string::npos);
  EXPECT_EQ(graph.ToDot().find("init"), std::string::npos);
}

}  // namespace
}  // namespace penstock
