// Random GraphDefs, with fields that no version knows in every message of them, come back as they
// went; broken ones come back as an error.

#include <google/protobuf/descriptor.h>
#include <google/protobuf/unknown_field_set.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "penstock/graph/function.h"
#include "penstock/graph/graph_def.h"
#include "penstock/graph/node_def.h"
#include "penstock/graph/testing/tiny_ops.h"
#include "penstock/proto/graph.pb.h"

namespace penstock {
namespace {

namespace gp = google::protobuf;
using testing_ops::TinyOps;

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  tf::GraphDef Graph() {
    tf::GraphDef graph;
    const int n = Below(12);
    for (int i = 0; i < n; ++i) AddNode(&graph);
    if (Chance(2)) {
      graph.mutable_versions()->set_producer(Below(3000));
      graph.mutable_versions()->set_min_consumer(Below(100));
      if (Chance(2)) graph.mutable_versions()->add_bad_consumers(Below(100));
    }
    if (Chance(3)) graph.set_version(Below(30));
    if (Chance(2)) FillLibrary(graph.mutable_library());
    if (Chance(3)) {
      graph.mutable_debug_info()->add_files(Text());
      (*graph.mutable_debug_info()->mutable_name_to_trace_id())["a"] = 7;
    }
    if (Chance(2)) AddUnknown(&graph);
    return graph;
  }

 private:
  int Below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  bool Chance(int one_in) { return Below(one_in) == 0; }
  std::string Text() {
    return std::string(static_cast<size_t>(Below(5)), static_cast<char>('a' + Below(26)));
  }

  void AddNode(tf::GraphDef* graph) {
    std::vector<std::string> floats;
    for (const auto& node : graph->node()) {
      if (node.op() != "Attributes") floats.push_back(node.name());
    }
    const std::string before =
        graph->node_size() == 0 ? "" : graph->node(Below(graph->node_size())).name();
    tf::NodeDef* node = graph->add_node();
    node->set_name("n" + std::to_string(graph->node_size()));
    auto& attrs = *node->mutable_attr();
    if (Chance(3)) {
      node->set_op("Attributes");
      for (const AttrDef& attr : TinyOps().Find("Attributes")->def.attrs) {
        if (Chance(3)) attrs[attr.name] = Value(attr.kind);
      }
    } else if (floats.empty() || Chance(3)) {
      node->set_op("Placeholder");
      attrs["dtype"].set_type(tf::DT_FLOAT);
      if (Chance(2)) attrs["shape"] = Value("shape");
    } else if (Chance(2)) {
      node->set_op("AddN");
      const int n = 1 + Below(4);
      for (int i = 0; i < n; ++i)
        node->add_input(floats[static_cast<size_t>(Below(static_cast<int>(floats.size())))]);
      attrs["N"].set_i(n);
      attrs["T"].set_type(tf::DT_FLOAT);
    } else {
      node->set_op("Identity");
      node->add_input(floats.back());
      attrs["T"].set_type(tf::DT_FLOAT);
    }
    if (!before.empty() && Chance(3)) node->add_input("^" + before);
    Decorate(node);
  }

  void Decorate(tf::NodeDef* node) {
    if (Chance(3)) node->set_device("/device:CPU:" + std::to_string(Below(3)));
    if (Chance(2))
      (*node->mutable_attr())["_" + Text()] =
          Value(kKinds[static_cast<size_t>(Below(std::size(kKinds)))]);
    if (Chance(4)) node->mutable_experimental_debug_info()->add_original_node_names(Text());
    if (Chance(4)) node->mutable_experimental_type()->add_args()->set_type_id(tf::TFT_TENSOR);
  }

  tf::AttrValue Value(const std::string& kind) {
    tf::AttrValue value;
    auto* list = kind.starts_with("list") ? value.mutable_list() : nullptr;
    const int n = list != nullptr ? 1 + Below(3) : 1;
    const std::string item = list == nullptr ? kind : kind.substr(5, kind.size() - 6);
    for (int i = 0; i < n; ++i) {
      if (item == "string") list ? list->add_s(Text()) : value.set_s(Text());
      if (item == "int") list ? list->add_i(Below(100)) : value.set_i(-Below(100));
      if (item == "float") list ? list->add_f(0.5f) : value.set_f(static_cast<float>(Below(9)));
      if (item == "bool") list ? list->add_b(Chance(2)) : value.set_b(Chance(2));
      if (item == "type") list ? list->add_type(tf::DT_INT8) : value.set_type(tf::DT_HALF);
      if (item == "shape") Fill(list ? list->add_shape() : value.mutable_shape());
      if (item == "tensor") Fill(list ? list->add_tensor() : value.mutable_tensor());
      if (item == "func") Fill(list ? list->add_func() : value.mutable_func());
    }
    return value;
  }

