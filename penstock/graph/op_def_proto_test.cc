#include "penstock/graph/op_def_proto.h"

#include <google/protobuf/io/gzip_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "penstock/graph/testing/tiny_ops.h"
#include "penstock/proto/op_def.pb.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;

constexpr char kOp[] = R"pb(
  name: "Op"
  input_arg { name: "a" type_attr: "T" }
  input_arg { name: "b" type: DT_INT32 is_ref: true }
  input_arg { name: "c" type_attr: "T" number_attr: "N" }
  input_arg { name: "d" type_list_attr: "Ts" }
  output_arg { name: "e" type_attr: "T" }
  attr {
    name: "T"
    type: "type"
    default_value { type: DT_FLOAT }
    allowed_values { list { type: DT_FLOAT type: DT_HALF } }
  }
  attr { name: "N" type: "int" has_minimum: true minimum: 2 }
  attr {
    name: "Ts"
    type: "list(type)"
    has_minimum: true
    default_value { list {} }
  }
  attr {
    name: "mode"
    type: "string"
    default_value { s: "a" }
    allowed_values { list { s: "a" s: "b" } }
  }
  is_stateful: true
)pb";

OpDef Op(const std::string& text = kOp) {
  tf::OpDef proto;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &proto));
  const Result<OpDef> def = OpDefFromProto(proto);
  EXPECT_TRUE(def.ok()) << def.status().ToString();
  return *def;
}

TEST(OpDefProto, RoundTrips) {
  tf::OpDef proto;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kOp, &proto));
  tf::OpDef back;
  ASSERT_TRUE(OpDefToProto(*OpDefFromProto(proto), &back).ok());
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(proto, back))
      << back.DebugString();
  for (const OpInfo& info : testing_ops::TinyOpList()) {
    ASSERT_TRUE(OpDefToProto(info.def, &back).ok());
    const OpDef again = *OpDefFromProto(back);
    EXPECT_EQ(CompareOpDefs(info.def, again), std::vector<std::string>());
    EXPECT_EQ(CompareOpDefs(again, info.def), std::vector<std::string>());
  }
}

TEST(OpDefProto, KeepsAListOfUnknownTypesClosed) {
  const OpDef def =
      Op("name: 'x' attr { name: 'T' type: 'type' allowed_values { list { type: DT_INT4 } } }");
  EXPECT_EQ(def.attrs[0].allowed_types, std::vector<DType>{DType::kInvalid});
}

TEST(OpDefProto, ParsesLists) {
  EXPECT_EQ(ParseOpListText("op { name: 'a' } op { name: 'b' }")->size(), 2u);
  EXPECT_EQ(ParseOpListText("op { nam: 'a' }").status().code(), Code::kInvalidArgument);
  EXPECT_EQ(ParseOpListText(
                "op { name: 'a' attr { name: 'x' type: 'tensor' default_value { tensor { } } } }")
                .status()
                .code(),
            Code::kInvalidArgument);
}

