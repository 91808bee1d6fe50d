#include "penstock/graph/graph_def.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "penstock/graph/function.h"
#include "penstock/graph/testing/tiny_ops.h"
#include "penstock/proto/graph.pb.h"

namespace penstock {
namespace {

using testing_ops::TinyOps;

tf::GraphDef Proto(const std::string& text) {
  tf::GraphDef proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

Result<Graph> Read(const std::string& text, const ImportLimits& limits = {}) {
  return GraphFromProto(Proto(text), TinyOps(), limits);
}

tf::GraphDef Write(const Graph& graph) {
  tf::GraphDef proto;
  const Status status = GraphToProto(graph, &proto);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return proto;
}

std::string Float(const std::string& name) {
  return "node { name: '" + name +
         "' op: 'Placeholder' attr { key: 'dtype' value { type: DT_FLOAT } } } ";
}
std::string Node(const std::string& name, const std::string& op,
                 const std::vector<std::string>& inputs, const std::string& attrs = "") {
  std::string out = "node { name: '" + name + "' op: '" + op + "' ";
  for (const std::string& input : inputs) out += "input: '" + input + "' ";
  return out + attrs + " } ";
}
std::string Attr(const std::string& name, const std::string& value) {
  return "attr { key: '" + name + "' value { " + value + " } } ";
}
const std::string kFloatT = Attr("T", "type: DT_FLOAT");

TEST(GraphDef, ReadsEveryFormOfInput) {
  const Result<Graph> graph =
      Read(Float("x") +
           Node("axis", "Const", {},
                Attr("dtype", "type: DT_INT32") + Attr("value", "tensor { dtype: DT_INT32 }")) +
           Node("s", "Split", {"axis", "x:0"}, kFloatT + Attr("num_split", "i: 2")) +
           Node("z", "Add", {"s", "s:1", "^x", "^axis"}, kFloatT));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->ToText(),
            "x = Placeholder() {dtype: float} <unknown>\n"
            "axis = Const() {dtype: int32, value: int32 [] {0}} []\n"
            "s = Split(axis, x) {T: float, num_split: 2} <unknown>, <unknown>\n"
            "z = Add(s, s:1, ^x, ^axis) {T: float} <unknown>\n");
  EXPECT_TRUE(graph->Verify().ok());
}

TEST(GraphDef, TakesNodesInAnyOrder) {
  const Result<Graph> graph = Read(Node("c", "Relu", {"b"}) + Node("b", "Relu", {"a", "^late"}) +
                                   Float("a") + Node("late", "NoOp", {}));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->ToText(),
            "a = Placeholder() {dtype: float} <unknown>\n"
            "late = NoOp()\n"
            "b = Relu(a, ^late) {T: float} <unknown>\n"
            "c = Relu(b) {T: float} <unknown>\n");
}

const std::string kLoop = "node { name: 'zero' op: 'Const' " + Attr("dtype", "type: DT_FLOAT") +
                          Attr("value", "tensor { dtype: DT_FLOAT }") + "} " +
                          Node("enter", "Enter", {"zero"}, kFloatT + Attr("frame_name", "s: 'f'")) +
                          Node("merge", "Merge", {"enter", "next:0"}, kFloatT + Attr("N", "i: 2")) +
                          "node { name: 'true' op: 'Const' " + Attr("dtype", "type: DT_BOOL") +
                          Attr("value", "tensor { dtype: DT_BOOL }") + "} " +
                          Node("cond", "LoopCond", {"true", "^merge"}) +
                          Node("switch", "Switch", {"merge", "cond"}, kFloatT) +
                          Node("exit", "Exit", {"switch"}, kFloatT) +
                          Node("next", "NextIteration", {"switch:1"}, kFloatT);

TEST(GraphDef, ReadsLoops) {
  const Result<Graph> graph = Read(kLoop);
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  ASSERT_TRUE(graph->Verify().ok()) << graph->Verify().ToString();
  EXPECT_EQ(graph->NameOf(graph->node(graph->FindNode("merge")).inputs[1]), "next:0");
  const Result<Graph> again = GraphFromProto(Write(*graph), TinyOps());
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->ToText(), graph->ToText());
}