  void Fill(tf::TensorShapeProto* shape) {
    if (Chance(4)) return shape->set_unknown_rank(true);
    for (int i = Below(4); i > 0; --i) {
      auto* dim = shape->add_dim();
      dim->set_size(Below(4) - 1);
      if (Chance(8)) dim->set_name(Text());
    }
  }
  void Fill(tf::TensorProto* proto) {
    const DType dtypes[] = {DType::kFloat, DType::kHalf, DType::kInt8, DType::kComplex64,
                            DType::kUint64};
    Tensor tensor(dtypes[Below(5)], {Below(3), Below(20)});
    auto* bytes = static_cast<uint8_t*>(tensor.mutable_raw());
    for (size_t i = 0; i < tensor.bytes(); ++i) bytes[i] = static_cast<uint8_t>(Below(120));
    EXPECT_TRUE(TensorToProto(tensor, proto).ok());
    if (Chance(8)) proto->set_version_number(3);
  }
  void Fill(tf::NameAttrList* function) {
    function->set_name("f" + Text());
    if (Chance(3)) (*function->mutable_attr())[Text()] = Value("list(func)");
    if (Chance(3)) (*function->mutable_attr())["T"].set_placeholder("T");
  }

  void FillLibrary(tf::FunctionDefLibrary* library) {
    const int n = Below(3);
    for (int i = 0; i < n; ++i) {
      tf::FunctionDef* function = library->add_function();
      FillSignature("f" + std::to_string(i), function->mutable_signature());
      (*function->mutable_attr())["_" + Text()] = Value("shape");
      (*(*function->mutable_arg_attr())[0].mutable_attr())["_a"] = Value("string");
      (*function->mutable_resource_arg_unique_id())[1] = 2;
      for (int k = Below(4); k > 0; --k) {
        tf::NodeDef* node = function->add_node_def();
        node->set_name("b" + std::to_string(k));
        node->set_op("AnyOp");
        node->add_input("x");
        node->add_input("b:out:0");
        (*node->mutable_attr())["T"].set_placeholder("T");
        (*node->mutable_attr())["v"].mutable_tensor()->set_dtype(tf::DT_VARIANT);
        Decorate(node);
      }
      (*function->mutable_ret())["y"] = "b1:out:0";
      (*function->mutable_control_ret())["c"] = "b1";
      function->mutable_signature()->add_control_output("c");
    }
    if (Chance(2)) {
      auto* gradient = library->add_gradient();
      gradient->set_function_name("f0");
      gradient->set_gradient_func("f1");
    }
    if (Chance(2)) library->add_registered_gradients()->set_gradient_func(Text());
  }

  void FillSignature(const std::string& name, tf::OpDef* signature) {
    signature->set_name(name);
    auto* input = signature->add_input_arg();
    input->set_name("x");
    input->set_type_attr("T");
    if (Chance(3)) input->set_description("text");
    if (Chance(3)) input->add_handle_data()->set_dtype(tf::DT_FLOAT);
    auto* output = signature->add_output_arg();
    output->set_name("y");
    output->set_type(tf::DT_FLOAT);
    auto* attr = signature->add_attr();
    attr->set_name("T");
    attr->set_type("type");
    attr->mutable_allowed_values()->mutable_list()->add_type(tf::DT_FLOAT);
    signature->set_is_stateful(Chance(2));
    if (Chance(3)) signature->set_description("does nothing");
  }