TEST(OpDefProto, ListsDifferences) {
  EXPECT_EQ(CompareOpDefs(Op(), Op()), std::vector<std::string>());
  auto differences = [](auto change) {
    OpDef ours = Op();
    change(ours);
    return CompareOpDefs(ours, Op());
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(differences([](OpDef& d) { d.name = "Po"; }),
            Lines{"name: Po where TensorFlow has Op"});
  EXPECT_EQ(differences([](OpDef& d) { d.inputs.pop_back(); }),
            Lines{"number of inputs: 3 where TensorFlow has 4"});
  EXPECT_EQ(differences([](OpDef& d) { d.inputs[0].name = "z"; }),
            Lines{"input 0: z where TensorFlow has a"});
  EXPECT_EQ(differences([](OpDef& d) { d.inputs[1].is_ref = false; }),
            Lines{"type of input b: int32 where TensorFlow has a reference to int32"});
  EXPECT_EQ(differences([](OpDef& d) { d.inputs[2].number_attr = "M"; }),
            Lines{"type of input c: M * T where TensorFlow has N * T"});
  EXPECT_EQ(differences([](OpDef& d) { d.inputs[3].type_list_attr = "Us"; }),
            Lines{"type of input d: types Us where TensorFlow has types Ts"});
  EXPECT_EQ(differences([](OpDef& d) { d.outputs[0].type_attr = "U"; }),
            Lines{"type of output e: U where TensorFlow has T"});
  EXPECT_EQ(differences([](OpDef& d) { d.attrs.pop_back(); }), Lines{"attribute mode is missing"});
  EXPECT_EQ(differences([](OpDef& d) { d.attrs.push_back(testing_ops::Attr("more", "int")); }),
            Lines{"attribute more is not TensorFlow's"});
  EXPECT_EQ(differences([](OpDef& d) { std::swap(d.attrs[0], d.attrs[3]); }), Lines());
  EXPECT_EQ(differences([](OpDef& d) { d.attrs[1].kind = "float"; }),
            Lines{"kind of attribute N: float where TensorFlow has int"});
  EXPECT_EQ(differences([](OpDef& d) { d.attrs[1].minimum = 1; }),
            Lines{"minimum of attribute N: 1 where TensorFlow has 2"});
  EXPECT_EQ(differences([](OpDef& d) { d.attrs[0].default_value.reset(); }),
            Lines{"default of attribute T: none where TensorFlow has float"});
  EXPECT_EQ(differences([](OpDef& d) { d.attrs[2].default_value = std::vector<DType>(); }),
            Lines());
  EXPECT_EQ(differences([](OpDef& d) { d.attrs[0].allowed_types.pop_back(); }), Lines());
  EXPECT_EQ(differences([](OpDef& d) { d.attrs[0].allowed_types.push_back(DType::kInt8); }),
            Lines{"attribute T allows int8, TensorFlow's does not"});
  EXPECT_EQ(differences([](OpDef& d) { d.attrs[0].allowed_types.clear(); }),
            Lines{"attribute T allows anything, TensorFlow's does not"});
  EXPECT_EQ(differences([](OpDef& d) { d.attrs[3].allowed_strings = {"c"}; }),
            Lines{"attribute mode allows c, TensorFlow's does not"});
  EXPECT_EQ(differences([](OpDef& d) { d.is_stateful = false; }),
            Lines{"is_stateful: false where TensorFlow has true"});
  EXPECT_EQ(differences([](OpDef& d) { d.is_commutative = true; }),
            Lines{"is_commutative: true where TensorFlow has false"});
  EXPECT_EQ(differences([](OpDef& d) { d.is_aggregate = true; }),
            Lines{"is_aggregate: true where TensorFlow has false"});
}

// TensorFlow's own list, beside the repository or where PENSTOCK_SHARED says.
fs::path SharedOps() {
  const char* shared = std::getenv("PENSTOCK_SHARED");
  return (shared != nullptr ? fs::path(shared) : fs::path("../shared")) / "op_defs" /
         "ops.pbtxt.gz";
}

TEST(OpDefProto, ReadsTensorFlowsOps) {
  if (!fs::exists(SharedOps())) GTEST_SKIP() << "no " << SharedOps();
  std::ifstream file(SharedOps(), std::ios::binary);
  google::protobuf::io::IstreamInputStream raw(&file);
  google::protobuf::io::GzipInputStream unzipped(&raw);
  std::string text;
  const void* data = nullptr;
  for (int size = 0; unzipped.Next(&data, &size);)
    text.append(static_cast<const char*>(data), static_cast<size_t>(size));
  const Result<std::vector<OpDef>> ops = ParseOpListText(text);
  ASSERT_TRUE(ops.ok()) << ops.status().ToString();
  EXPECT_GT(ops->size(), 1000u);
  for (const OpDef& def : *ops) {
    tf::OpDef proto;
    ASSERT_TRUE(OpDefToProto(def, &proto).ok());
    EXPECT_EQ(CompareOpDefs(*OpDefFromProto(proto), def), std::vector<std::string>()) << def.name;
  }
}

}  // namespace
}  // namespace penstock