TEST(GraphDef, ChecksBackEdges) {
  std::string wrong_type = kLoop;
  const std::string from = "input: 'switch:1' " + kFloatT;
  wrong_type.replace(wrong_type.find(from), from.size(),
                     "input: 'cond' " + Attr("T", "type: DT_BOOL"));
  const Status status = Read(wrong_type).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("input 1 must be float, got bool from {{node next}}"),
            std::string::npos)
      << status.ToString();

  std::string wrong_port = kLoop;
  wrong_port.replace(wrong_port.find("next:0"), 6, "next:7");
  EXPECT_EQ(Read(wrong_port).status().code(), Code::kInvalidArgument);
}

TEST(GraphDef, FillsDefaults) {
  const Result<Graph> graph = Read(Float("x") + Node("y", "MatMul", {"x", "x"}));
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(Write(*graph).node(1).ShortDebugString(),
            "name: \"y\" op: \"MatMul\" input: \"x\" input: \"x\" attr { key: \"T\" value { type: "
            "DT_FLOAT } } "
            "attr { key: \"transpose_a\" value { b: false } } attr { key: \"transpose_b\" value { "
            "b: false } }");
}

TEST(GraphDef, KeepsReferences) {
  const std::string variable =
      Node("v", "VariableV2", {},
           Attr("dtype", "type: DT_FLOAT") + Attr("shape", "shape { dim { size: 2 } }"));
  EXPECT_TRUE(
      Read(variable + Float("x") + Node("a", "Assign", {"v", "x"}) + Node("r", "Relu", {"a"}))
          .ok());
  const Status status = Read(variable + Float("x") + Node("a", "Assign", {"x", "v"})).status();
  EXPECT_NE(status.message().find("must be a reference"), std::string::npos) << status.ToString();
}

struct Bad {
  std::string text;
  Code code;
  const char* says;
};

