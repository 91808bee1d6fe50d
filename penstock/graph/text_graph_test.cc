#include "penstock/graph/text_graph.h"

#include <gtest/gtest.h>

#include <string>

#include "penstock/graph/testing/tiny_ops.h"

namespace penstock {
namespace {

using testing_ops::TinyOps;

TEST(TextGraph, ReadsNodes) {
  const Result<Graph> graph = ParseTextGraph(
      "graph x = Placeholder(dtype=float, shape=[2,?]) ; w = Const(value=[[1,2],[3,4]])\n"
      "  # a comment; with = signs\n"
      "y = MatMul(x, w, transpose_b=true)\n"
      "a/b.c-1 = NoOp(^x, device=\"/cpu:0\")\n"
      "z = Add(y, y:0, ^w, ^a/b.c-1)",
      TinyOps());
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->ToText(),
            "x = Placeholder() {dtype: float, shape: [2,?]} [2,?]\n"
            "w = Const() {value: float [2,2] {1, 2, 3, 4}, dtype: float} [2,2]\n"
            "y = MatMul(x, w) {transpose_b: true, T: float} [?,?]\n"
            "a/b.c-1 = NoOp(^x) on /cpu:0\n"
            "z = Add(y, y, ^w, ^a/b.c-1) {T: float} [?,?]\n");
}

TEST(TextGraph, AddsToAGraph) {
  Graph graph(TinyOps());
  ASSERT_TRUE(AddTextGraph("", &graph).ok());
  ASSERT_TRUE(AddTextGraph("graph = Placeholder()", &graph).ok());
  ASSERT_TRUE(AddTextGraph("y = Relu(graph)", &graph).ok());
  EXPECT_EQ(
      graph.ToText(),
      "graph = Placeholder() {dtype: float} <unknown>\ny = Relu(graph) {T: float} <unknown>\n");
}

TEST(TextGraph, ReadsEveryKindOfAttribute) {
  const Result<Graph> graph = ParseTextGraph(
      R"(a = Attributes(s="x\n\"\x41", i=-7, f=1, b=false, type=int32, shape=[1,?,-1], tensor=int64[1,2], func=@g,
                        ss=["a","b"], is=[1,2], fs=[1,2.5], bs=[true,false], types=[float,DT_INT8], shapes=[[1],?,[]],
                        tensors=[int32 3, half[1.5]], funcs=[@g,@h],
                        _int=3, _float=3.5, _strings=["a"], _type=half, _shape=[2,?], _floats=[1,1.5], _empty=[]))",
      TinyOps());
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->ToText(),
            "a = Attributes() {s: \"x\\x0a\"A\", i: -7, b: false, type: int32, shape: [1,?,?], "
            "tensor: int64 [2] {1, 2}, func: g, ss: [\"a\", \"b\"], is: [1, 2], fs: [1, 2.5], bs: "
            "[true, false], "
            "types: [float, int8], shapes: [[1], <unknown>, []], tensors: [int32 [] {3}, half [1] "
            "{1.5}], "
            "funcs: [g, h], _int: 3, _float: 3.5, _strings: [\"a\"], _type: half, _shape: [2,?], "
            "_floats: [1, 1.5], "
            "_empty: []}\n");
}

TEST(TextGraph, ReadsTensors) {
  const struct {
    const char* text;
    const char* expected;
  } rows[] = {
      {"1", "float [] {1}"},
      {"[]", "float [0] {}"},
      {"[[],[]]", "float [2,0] {}"},
      {"[[1,2],[3,4]]", "float [2,2] {1, 2, 3, 4}"},
      {"[nan, inf, -inf, 1e-3, +2, .5]", "float [6] {nan, inf, -inf, 0.00100000005, 2, 0.5}"},
      {"[true,false]", "bool [2] {true, false}"},
      {"bool[1,0]", "bool [2] {true, false}"},
      {"[\"a\",\"\"]", "string [2] {\"a\", \"\"}"},
      {"(1,-2)", "complex64 [] {(1,-2)}"},
      {"complex128[(1,2),3]", "complex128 [2] {(1,2), (3,0)}"},
      {"int8 -128", "int8 [] {-128}"},
      {"uint64 18446744073709551615", "uint64 [] {18446744073709551615}"},
      {"bfloat16[1,2]", "bfloat16 [2] {1, 2}"},
      {"quint8[255]", "quint8 [1] {255}"},
      {"double [ 1 , 2 ] # text", "double [2] {1, 2}"},
  };
  for (const auto& row : rows) {
    const Result<Tensor> tensor = ParseTensorText(row.text);
    ASSERT_TRUE(tensor.ok()) << row.text << ": " << tensor.status().ToString();
    EXPECT_EQ(tensor->ToString(), row.expected);
  }
  EXPECT_EQ(ParseTensorText("[1,2]", DType::kInt32)->ToString(), "int32 [2] {1, 2}");
  EXPECT_EQ(ParseTensorText("half[1]", DType::kInt32)->ToString(), "half [1] {1}");
}

TEST(TextGraph, TakesTheDTypeOfTheNode) {
  const Result<Graph> graph = ParseTextGraph(
      "a = Const(value=[1], dtype=int32); b = Const(value=int64 1); c = Const(value=\"s\")",
      TinyOps());
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->node(0).outputs[0].dtype, DType::kInt32);
  EXPECT_EQ(graph->node(1).outputs[0].dtype, DType::kInt64);
  EXPECT_EQ(graph->node(2).outputs[0].dtype, DType::kString);
}