  // Adds fields that nobody knows to some of the messages below `message`, and to it.
  void AddUnknown(gp::Message* message) {
    const gp::Reflection& reflection = *message->GetReflection();
    if (Chance(4)) {
      gp::UnknownFieldSet* fields = reflection.MutableUnknownFields(message);
      fields->AddVarint(1000 + Below(9), random_());
      fields->AddLengthDelimited(2000, Text());
    }
    std::vector<const gp::FieldDescriptor*> present;
    reflection.ListFields(*message, &present);
    for (const gp::FieldDescriptor* field : present) {
      if (field->cpp_type() != gp::FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (!field->is_repeated()) {
        AddUnknown(reflection.MutableMessage(message, field));
        continue;
      }
      for (int i = 0; i < reflection.FieldSize(*message, field); ++i) {
        // An entry of a map is no message of its own: the value is.
        gp::Message* item = reflection.MutableRepeatedMessage(message, field, i);
        if (!field->is_map()) {
          AddUnknown(item);
        } else if (field->message_type()->map_value()->message_type() != nullptr) {
          AddUnknown(
              item->GetReflection()->MutableMessage(item, field->message_type()->map_value()));
        }
      }
    }
  }

  static inline const std::vector<std::string> kKinds = {
      "string",       "int",        "float",      "bool",        "type",        "shape",
      "tensor",       "func",       "list(type)", "list(bool)",  "list(float)", "list(shape)",
      "list(tensor)", "list(func)", "list(int)",  "list(string)"};
  std::mt19937 random_;
};

// Takes out of `graph` the attributes that `original` leaves to their defaults.
void DropDefaults(const tf::GraphDef& original, tf::GraphDef* graph) {
  for (int i = 0; i < std::min(original.node_size(), graph->node_size()); ++i) {
    for (const AttrDef& attr : TinyOps().Find(original.node(i).op())->def.attrs) {
      if (original.node(i).attr().contains(attr.name)) continue;
      auto& attrs = *graph->mutable_node(i)->mutable_attr();
      ASSERT_TRUE(attr.default_value && attrs.contains(attr.name));
      tf::AttrValue expected;
      ASSERT_TRUE(AttrToProto(*attr.default_value, &expected).ok());
      EXPECT_TRUE(gp::util::MessageDifferencer::Equals(expected, attrs.at(attr.name)));
      attrs.erase(attr.name);
    }
  }
}

TEST(RoundTrip, LosesNothing) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const tf::GraphDef original = Generator(seed).Graph();
    const Result<Graph> graph = GraphFromProto(original, TinyOps());
    ASSERT_TRUE(graph.ok()) << seed << ": " << graph.status().ToString() << original.DebugString();
    ASSERT_TRUE(graph->Verify().ok());
    tf::GraphDef back;
    ASSERT_TRUE(GraphToProto(*graph, &back).ok());
    DropDefaults(original, &back);
    gp::util::MessageDifferencer differencer;
    std::string difference;
    differencer.ReportDifferencesToString(&difference);
    ASSERT_TRUE(differencer.Compare(original, back)) << seed << ": " << difference;

    // What was written once is written again byte for byte.
    const std::string wire = *SerializeGraphDef(*graph);
    const Result<Graph> again = ParseGraphDef(wire, TinyOps());
    ASSERT_TRUE(again.ok()) << again.status().ToString();
    ASSERT_EQ(*SerializeGraphDef(*again), wire) << seed;
    ASSERT_EQ(*SerializeGraphDef(graph->Clone()), wire) << seed;
  }
}

TEST(RoundTrip, BrokenBytesGiveAnErrorOrAGraph) {
  ImportLimits limits;
  limits.max_expanded_bytes = 1 << 20;
  std::mt19937 random(7);
  int graphs = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    std::string wire = Generator(seed % 300).Graph().SerializeAsString();
    if (wire.empty()) continue;
    for (int i = random() % 4; i >= 0; --i) {
      const size_t at = random() % wire.size();
      switch (random() % 4) {
        case 0:
          wire[at] = static_cast<char>(random());
          break;
        case 1:
          wire.insert(at, 1, static_cast<char>(random()));
          break;
        case 2:
          wire[at] ^= static_cast<char>(1 << random() % 8);
          break;
        default:
          wire.insert(at, wire.substr(random() % wire.size(), random() % 40));
          break;
      }
    }
    const Result<Graph> graph = ParseGraphDef(wire, TinyOps(), limits);
    if (!graph.ok()) {
      EXPECT_FALSE(graph.status().message().empty());
      continue;
    }
    ++graphs;
    EXPECT_TRUE(graph->Verify().ok());
    graph->ToText();
    const Result<std::string> written = SerializeGraphDef(*graph);
    ASSERT_TRUE(written.ok()) << written.status().ToString();
    EXPECT_TRUE(ParseGraphDef(*written, TinyOps(), limits).ok());
  }
  EXPECT_GT(graphs, 100);
}

}  // namespace
}  // namespace penstock
