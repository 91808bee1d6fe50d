// Every graph that real TensorFlow programs left in shared/ is read, over TensorFlow's own op
// definitions, and written again without loss.

#include <google/protobuf/io/gzip_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>

#include "penstock/graph/graph_def.h"
#include "penstock/graph/instantiate.h"
#include "penstock/graph/meta_graph.h"
#include "penstock/graph/op_def_proto.h"
#include "penstock/proto/golden_case.pb.h"
#include "penstock/proto/graph.pb.h"
#include "penstock/proto/meta_graph.pb.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;
using google::protobuf::util::MessageDifferencer;

// Beside the repository, or where PENSTOCK_SHARED says.
fs::path Shared() {
  const char* shared = std::getenv("PENSTOCK_SHARED");
  return shared != nullptr ? fs::path(shared) : fs::path("../shared");
}

std::string ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

const OpRegistry* TensorFlowsOps() {
  static const OpRegistry* const registry = []() -> OpRegistry* {
    std::ifstream file(Shared() / "op_defs" / "ops.pbtxt.gz", std::ios::binary);
    google::protobuf::io::IstreamInputStream raw(&file);
    google::protobuf::io::GzipInputStream unzipped(&raw);
    std::string text;
    const void* data = nullptr;
    for (int size = 0; unzipped.Next(&data, &size);) {
      text.append(static_cast<const char*>(data), static_cast<size_t>(size));
    }
    const Result<std::vector<OpDef>> ops = ParseOpListText(text);
    if (!ops.ok()) return nullptr;
    auto* made = new OpRegistry;
    for (const OpDef& def : *ops) {
      OpInfo info;
      info.def = def;
      EXPECT_TRUE(made->Add(info).ok());
    }
    return made;
  }();
  return registry;
}

void ExpectSame(const tf::AttrValue& original, const tf::AttrValue& back, const std::string& what) {
  if (original.has_tensor() && original.tensor().dtype() != tf::DT_VARIANT) {
    const Result<Tensor> a = TensorFromProto(original.tensor());
    const Result<Tensor> b = TensorFromProto(back.tensor());
    ASSERT_TRUE(a.ok() && b.ok()) << what << a.status().ToString() << b.status().ToString();
    EXPECT_TRUE(SameContent(*a, *b)) << what;
    return;
  }
  EXPECT_TRUE(MessageDifferencer::Equals(original, back))
      << what << original.DebugString() << back.DebugString();
}

std::string WithoutPortZero(const std::string& input) {
  return input.ends_with(":0") ? input.substr(0, input.size() - 2) : input;
}

void ExpectSame(const tf::NodeDef& original, tf::NodeDef back, const std::string& where) {
  const std::string what = where + ", node " + original.name();
  ASSERT_EQ(original.input_size(), back.input_size()) << what;
  for (int i = 0; i < original.input_size(); ++i)
    EXPECT_EQ(WithoutPortZero(original.input(i)), WithoutPortZero(back.input(i))) << what;
  for (const auto& [name, value] : original.attr()) {
    ASSERT_TRUE(back.attr().contains(name)) << what << " lost " << name;
    ExpectSame(value, back.attr().at(name), what + ", attribute " + name + ": ");
  }
  *back.mutable_attr() = original.attr();
  *back.mutable_input() = original.input();
  EXPECT_TRUE(MessageDifferencer::Equals(original, back)) << what;
}

// Every function that needs no attribute has a body that is a graph.
void CheckBodies(const Graph& graph, const std::string& where) {
  for (const auto& [name, function] : graph.library().functions) {
    const auto& attrs = function->signature.attrs;
    if (std::any_of(attrs.begin(), attrs.end(), [](const AttrDef& a) { return !a.default_value; }))
      continue;
    const Result<FunctionBody> body = Instantiate(graph.library(), {name, {}}, graph.registry());
    ASSERT_TRUE(body.ok()) << where << ": " << body.status().ToString();
    EXPECT_TRUE(body->graph.Verify().ok()) << where << body->graph.Verify().ToString();
  }
}