TEST(GraphDef, RefusesMalformedGraphs) {
  const std::string x = Float("x");
  const Bad rows[] = {
      {Node("n", "NoSuchOp", {}), Code::kNotFound, "Op type not registered 'NoSuchOp' (node 'n')"},
      {Node("n", "", {}), Code::kNotFound, "Op type not registered ''"},
      {Node("", "NoOp", {}), Code::kInvalidArgument, "has no name"},
      {Node("a b", "NoOp", {}), Code::kInvalidArgument, "\"a b\" is not a node name"},
      {x + Node("u", "Relu", {"zz"}), Code::kInvalidArgument, "Node 'u': Unknown input node 'zz'"},
      {x + Node("u", "Relu", {"zz:1"}), Code::kInvalidArgument,
       "Node 'u': Unknown input node 'zz'"},
      {x + Node("u", "Relu", {"x", "^zz"}), Code::kInvalidArgument,
       "Node 'u': Unknown input node 'zz'"},
      {x + Node("u", "Relu", {""}), Code::kInvalidArgument, "Node 'u': Unknown input node ''"},
      {x + Node("u", "Relu", {"x:"}), Code::kInvalidArgument, "Unknown input node 'x:'"},
      {x + Node("u", "Relu", {"x:-1"}), Code::kInvalidArgument, "Unknown input node 'x:-1'"},
      {x + Node("u", "Relu", {"x:y:0"}), Code::kInvalidArgument, "Unknown input node 'x:y'"},
      {x + Node("u", "Relu", {"^x:0"}), Code::kInvalidArgument, "Unknown input node 'x:0'"},
      {x + Node("u", "Relu", {"x:1"}), Code::kInvalidArgument, "has 1 outputs, no output 1"},
      {x + Node("u", "Relu", {"x:99999999999999999999"}), Code::kInvalidArgument, "has 1 outputs"},
      {x + Node("u", "Relu", {"^x", "x"}), Code::kInvalidArgument,
       "Node 'u': Control dependencies must come after"},
      {x + x, Code::kInvalidArgument, "Node 'x' is not unique"},
      {x + Node("u", "Add", {"x"}), Code::kInvalidArgument, "takes 2 inputs, got 1"},
      {x + Node("u", "Relu", {"x", "x"}), Code::kInvalidArgument, "takes 1 inputs, got 2"},
      {x + Node("u", "AddN", {"x", "x"}, Attr("N", "i: 3")), Code::kInvalidArgument,
       "takes 3 inputs, got 2"},
      {x + Node("u", "Relu", {"x"}, Attr("T", "type: DT_INT32")), Code::kInvalidArgument,
       "T must be one of [float], got int32"},
      {x +
           Node("i", "Const", {},
                Attr("dtype", "type: DT_INT32") + Attr("value", "tensor { dtype: DT_INT32 }")) +
           Node("u", "Add", {"x", "i"}),
       Code::kInvalidArgument, "input 1 must be float, got int32"},
      {Node("c", "Const", {},
            Attr("dtype", "type: DT_INT32") + Attr("value", "tensor { dtype: DT_FLOAT }")),
       Code::kInvalidArgument, "must be int32, got float"},
      {Node("c", "Const", {}, Attr("dtype", "type: DT_FLOAT")), Code::kInvalidArgument,
       "attribute value of kind tensor is missing"},
      {x + Node("u", "MatMul", {"x", "x"}, Attr("transpose_a", "i: 1")), Code::kInvalidArgument,
       "must be of kind bool, got int"},
      {x + Node("u", "MatMul", {"x", "x"}, Attr("transpose_a", "")), Code::kInvalidArgument,
       "must be of kind bool, got nothing"},
      {x + Node("u", "MatMul", {"x", "x"}, Attr("colour", "i: 1")), Code::kInvalidArgument,
       "has no attribute colour"},
      {x + Node("u", "Relu", {"x"}, Attr("T", "list { type: DT_FLOAT }")), Code::kInvalidArgument,
       "of kind type, got list(type)"},
      {x + Node("u", "Relu", {"x"}, Attr("T", "type: DT_INVALID")), Code::kInvalidArgument,
       "T is no valid type"},
      {x + Node("u", "Relu", {"x"}, Attr("T", "type: DT_FLOAT_REF")), Code::kUnimplemented,
       "attribute T"},
      {x + Node("u", "Relu", {"x"}, Attr("T", "placeholder: 'T'")), Code::kInvalidArgument,
       "T has no type"},
      {x + Node("u", "AddN", {"x"}, Attr("N", "i: 0")), Code::kInvalidArgument,
       "N must be at least 1"},
      {x + Node("u", "AddN", {"x"}, Attr("N", "i: -9223372036854775808")), Code::kInvalidArgument,
       "N must be at least 1"},
      {x + Node("u", "AddN", {"x"}, Attr("N", "f: 1")), Code::kInvalidArgument,
       "N must be of kind int, got float"},
      {x + Node("u", "IdentityN", {"x"}, Attr("T", "i: 1")), Code::kInvalidArgument,
       "T must be of kind list(type), got int"},
      {Node("u", "Attributes", {}, Attr("is", "list { i: 1 f: 2 }")), Code::kInvalidArgument,
       "values of 2 kinds"},
      {Node("c", "Const", {},
            Attr("dtype", "type: DT_VARIANT") + Attr("value", "tensor { dtype: DT_VARIANT }")),
       Code::kUnimplemented, "variant"},
      {Node("p", "Placeholder", {},
            Attr("dtype", "type: DT_FLOAT") + Attr("shape", "shape { dim { size: -2 } }")),
       Code::kInvalidArgument, "attribute shape"},
      {Node("p", "Placeholder", {},
            Attr("dtype", "type: DT_FLOAT") + Attr("shape",
                                                   "shape { dim { size: 4611686018427387904 } dim "
                                                   "{ size: 4611686018427387904 } }")),
       Code::kInvalidArgument, "64 bits"},
      {Node("c", "Const", {},
            Attr("dtype", "type: DT_FLOAT") + Attr("value",
                                                   "tensor { dtype: DT_FLOAT tensor_shape { dim { "
                                                   "size: 1099511627776 } } float_val: 1 }")),
       Code::kResourceExhausted, "Node 'c' = Const: attribute value"},
      {Node("p", "Placeholder", {},
            Attr("dtype", "type: DT_FLOAT") + Attr("shape", "shape { dim { size: 3 } }")) +
           Node("q", "Placeholder", {},
                Attr("dtype", "type: DT_FLOAT") + Attr("shape", "shape { dim { size: 4 } }")) +
           Node("u", "Add", {"p", "q"}),
       Code::kInvalidArgument, "do not broadcast: [3] vs [4]"},
      // Cycles.
      {Node("a", "Relu", {"b"}) + Node("b", "Relu", {"a"}), Code::kInvalidArgument,
       "cycle: 'a' -> 'b' -> 'a'"},
      {Node("a", "Relu", {"a"}), Code::kInvalidArgument, "cycle: 'a' -> 'a'"},
      {Node("a", "NoOp", {"^a"}), Code::kInvalidArgument, "cycle: 'a' -> 'a'"},
      {x + Node("m", "Merge", {"x", "n"}, kFloatT + Attr("N", "i: 2")) + Node("n", "Relu", {"m"}),
       Code::kInvalidArgument, "cycle"},
      {x + Node("m", "Merge", {"x", "^n"}, kFloatT + Attr("N", "i: 1")) +
           Node("n", "NextIteration", {"m"}),
       Code::kInvalidArgument, "cycle"},
      {x + Node("m", "Identity", {"n"}, kFloatT) + Node("n", "NextIteration", {"m"}),
       Code::kInvalidArgument, "cycle"},
      // Versions.
      {"versions { min_consumer: 99999 }", Code::kInvalidArgument,
       "GraphDef min consumer version 99999 above current version 2474 for Penstock.  Please "
       "upgrade Penstock."},
      {"versions { producer: 5 bad_consumers: [1, 2474] }", Code::kInvalidArgument,
       "GraphDef disallows consumer version 2474."},
      // Functions.
      {"library { function { } }", Code::kInvalidArgument, "no name"},
      {x + "library { function { signature { name: 'f' } } } " + Node("n", "f", {"x"}),
       Code::kInvalidArgument, "takes 0 inputs, got 1"},
  };
  for (const Bad& row : rows) {
    const Status status = Read(row.text).status();
    EXPECT_EQ(status.code(), row.code) << row.text << "\n" << status.ToString();
    EXPECT_NE(status.message().find(row.says), std::string::npos) << row.text << "\n"
                                                                  << status.ToString();
  }
}

