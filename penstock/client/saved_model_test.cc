#include "penstock/client/saved_model.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "penstock/io/bundle.h"
#include "penstock/io/table.h"

namespace penstock {
namespace {

// y = x * v + b, where v lies in the checkpoint and b is set by the initializer.
constexpr char kModel[] = R"(
  saved_model_schema_version: 1
  meta_graphs {
    meta_info_def { tags: "serve" stripped_default_attrs: true }
    graph_def {
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "v" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
             attr { key: "shape" value { shape { } } } }
      node { name: "b" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
             attr { key: "shape" value { shape { } } } }
      node { name: "two" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
             attr { key: "value" value { tensor { dtype: DT_FLOAT float_val: 2 tensor_shape { } } } } }
      node { name: "init" op: "Assign" input: "b" input: "two" attr { key: "T" value { type: DT_FLOAT } } }
      node { name: "product" op: "Mul" input: "x" input: "v" attr { key: "T" value { type: DT_FLOAT } } }
      node { name: "y" op: "AddV2" input: "product" input: "b" attr { key: "T" value { type: DT_FLOAT } } }
      node { name: "prefix" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
             attr { key: "value" value { tensor { dtype: DT_STRING string_val: "" tensor_shape { } } } } }
      node { name: "asset" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
             attr { key: "value" value { tensor { dtype: DT_STRING string_val: "" tensor_shape { } } } } }
      node { name: "names" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
             attr { key: "value" value { tensor { dtype: DT_STRING string_val: "v" tensor_shape { dim { size: 1 } } } } } }
      node { name: "slices" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
             attr { key: "value" value { tensor { dtype: DT_STRING string_val: "" tensor_shape { dim { size: 1 } } } } } }
      node { name: "restored" op: "RestoreV2" input: "prefix" input: "names" input: "slices"
             attr { key: "dtypes" value { list { type: DT_FLOAT } } } }
      node { name: "restore" op: "Assign" input: "v" input: "restored" attr { key: "T" value { type: DT_FLOAT } } }
    }
    saver_def { filename_tensor_name: "prefix:0" restore_op_name: "restore" version: V2 }
    collection_def { key: "legacy_init_op" value { node_list { value: "init" } } }
    collection_def { key: "saved_model_assets" value { any_list { value {
        [type.googleapis.com/tensorflow.AssetFileDef] { tensor_info { name: "asset:0" } filename: "ASSET" } } } } }
    signature_def { key: "serving_default" value {
        inputs { key: "in" value { name: "x:0" dtype: DT_FLOAT } }
        outputs { key: "out" value { name: "y:0" dtype: DT_FLOAT } }
        method_name: "tensorflow/serving/predict" } }
  }
)";

class SavedModelTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!io::BuildTable({}).ok()) GTEST_SKIP() << "built without LevelDB";
    folder_ = testing::TempDir() + "/saved_model_test." +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(folder_);
    Result<io::BundleWriter> writer = io::BundleWriter::Open(folder_ + "/variables/variables");
    ASSERT_TRUE(writer.ok() && writer->Add("v", Tensor::Scalar(3.f)).ok() && writer->Finish().ok());
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  // Writes the model with some of its text replaced.
  void Write(std::string_view from = "", std::string_view to = "") const {
    std::string text = kModel;
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    std::ofstream(folder_ + "/saved_model.pbtxt") << text;
  }
  Code CodeOf(const std::vector<std::string>& tags = {"serve"}) const {
    try {
      SavedModel model(folder_, tags);
      return Code::kOk;
    } catch (const Error& error) {
      return error.code();
    }
  }

  std::string folder_;
};

TEST_F(SavedModelTest, IsRestoredInitializedAndCalled) {
  Write("ASSET", "vocabulary");
  SavedModel model(folder_);
  EXPECT_EQ(model.signatures().size(), 1u);
  EXPECT_EQ(model.Call({{"in", Tensor::Scalar(5.f)}}).at("out").ToString(), "float [] {17}");
  EXPECT_THROW(model.Call({}), Error);
  EXPECT_THROW(model.Call({{"in", Tensor::Scalar(5.f)}, {"more", Tensor::Scalar(5.f)}}), Error);
  EXPECT_THROW(model.Call({{"in", Tensor::Scalar(5.f)}}, "none"), Error);
}

TEST_F(SavedModelTest, BadModelsAreRefused) {
  EXPECT_EQ(CodeOf(), Code::kNotFound);  // no graph at all
  Write();
  EXPECT_EQ(CodeOf({"train"}), Code::kNotFound);
  EXPECT_EQ(CodeOf({"serve", "train"}), Code::kNotFound);
  Write("ASSET", "../../etc/passwd");
  EXPECT_EQ(CodeOf(), Code::kInvalidArgument);
  Write("\"AddV2\"", "\"NoSuchOp\"");
  EXPECT_EQ(CodeOf(), Code::kNotFound);
  Write("restore_op_name: \"restore\"", "restore_op_name: \"nothing\"");
  EXPECT_NE(CodeOf(), Code::kOk);
  Write("meta_info_def", "meta_info");
  EXPECT_EQ(CodeOf(), Code::kDataLoss);
  Write();
  std::ofstream(folder_ + "/variables/variables.data-00000-of-00001") << "abcd";
  EXPECT_EQ(CodeOf(), Code::kDataLoss);
  std::ofstream(folder_ + "/saved_model.pb") << "no model";
  EXPECT_EQ(CodeOf(), Code::kDataLoss);
}

}  // namespace
}  // namespace penstock
