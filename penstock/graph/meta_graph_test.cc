#include "penstock/graph/meta_graph.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "penstock/graph/testing/tiny_ops.h"
#include "penstock/proto/meta_graph.pb.h"

namespace penstock {
namespace {

constexpr char kMeta[] = R"pb(
  meta_info_def {
    tags: "serve"
    tags: "gpu"
    tensorflow_version: "2.21.0"
    stripped_default_attrs: true
  }
  graph_def {
    node {
      name: "x"
      op: "Placeholder"
      attr {
        key: "dtype"
        value { type: DT_FLOAT }
      }
      attr {
        key: "shape"
        value { shape { unknown_rank: true } }
      }
    }
    node {
      name: "y"
      op: "Relu"
      input: "x"
      attr {
        key: "T"
        value { type: DT_FLOAT }
      }
    }
    versions { producer: 2474 }
  }
  saver_def { filename_tensor_name: "save/Const:0" restore_op_name: "save/restore_all" }
  collection_def {
    key: "train_op"
    value { node_list { value: "y" } }
  }
  signature_def {
    key: "serving_default"
    value {
      inputs {
        key: "image"
        value { name: "x:0" dtype: DT_FLOAT }
      }
      inputs {
        key: "sparse"
        value { coo_sparse { values_tensor_name: "x:0" } }
      }
      outputs {
        key: "score"
        value { name: "y:0" dtype: DT_FLOAT }
      }
      method_name: "tensorflow/serving/predict"
    }
  }
  asset_file_def { filename: "vocabulary.txt" }
  object_graph_def { nodes { registered_name: "r" } }
)pb";

TEST(MetaGraph, LosesNothing) {
  tf::MetaGraphDef proto;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kMeta, &proto));
  proto.GetReflection()->MutableUnknownFields(&proto)->AddVarint(99, 7);
  const Result<MetaGraph> meta =
      ParseMetaGraphDef(proto.SerializeAsString(), testing_ops::TinyOps());
  ASSERT_TRUE(meta.ok()) << meta.status().ToString();
  EXPECT_EQ(meta->graph.num_nodes(), 2);
  tf::MetaGraphDef back;
  ASSERT_TRUE(back.ParseFromString(*SerializeMetaGraphDef(*meta)));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(proto, back))
      << back.DebugString();
}

TEST(MetaGraph, TellsTagsAndSignatures) {
  tf::MetaGraphDef proto;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(kMeta, &proto));
  const MetaGraph meta = *MetaGraphFromProto(proto, testing_ops::TinyOps());
  EXPECT_EQ(*meta.Tags(), (std::vector<std::string>{"serve", "gpu"}));
  const auto signatures = *meta.Signatures();
  ASSERT_EQ(signatures.size(), 1u);
  const GraphSignature& signature = signatures.at("serving_default");
  EXPECT_EQ(signature.inputs, (std::map<std::string, std::string>{{"image", "x:0"}}));
  EXPECT_EQ(signature.outputs, (std::map<std::string, std::string>{{"score", "y:0"}}));
  EXPECT_EQ(signature.method_name, "tensorflow/serving/predict");
}

TEST(MetaGraph, RefusesWhatIsNone) {
  EXPECT_EQ(ParseMetaGraphDef("x", testing_ops::TinyOps()).status().code(), Code::kInvalidArgument);
  tf::MetaGraphDef proto;
  proto.mutable_graph_def()->add_node()->set_name("x");
  EXPECT_EQ(MetaGraphFromProto(proto, testing_ops::TinyOps()).status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace penstock
