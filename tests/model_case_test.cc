#include "tests/conformance/model_case.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

// A runner that passes everything would go unnoticed: these are the differences it must see.

namespace penstock::conformance {
namespace {

// A counter: "more" adds 2 to it.
constexpr char kCounter[] = R"(
  id: "counter" kind: "graph_def" rtol: 1e-6
  init_targets: "init"
  graph_def {
    node { name: "v" op: "VariableV2" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "shape" value { shape {} } } }
    node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }
    node { name: "zero" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
           attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape {} float_val: 0 } } } }
    node { name: "init" op: "Assign" input: "v" input: "zero"
           attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "more" op: "AssignAdd" input: "v" input: "x"
           attr { key: "T" value { type: DT_FLOAT } } }
    node { name: "unused" op: "NoSuchOp" input: "v" }
  }
  runs { targets: "more"
         feeds { name: "x:0" tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } }
  runs { fetches { name: "v:0" tensor { dtype: DT_FLOAT tensor_shape {} float_val: 2 } } }
)";

golden::ModelCase Counter() {
  golden::ModelCase recorded;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(kCounter, &recorded));
  return recorded;
}

TEST(ModelCase, StepsShareTheirState) {
  const Outcome outcome = RunModelCase(Counter(), ".");
  EXPECT_EQ(outcome.verdict, Verdict::kPassed) << outcome.reason;
}

TEST(ModelCase, AWrongValueFailsAndSaysWhere) {
  golden::ModelCase recorded = Counter();
  recorded.mutable_runs(1)->mutable_fetches(0)->mutable_tensor()->set_float_val(0, 3);
  const Outcome outcome = RunModelCase(recorded, ".");
  EXPECT_EQ(outcome.verdict, Verdict::kFailed);
  EXPECT_NE(outcome.reason.find("step 1: fetch v:0"), std::string::npos) << outcome.reason;
}

TEST(ModelCase, AStepThatFailsFails) {
  golden::ModelCase recorded = Counter();
  recorded.mutable_runs(0)->clear_feeds();
  EXPECT_EQ(RunModelCase(recorded, ".").verdict, Verdict::kFailed);
  recorded = Counter();
  recorded.clear_init_targets();
  EXPECT_EQ(RunModelCase(recorded, ".").verdict, Verdict::kFailed);
  recorded = Counter();
  recorded.mutable_runs(0)->set_targets(0, "nothing");
  EXPECT_EQ(RunModelCase(recorded, ".").verdict, Verdict::kFailed);
}

TEST(ModelCase, AMissingOpIsNotImplementedAMissingFileFails) {
  golden::ModelCase recorded = Counter();
  recorded.mutable_runs(0)->set_targets(0, "unused");
  EXPECT_EQ(RunModelCase(recorded, ".").verdict, Verdict::kNotImplemented);
  recorded = Counter();
  recorded.set_checkpoint("somewhere/init");
  EXPECT_EQ(RunModelCase(recorded, ".").verdict, Verdict::kFailed);
  recorded = Counter();
  recorded.set_kind("saved_model");
  recorded.clear_graph_def();
  recorded.set_path("somewhere");
  EXPECT_EQ(RunModelCase(recorded, ".").verdict, Verdict::kFailed);
}

// Old graphs do not tell a scalar from a shape that nobody knows.
TEST(ModelCase, APlaceholderOfAnOldGraphTakesAnyShape) {
  golden::ModelCase recorded;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
    id: "old" kind: "graph_def"
    graph_def {
      node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
             attr { key: "shape" value { shape {} } } }
      node { name: "y" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
      versions { producer: 21 }
    }
    runs { feeds { name: "x:0" tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } }
                                        float_val: 1 float_val: 2 } }
           fetches { name: "y:0" tensor { dtype: DT_FLOAT tensor_shape { dim { size: 2 } }
                                          float_val: -1 float_val: -2 } } }
  )",
                                                            &recorded));
  const Outcome outcome = RunModelCase(recorded, ".");
  EXPECT_EQ(outcome.verdict, Verdict::kPassed) << outcome.reason;
  recorded.mutable_graph_def()->mutable_versions()->set_producer(22);
  EXPECT_EQ(RunModelCase(recorded, ".").verdict, Verdict::kFailed);
}

TEST(ModelCase, FilesAreFoundUnderTheRoot) {
  golden::ModelCase recorded = Counter();
  const std::filesystem::path root = testing::TempDir();
  std::ofstream(root / "model_case_test.pb", std::ios::binary)
      << recorded.graph_def().SerializeAsString();
  recorded.clear_graph_def();
  recorded.set_path("model_case_test.pb");
  const Outcome outcome = RunModelCase(recorded, root);
  EXPECT_EQ(outcome.verdict, Verdict::kPassed) << outcome.reason;
  recorded.set_path("no_such_file.pb");
  EXPECT_EQ(RunModelCase(recorded, root).verdict, Verdict::kFailed);
}

}  // namespace
}  // namespace penstock::conformance