TEST(GraphDef, TakesAnyProducer) {
  EXPECT_EQ(Read("versions { producer: 99999 }")->versions().producer, 99999);
  EXPECT_EQ(Write(*Read("versions { producer: 21 min_consumer: 12 bad_consumers: 7 }"))
                .ShortDebugString(),
            "versions { producer: 21 min_consumer: 12 bad_consumers: 7 }");
  EXPECT_EQ(Write(*Read("")).ShortDebugString(), "");
  EXPECT_EQ(Write(*Read("versions { } library { }")).ShortDebugString(),
            "library { } versions { }");
  EXPECT_EQ(Write(Graph(TinyOps())).ShortDebugString(), "versions { producer: 2474 }");
}

TEST(GraphDef, BoundsWhatAMessageExpandsTo) {
  ImportLimits limits;
  limits.max_expanded_bytes = 1 << 20;
  const std::string zeros = "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 100000 } } }";
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const std::string name = "c" + std::to_string(i);
    text += Node(name, "Const", {}, Attr("dtype", "type: DT_FLOAT") + Attr("value", zeros));
    EXPECT_EQ(Read(text, limits).ok(), i < 2);
  }
  // Outputs are bytes as well.
  const std::string axis =
      Node("a", "Const", {},
           Attr("dtype", "type: DT_INT32") + Attr("value", "tensor { dtype: DT_INT32 }"));
  const Status status =
      Read(axis + Float("x") + Node("s", "Split", {"a", "x"}, Attr("num_split", "i: 4000000")),
           limits)
          .status();
  EXPECT_EQ(status.code(), Code::kResourceExhausted) << status.ToString();
  limits.max_wire_bytes = 10;
  EXPECT_EQ(ParseGraphDef(std::string(11, 'x'), TinyOps(), limits).status().code(),
            Code::kInvalidArgument);
}

TEST(GraphDef, ParsesBytesAndText) {
  const std::string text = Float("x");
  EXPECT_EQ(ParseGraphDef(Proto(text).SerializeAsString(), TinyOps())->num_nodes(), 1);
  EXPECT_EQ(ParseGraphDefText(text, TinyOps())->num_nodes(), 1);
  EXPECT_EQ(ParseGraphDef("node", TinyOps()).status().code(), Code::kInvalidArgument);
  const Status status = ParseGraphDefText("node {\n  nam: 'x'\n}", TinyOps()).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("line 2, column 6"), std::string::npos) << status.ToString();
}

