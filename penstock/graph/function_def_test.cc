#include "penstock/graph/function_def.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <string>

#include "penstock/proto/function.pb.h"

namespace penstock {
namespace {

constexpr char kFunction[] = R"pb(
  signature {
    name: "square"
    input_arg { name: "x" type_attr: "T" }
    output_arg { name: "y" type_attr: "T" }
    attr { name: "T" type: "type" }
    control_output: "done"
    description: "x * x"
  }
  attr {
    key: "_noinline"
    value { b: true }
  }
  arg_attr {
    key: 0
    value {
      attr {
        key: "_user_specified_name"
        value { s: "x" }
      }
    }
  }
  resource_arg_unique_id { key: 0 value: 3 }
  node_def {
    name: "mul"
    op: "Mul"
    input: "x"
    input: "x"
    device: "/cpu:0"
    attr {
      key: "T"
      value { placeholder: "T" }
    }
  }
  node_def {
    name: "v"
    op: "Const"
    input: "^mul"
    attr {
      key: "value"
      value {
        tensor {
          dtype: DT_VARIANT
          variant_val { type_name: "t" }
        }
      }
    }
  }
  ret { key: "y" value: "mul:z:0" }
  control_ret { key: "done" value: "mul" }
)pb";

tf::FunctionDef Proto(const std::string& text) {
  tf::FunctionDef proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto)) << text;
  return proto;
}

Result<FunctionDef> Read(const tf::FunctionDef& proto) {
  ImportBudget budget{ImportLimits()};
  return FunctionFromProto(proto, &budget);
}

TEST(FunctionDef, ReadsAFunction) {
  const Result<FunctionDef> function = Read(Proto(kFunction));
  ASSERT_TRUE(function.ok()) << function.status().ToString();
  EXPECT_EQ(function->signature.name, "square");
  EXPECT_EQ(function->signature.inputs[0].type_attr, "T");
  ASSERT_EQ(function->nodes.size(), 2u);
  EXPECT_EQ(function->nodes[0].inputs, (std::vector<std::string>{"x", "x"}));
  EXPECT_EQ(FindAttr(function->nodes[0].attrs, "T")->ToString(), "$T");
  EXPECT_EQ(function->results.at("y"), "mul:z:0");
  EXPECT_EQ(function->control_results.at("done"), "mul");
  EXPECT_EQ(*FindAttr(function->attrs, "_noinline"), AttrValue(true));
}

TEST(FunctionDef, LosesNothing) {
  const tf::FunctionDef proto = Proto(kFunction);
  tf::FunctionDef back;
  ASSERT_TRUE(FunctionToProto(*Read(proto), &back).ok());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(proto, back))
      << back.DebugString();
}

TEST(FunctionDef, WritesASignatureThatChanged) {
  FunctionDef function = *Read(Proto(kFunction));
  function.signature.inputs[0].name = "z";
  tf::FunctionDef back;
  ASSERT_TRUE(FunctionToProto(function, &back).ok());
  EXPECT_EQ(back.signature().input_arg(0).name(), "z");
  EXPECT_EQ(back.signature().control_output(0), "done");
}

TEST(FunctionDef, NamesWhatIsWrong) {
  EXPECT_EQ(Read(Proto("")).status().code(), Code::kInvalidArgument);
  const Status status = Read(Proto("signature { name: 'f' } node_def { name: 'n' op: 'Const' attr "
                                   "{ key: 'value' value { "
                                   "tensor { dtype: DT_FLOAT float_val: [1, 2] } } } }"))
                            .status();
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(status.message().starts_with("function f: node n: attribute value: "))
      << status.ToString();
}

}  // namespace
}  // namespace penstock