TEST(TextGraph, ClosesLoops) {
  const std::string loop =
      "zero = Const(value=0)\n"
      "enter = Enter(zero, frame_name=\"f\")\n"
      "merge = Merge(enter, next)\n"
      "yes = Const(value=true); cond = LoopCond(yes, ^merge)\n"
      "switch = Switch(merge, cond)\n"
      "exit = Exit(switch)\n"
      "next = NextIteration(switch:1)\n";
  const Result<Graph> graph = ParseTextGraph(loop, TinyOps());
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_TRUE(graph->Verify().ok());
  const Status open = ParseTextGraph(loop.substr(0, loop.find("next = ")), TinyOps()).status();
  EXPECT_EQ(open.ToString(), "INVALID_ARGUMENT: line 3, column 22: Unknown input node 'next'");
}

TEST(TextGraph, NamesLineAndColumn) {
  const struct {
    const char* text;
    const char* says;
  } rows[] = {
      {"x", "line 1, column 2: expected '='"},
      {"=", "line 1, column 1: expected the name of a node"},
      {"x = ", "line 1, column 5: expected the name of an op"},
      {"x = Nope()", "line 1, column 5: Op type not registered 'Nope'"},
      {"x = NoOp", "line 1, column 9: expected '('"},
      {"x = NoOp(", "line 1, column 10: expected an input"},
      {"x = NoOp(^)", "line 1, column 11: expected an input"},
      {"x = NoOp(^y)", "line 1, column 11: Unknown input node 'y'"},
      {"\n\n  x = Relu(y)", "line 3, column 12: Unknown input node 'y'"},
      {"x = Placeholder(); y = Relu(x:)", "line 1, column 29: expected the number of an output"},
      {"x = Placeholder(); y = Relu(x:1)", "line 1, column 20: {{node y}} = Relu: "},
      {"x = Placeholder(); y = Relu(x) z", "line 1, column 33: expected '='"},
      {"x = Placeholder(dtype=nope)", "line 1, column 23: \"nope\" is no value"},
      {"x = Placeholder(dtype=3)", "line 1, column 23: expected a value of kind type"},
      {"x = Placeholder(shape=[2,])", "line 1, column 26: expected a value"},
      {"x = Placeholder(shape=[2)", "line 1, column 25: expected ']'"},
      {"x = Placeholder(shape=[2.5])", "line 1, column 24: expected an extent or ?"},
      {"x = Placeholder(shape=[-3])", "line 1, column 23: a dimension must be at least -1"},
      {"x = Placeholder(shape=[9223372036854775807,2])", "line 1, column 23: shape"},
      {"x = Placeholder(shape=[1], shape=[2])", "line 1, column 34: shape is given twice"},
      {"x = Placeholder(nope=[1])",
       "line 1, column 1: {{node x}} = Placeholder: op Placeholder has no attribute nope"},
      {"x = Const(value=[[1],[1,2]])",
       "line 1, column 22: the lists of a tensor are of different lengths: 1 vs 2"},
      {"x = Const(value=[1,[2]])",
       "line 1, column 20: the lists of a tensor are of different depths"},
      {"x = Const(value=[[],1])",
       "line 1, column 21: the lists of a tensor are of different depths"},
      {"x = Const(value=[[[]],[2]])",
       "line 1, column 24: the lists of a tensor are of different depths"},
      {"x = Const(value=int8 128)", "line 1, column 22: expected an element of dtype int8"},
      {"x = Const(value=int32 1.5)", "line 1, column 23: expected an element of dtype int32"},
      {"x = Const(value=[1,\"a\"])", "line 1, column 18: expected an element of dtype string"},
      {"x = Const(value=\"a)", "line 1, column 17: the string does not end"},
      {"x = Const(value=\"\\xg0\")",
       "line 1, column 17: the string does not end, or has a wrong escape"},
      {"x = Const(value=resource 1)", "line 1, column 26: expected a dtype that can be written"},
      {"x = Const(value=(1))", "line 1, column 19: expected ','"},
      {"x = Attributes(i=int32 3)",
       "line 1, column 24: expected a value of kind int, not a tensor"},
      {"x = Attributes(is=3)", "line 1, column 19: expected a value of kind list(int)"},
      {"x = Attributes(func=@)", "line 1, column 21: expected the name of a function"},
      {"x = NoOp(); x = NoOp()", "line 1, column 13: {{node x}} = NoOp: the name is taken"},
  };
  for (const auto& row : rows) {
    const Status status = ParseTextGraph(row.text, TinyOps()).status();
    EXPECT_FALSE(status.ok()) << row.text;
    EXPECT_TRUE(status.message().starts_with(row.says)) << row.text << "\n" << status.ToString();
  }
  EXPECT_FALSE(ParseTensorText("1 2").ok());
  EXPECT_FALSE(ParseTensorText(std::string(100'000, '[')).ok());
  std::string prefixes;
  for (int i = 0; i < 100'000; ++i) prefixes += "float ";
  EXPECT_FALSE(ParseTensorText(prefixes).ok());
}

}  // namespace
}  // namespace penstock