void CheckGraph(const tf::GraphDef& proto, const std::string& where, int* num_graphs) {
  const Result<Graph> graph = GraphFromProto(proto, *TensorFlowsOps());
  ASSERT_TRUE(graph.ok()) << where << graph.status().ToString();
  ++*num_graphs;
  EXPECT_TRUE(graph->Verify().ok()) << where << graph->Verify().ToString();
  CheckBodies(*graph, where);
  tf::GraphDef back;
  const Status status = GraphToProto(*graph, &back);
  ASSERT_TRUE(status.ok()) << where << status.ToString();
  std::unordered_map<std::string, const tf::NodeDef*> nodes;
  for (const tf::NodeDef& node : back.node()) nodes[node.name()] = &node;
  ASSERT_EQ(proto.node_size(), back.node_size()) << where;
  for (const tf::NodeDef& node : proto.node()) {
    ASSERT_TRUE(nodes.contains(node.name())) << where << node.name();
    ExpectSame(node, *nodes[node.name()], where);
  }
  EXPECT_TRUE(MessageDifferencer::Equals(proto.versions(), back.versions())) << where;
  std::unordered_map<std::string, const tf::FunctionDef*> functions;
  for (const tf::FunctionDef& function : back.library().function()) {
    functions[function.signature().name()] = &function;
  }
  ASSERT_EQ(proto.library().function_size(), back.library().function_size());
  for (tf::FunctionDef function : proto.library().function()) {
    tf::FunctionDef other = *functions[function.signature().name()];
    ASSERT_EQ(function.node_def_size(), other.node_def_size());
    for (int i = 0; i < function.node_def_size(); ++i) {
      EXPECT_TRUE(std::equal(function.node_def(i).input().begin(),
                             function.node_def(i).input().end(), other.node_def(i).input().begin(),
                             other.node_def(i).input().end()));
      ExpectSame(function.node_def(i), other.node_def(i), where);
    }
    *other.mutable_node_def() = function.node_def();
    EXPECT_TRUE(MessageDifferencer::Equals(function, other)) << where;
  }
}

void CheckFile(const fs::path& path, int* num_graphs) {
  const std::string wire = ReadFile(path);
  const std::string name = path.lexically_relative(Shared());
  if (path.extension() == ".meta") {
    tf::MetaGraphDef meta;
    ASSERT_TRUE(meta.ParseFromString(wire)) << name;
    CheckGraph(meta.graph_def(), name, num_graphs);
    return;
  }
  tf::SavedModel saved;
  if (path.filename() == "saved_model.pb" && saved.ParseFromString(wire)) {
    for (const tf::MetaGraphDef& meta : saved.meta_graphs())
      CheckGraph(meta.graph_def(), name, num_graphs);
    return;
  }
  tf::GraphDef graph;
  if (graph.ParseFromString(wire) && graph.node_size() > 0) CheckGraph(graph, name, num_graphs);
}

// Calls `f` with the data of each record of a TFRecord file.
template <class F>
void ForEachRecord(const fs::path& path, F f) {
  const std::string all = ReadFile(path);
  for (size_t at = 0; at + 12 <= all.size();) {
    uint64_t length = 0;
    std::memcpy(&length, all.data() + at, 8);
    ASSERT_LE(length, all.size() - at - 12);
    f(all.substr(at + 12, length));
    at += length + 16;
  }
}

TEST(Models, ReadsAndWritesFiles) {
  if (!fs::exists(Shared() / "models")) GTEST_SKIP() << "no models in " << Shared();
  ASSERT_NE(TensorFlowsOps(), nullptr);
  int num_graphs = 0;
  for (const auto& entry : fs::recursive_directory_iterator(Shared() / "models")) {
    const fs::path extension = entry.path().extension();
    if (extension == ".pb" || extension == ".meta") CheckFile(entry.path(), &num_graphs);
  }
  EXPECT_GT(num_graphs, 0);
}

TEST(Models, ReadsAndWritesRecordedGraphs) {
  if (!fs::exists(Shared() / "models")) GTEST_SKIP() << "no models in " << Shared();
  ASSERT_NE(TensorFlowsOps(), nullptr);
  int num_graphs = 0;
  for (const auto& entry : fs::directory_iterator(Shared() / "models")) {
    if (entry.path().extension() != ".tfrecord") continue;
    ForEachRecord(entry.path(), [&](const std::string& record) {
      golden::ModelCase model;
      ASSERT_TRUE(model.ParseFromString(record));
      if (model.has_graph_def()) CheckGraph(model.graph_def(), model.id(), &num_graphs);
    });
  }
  EXPECT_GT(num_graphs, 0);
}

TEST(Models, ReadsRecordedTensors) {
  if (!fs::exists(Shared() / "goldens")) GTEST_SKIP() << "no goldens in " << Shared();
  int tensors = 0;
  for (const auto& entry : fs::directory_iterator(Shared() / "goldens")) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("kernels_")) continue;
    ForEachRecord(entry.path(), [&](const std::string& record) {
      golden::KernelCase kernel;
      ASSERT_TRUE(kernel.ParseFromString(record));
      auto check = [&](const golden::NamedTensor& named) {
        const Result<Tensor> tensor = TensorFromProto(named.tensor());
        if (tensor.status().code() == Code::kUnimplemented) return;
        ASSERT_TRUE(tensor.ok()) << kernel.id() << " " << named.name() << ": "
                                 << tensor.status().ToString();
        tf::TensorProto back;
        ASSERT_TRUE(TensorToProto(*tensor, &back).ok());
        EXPECT_TRUE(tensor->dtype() == DType::kResource ||
                    SameContent(*tensor, *TensorFromProto(back)));
        ++tensors;
      };
      for (const auto& named : kernel.inputs()) check(named);
      for (const auto& named : kernel.outputs()) check(named);
    });
  }
  EXPECT_GT(tensors, 0);
}

}  // namespace
}  // namespace penstock