TEST(GraphDef, NestingIsBounded) {
  std::string text = Node("n", "NoOp", {}, Attr("_f", "func { name: 'f' @ }"));
  std::string deep = "@";
  for (int i = 0; i < 10000; ++i) {
    deep.replace(deep.find('@'), 1, "attr { key: 'f' value { func { name: 'g' @ } } }");
  }
  deep.erase(deep.find('@'), 1);
  text.replace(text.find('@'), 1, deep);
  EXPECT_EQ(ParseGraphDefText(text, TinyOps()).status().code(), Code::kInvalidArgument);

  // In memory there is no limit but ours.
  tf::GraphDef proto = Proto(Node("n", "Attributes", {}));
  tf::NameAttrList* function = (*proto.mutable_node(0)->mutable_attr())["func"].mutable_func();
  for (int i = 0; i < 1000; ++i) function = (*function->mutable_attr())["f"].mutable_func();
  const Status status = GraphFromProto(proto, TinyOps()).status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_NE(status.message().find("nested more than"), std::string::npos) << status.ToString();
}

TEST(GraphDef, ExtendsAGraph) {
  Graph graph = *Read(Float("x") + "versions { producer: 30 }");
  ASSERT_TRUE(ExtendGraph(&graph, Proto(Node("y", "Relu", {"x"}) +
                                        "versions { producer: 20 min_consumer: 3 }"))
                  .ok());
  EXPECT_EQ(graph.ToText(),
            "x = Placeholder() {dtype: float} <unknown>\ny = Relu(x) {T: float} <unknown>\n");
  EXPECT_EQ(graph.versions().producer, 20);
  EXPECT_EQ(graph.versions().min_consumer, 3);

  const std::string before = graph.ToText();
  const Status duplicate = ExtendGraph(&graph, Proto(Float("x")));
  EXPECT_EQ(duplicate.ToString(),
            "INVALID_ARGUMENT: GraphDef argument to Extend includes node 'x', which was created by "
            "a previous call to "
            "Create or Extend in this session.");
  // A failure leaves nothing behind, and names can be used again.
  const std::string function = "library { function { signature { name: 'f' } } } ";
  EXPECT_FALSE(ExtendGraph(&graph, Proto(function + Node("z", "Relu", {"x"}) +
                                         Node("bad", "Relu", {"x", "y"})))
                   .ok());
  EXPECT_EQ(graph.ToText(), before);
  EXPECT_EQ(graph.FindNode("z"), kNoNode);
  EXPECT_TRUE(graph.library().functions.empty());
  EXPECT_TRUE(
      ExtendGraph(&graph, Proto(function + Node("z", "Relu", {"x"})).SerializeAsString()).ok());
  EXPECT_NE(graph.FindNode("z"), kNoNode);
  EXPECT_EQ(graph.library().functions.size(), 1u);
  EXPECT_TRUE(graph.Verify().ok());
}

TEST(GraphDef, TakesTheSameLibraryAgain) {
  const std::string f = "function { signature { name: 'f' } node_def { name: 'n' op: 'NoOp' } } ";
  const std::string g = "function { signature { name: 'g' } } ";
  const std::string gradients =
      "gradient { function_name: 'f' gradient_func: 'g' } registered_gradients { gradient_func: "
      "'g' } ";
  Graph graph = *Read("library { " + f + gradients + " }");
  EXPECT_TRUE(ExtendGraph(&graph, Proto("library { " + g + f + gradients + "}")).ok());
  EXPECT_EQ(graph.library().functions.size(), 2u);
  EXPECT_EQ(Write(graph).library().registered_gradients_size(), 1);
  EXPECT_EQ(Write(graph).library().gradient_size(), 1);

  const Status other =
      ExtendGraph(&graph, Proto("library { function { signature { name: 'f' } } }"));
  EXPECT_EQ(other.ToString(),
            "INVALID_ARGUMENT: Cannot add function 'f' because a different function with the same "
            "name already exists.");
  EXPECT_EQ(
      ExtendGraph(&graph, Proto("library { gradient { function_name: 'f' gradient_func: 'f' } }"))
          .code(),
      Code::kInvalidArgument);
}

