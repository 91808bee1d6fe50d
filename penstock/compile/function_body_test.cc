// Bodies of functions over the ops of this library: from a FunctionDef, and into one.

#include <gtest/gtest.h>

#include "penstock/graph/extract.h"
#include "penstock/graph/graph_def.h"
#include "penstock/graph/instantiate.h"
#include "penstock/graph/scope.h"
#include "penstock/graph/testing/functions.h"

namespace penstock {
namespace {

const AttrMap kFloat{{"T", DType::kFloat}};

std::string BodyText(const FunctionLibrary& library, const FunctionName& name) {
  Result<FunctionBody> body = Instantiate(library, name, StandardOps());
  if (!body.ok()) return body.status().ToString();
  if (const Status status = body->graph.Verify(); !status.ok()) return status.ToString();
  std::string out;
  for (NodeId id = 0; id < body->graph.num_nodes(); ++id) {
    const Node& node = body->graph.node(id);
    out += node.name + " = " + node.op_name() + "(";
    std::string inputs;
    for (const OutputRef& input : node.inputs)
      inputs += (inputs.empty() ? "" : ", ") + body->graph.NameOf(input);
    for (const NodeId control : node.control_inputs)
      inputs += (inputs.empty() ? "^" : ", ^") + body->graph.node(control).name;
    out += inputs + ")\n";
  }
  return out;
}

FunctionLibrary LibraryOf(FunctionDef function) {
  FunctionLibrary library;
  const std::string name = function.signature.name;
  library.functions[name] = std::make_shared<const FunctionDef>(std::move(function));
  return library;
}

std::string BodyText(FunctionDef function) {
  const FunctionName name{function.signature.name, {}};
  return BodyText(LibraryOf(std::move(function)), name);
}

TEST(Instantiate, TakesNodesInAnyOrder) {
  EXPECT_EQ(BodyText(MakeFunction("f", {{"x"}}, {{"y", DType::kFloat, "b:y:0"}},
                                  {MakeNode("b", "Neg", {"a:y:0", "^c"}, kFloat),
                                   MakeNode("a", "Neg", {"x"}, kFloat), MakeNode("c", "NoOp", {})},
                                  {"c"})),
            "x = _Arg()\n"
            "a = Neg(x:0)\n"
            "c = NoOp()\n"
            "b = Neg(a:0, ^c)\n"
            "y = _Retval(b:0)\n");
}

TEST(Instantiate, ResolvesListsAndIndices) {
  const std::vector<DType> two{DType::kFloat, DType::kFloat};
  EXPECT_EQ(BodyText(MakeFunction("f", {{"x"}, {"z"}}, {{"y", DType::kFloat, "n:output:1"}},
                                  {MakeNode("n", "IdentityN", {"x", "z"}, {{"T", two}}),
                                   MakeNode("m", "IdentityN", {"n:output"}, {{"T", two}})})),
            "x = _Arg()\n"
            "z = _Arg()\n"
            "n = IdentityN(x:0, z:0)\n"
            "m = IdentityN(n:0, n:1)\n"
            "y = _Retval(n:1)\n");
}

TEST(Instantiate, ListArgumentsOfAttributes) {
  FunctionDef f = MakeFunction(
      "f", {{"xs"}}, {{"y", DType::kFloat, "s:sum:0"}},
      {MakeNode("s", "AddN", {"xs"},
                {{"T", AttrValue::Placeholder{"T"}}, {"N", AttrValue::Placeholder{"N"}}})});
  f.signature.inputs[0].dtype = DType::kInvalid;
  f.signature.inputs[0].type_attr = "T";
  f.signature.inputs[0].number_attr = "N";
  f.signature.outputs[0].dtype = DType::kInvalid;
  f.signature.outputs[0].type_attr = "T";
  for (const char* name : {"T", "N"}) {
    AttrDef& attr = f.signature.attrs.emplace_back();
    attr.name = name;
    attr.kind = std::string_view(name) == "T" ? "type" : "int";
  }
  const FunctionLibrary library = LibraryOf(f);
  EXPECT_EQ(BodyText(library, {"f", {{"T", DType::kInt32}, {"N", 2}}}),
            "xs_0 = _Arg()\n"
            "xs_1 = _Arg()\n"
            "s = AddN(xs_0:0, xs_1:0)\n"
            "y = _Retval(s:0)\n");
  EXPECT_EQ(BodyText(library, {"f", {{"T", DType::kInt32}}}),
            "INVALID_ARGUMENT: function f: attribute N of kind int is missing");
}

TEST(Instantiate, BadBodiesNameWhatIsWrong) {
  const TestArg x{"x"};
  const TestArg y{"y", DType::kFloat, "a:y:0"};
  auto error = [&](std::vector<FunctionNode> nodes) {
    return BodyText(MakeFunction("f", {x}, {y}, std::move(nodes)));
  };
  auto says = [](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find("function f"), std::string::npos) << text;
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  says(error({}), "no node or argument for input \"a:y:0\"");
  says(error({MakeNode("a", "Neg", {"b:y:0"}, kFloat)}), "\"b:y:0\"");
  says(error({MakeNode("a", "Neg", {"a:y:0"}, kFloat)}), "cycle through node a");
  says(error({MakeNode("a", "Neg", {"x"}, kFloat), MakeNode("a", "Neg", {"x"}, kFloat)}),
       "not unique");
  says(error({MakeNode("a", "NoSuchOp", {"x"})}), "NoSuchOp is not registered");
  says(error({MakeNode("a", "Neg", {"x", "^gone"}, kFloat)}), "control input \"gone\"");
  says(error({MakeNode("a", "Neg", {"x"}, {{"T", AttrValue::Placeholder{"Q"}}})}),
       "no attribute Q");
  says(error({MakeNode("b", "Neg", {"x"}, kFloat), MakeNode("a", "Neg", {"b:nothing:0"}, kFloat)}),
       "has no output of that name");
  says(error({MakeNode("b", "Neg", {"x"}, kFloat), MakeNode("a", "Neg", {"b:y:1"}, kFloat)}),
       "names one of 1 values");
  says(BodyText(MakeFunction("f", {x}, {{"y", DType::kInt32, "x"}}, {})),
       "result y must be int32, got float");
  EXPECT_EQ(BodyText(FunctionLibrary(), {"f", {}}), "NOT_FOUND: function f is not in the library");
}

TEST(Instantiate, EffectsKeepTheirOrder) {
  const AttrMap dtype{{"dtype", DType::kFloat}};
  FunctionLibrary library =
      LibraryOf(MakeFunction("f", {{"v", DType::kResource}, {"x"}}, {},
                             {MakeNode("a", "AssignAddVariableOp", {"v", "x"}, dtype),
                              MakeNode("b", "AssignVariableOp", {"v", "x"}, dtype)}));
  Result<FunctionBody> body = Instantiate(library, {"f", {}}, StandardOps());
  ASSERT_TRUE(body.ok());
  const NodeId a = body->graph.FindNode("a");
  const NodeId b = body->graph.FindNode("b");
  EXPECT_EQ(body->effects, (std::vector<NodeId>{a, b}));
  EXPECT_EQ(body->graph.node(b).control_inputs, std::vector<NodeId>{a});
}

TEST(Extract, WritesWhatInstantiateReads) {
  Graph graph;
  const Scope scope(graph);
  const Expr outer = scope.Constant(Tensor::Scalar(2.f), "outer");
  TracedPart part;
  part.first = graph.num_nodes();
  const Expr x = scope.Add("_Arg", {}, {{"T", DType::kFloat}, {"index", 0}}, "x");
  const Expr y = scope.Sub("s").Add("Mul", {x, outer}, {}, "m");
  const Expr z = scope.Add("Add", {y, outer}, {}, "m");
  part.end = graph.num_nodes();
  part.args = {x.ref().node};
  part.results = {z.ref(), outer.ref(), x.ref()};
  const Result<std::vector<OutputRef>> captures = FindCaptures(graph, part);
  ASSERT_TRUE(captures.ok());
  EXPECT_EQ(*captures, std::vector<OutputRef>{outer.ref()});
  Result<FunctionDef> function = ExtractFunction(graph, part, *captures, "f");
  ASSERT_TRUE(function.ok()) << function.status().ToString();
  RemovePart(graph, part);
  EXPECT_EQ(graph.num_live_nodes(), 1);
  EXPECT_EQ(AddToLibrary(graph, *function), "f");
  EXPECT_EQ(AddToLibrary(graph, *function), "f_1");
  EXPECT_EQ(BodyText(graph.library(), {"f_1", {}}),
            "arg_0 = _Arg()\n"
            "capture_0 = _Arg()\n"
            "m = Mul(arg_0:0, capture_0:0)\n"
            "m_1 = Add(m:0, capture_0:0)\n"
            "result_0 = _Retval(m_1:0)\n"
            "result_1 = _Retval(capture_0:0)\n"
            "result_2 = _Retval(arg_0:0)\n");
}

TEST(Extract, OpsThatAreFunctionsAreWrittenAsTheyCame) {
  Graph graph;
  AddFunction(graph, MakeFunction("same", {{"x"}}, {{"y", DType::kFloat, "x"}}, {}));
  const Scope scope(graph);
  scope.Add("same", {scope.Constant(Tensor::Scalar(1.f))}, {}, "call");
  ASSERT_TRUE(scope.status().ok()) << scope.status().ToString();
  const Result<std::string> wire = SerializeGraphDef(graph);
  ASSERT_TRUE(wire.ok());
  Result<Graph> again = ParseGraphDef(*wire, StandardOps());
  ASSERT_TRUE(again.ok()) << again.status().ToString();
  EXPECT_EQ(again->node(again->FindNode("call")).op_name(), "PartitionedCall");
  EXPECT_EQ(*SerializeGraphDef(*again), *wire);
  EXPECT_EQ(wire->find("PartitionedCall"), std::string::npos);
}

}  // namespace
}  // namespace penstock