TEST(GraphDef, KeepsUnreadWhatBeginsWithAnUnderscore) {
  const char* const values[] = {
      "list { i: 1 f: 2 }",
      "tensor { dtype: DT_VARIANT variant_val { type_name: 'x' } }",
      "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 1099511627776 } } float_val: 1 }",
      "type: DT_FLOAT_REF",
      "list { type: [DT_FLOAT, DT_INT4] }",
      "shape { unknown_rank: true dim { size: 3 } }",
      "list { }",
      "",
      "placeholder: 'x'",
      "shape { dim { size: 3 name: 'rows' } }",
  };
  for (const char* value : values) {
    const tf::GraphDef proto = Proto(Node("n", "NoOp", {}, Attr("_a", value)));
    const Result<Graph> graph = GraphFromProto(proto, TinyOps());
    ASSERT_TRUE(graph.ok()) << value << graph.status().ToString();
    EXPECT_EQ(Write(*graph).ShortDebugString(), proto.ShortDebugString());
  }
}

TEST(GraphDef, RewritesWhatAPassChanged) {
  // The name of a dimension is kept as long as the shape is the one that came.
  const std::string text = Node(
      "p", "Placeholder", {},
      Attr("dtype", "type: DT_FLOAT") + Attr("shape", "shape { dim { size: 3 name: 'rows' } }"));
  Graph graph = *Read(text);
  EXPECT_EQ(Write(graph).ShortDebugString(), Proto(text).ShortDebugString());
  SetAttr(graph.node(0).attrs, "shape", Shape{4});
  EXPECT_EQ(Write(graph).node(0).attr().at("shape").ShortDebugString(),
            "shape { dim { size: 4 } }");
}

// A chain of `n` nodes, last first, each with many control edges.
tf::GraphDef Chain(int n) {
  tf::GraphDef proto;
  for (int i = n - 1; i >= 0; --i) {
    tf::NodeDef* node = proto.add_node();
    node->set_name("n" + std::to_string(i));
    node->set_op(i == 0 ? "Placeholder" : "Relu");
    if (i > 0) node->add_input("n" + std::to_string(i - 1));
    if (i > 2) node->add_input("^n" + std::to_string(i - 2));
    (*node->mutable_attr())[i == 0 ? "dtype" : "T"].set_type(tf::DT_FLOAT);
  }
  return proto;
}

TEST(GraphDef, TakesLongChains) {
  const Result<Graph> graph = GraphFromProto(Chain(100'000), TinyOps());
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->num_nodes(), 100'000);

  tf::GraphDef cycle = Chain(100'000);
  cycle.mutable_node(99'998)->add_input("^n99999");
  const Status status = GraphFromProto(cycle, TinyOps()).status();
  EXPECT_NE(status.message().find("cycle"), std::string::npos) << status.ToString();
}

TEST(GraphDef, TakesManyInputsAndAttributes) {
  tf::GraphDef proto = Proto(Float("x"));
  tf::NodeDef* node = proto.add_node();
  node->set_name("y");
  node->set_op("AddN");
  for (int i = 0; i < 100'000; ++i) node->add_input("x");
  for (int i = 0; i < 100'000; ++i) node->add_input("^x");
  for (int i = 0; i < 100'000; ++i) (*node->mutable_attr())["_a" + std::to_string(i)].set_i(i);
  const Result<Graph> graph = GraphFromProto(proto, TinyOps());
  ASSERT_TRUE(graph.ok()) << graph.status().ToString();
  EXPECT_EQ(graph->node(1).inputs.size(), 100'000u);
  EXPECT_EQ(Write(*graph).node(1).input_size(), 200'000);
}

// Run by hand: --gtest_also_run_disabled_tests --gtest_filter='*Million*'
TEST(GraphDef, DISABLED_TimesAMillionNodes) {
  const std::string wire = Chain(1'000'000).SerializeAsString();
  auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  const double start = now();
  const Result<Graph> graph = ParseGraphDef(wire, TinyOps());
  const double read = now();
  ASSERT_TRUE(graph.ok());
  ASSERT_EQ(SerializeGraphDef(*graph)->size() > wire.size() / 2, true);
  std::printf("%zu bytes: read %.2f s, write %.2f s\n", wire.size(), read - start, now() - read);
}

}  // namespace
}  // namespace penstock
