#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/descriptor_database.h>
#include <google/protobuf/unknown_field_set.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/proto/checkpoint_state.pb.h"
#include "penstock/proto/config.pb.h"
#include "penstock/proto/device_attributes.pb.h"
#include "penstock/proto/meta_graph.pb.h"
#include "penstock/proto/queue_runner.pb.h"
#include "penstock/proto/saved_tensor_slice.pb.h"
#include "penstock/proto/tensor_bundle.pb.h"

namespace penstock {
namespace {

namespace fs = std::filesystem;
namespace gp = google::protobuf;

constexpr std::string_view kOurPackage = "penstock.tf.";
constexpr std::string_view kTheirPackage = "tensorflow.";

// A field of TensorFlow's that ours leaves out; it survives a round trip as an unknown field.
struct Omission {
  std::string_view field;
  std::string_view reason;
};
const std::vector<Omission> kOmissions = {};

// TensorFlow's descriptor set has none of the messages of these files;
// SavedModels.HaveNoUnknownFields looks at them through real models instead.
const std::set<std::string> kNotInDescriptorSet = {
    "penstock/proto/meta_graph.proto",
    "penstock/proto/saved_object_graph.proto",
    "penstock/proto/saver.proto",
    "penstock/proto/struct.proto",
    "penstock/proto/variable.proto",
    "penstock/proto/trackable_object_graph.proto",
    "penstock/proto/queue_runner.proto",
    "penstock/proto/saved_tensor_slice.proto",
    "penstock/proto/checkpoint_state.proto",
};

// Finds `name` in shared/, beside the repository or where PENSTOCK_SHARED says.
std::optional<fs::path> FindShared(const fs::path& name) {
  if (const char* dir = std::getenv("PENSTOCK_SHARED")) {
    return fs::exists(dir / name) ? std::optional(dir / name) : std::nullopt;
  }
  for (const fs::path& start : {fs::absolute(__FILE__), fs::current_path()}) {
    for (fs::path dir = start; dir.has_relative_path(); dir = dir.parent_path()) {
      const fs::path candidate = dir.parent_path() / "shared" / name;
      if (fs::exists(candidate)) return candidate;
    }
  }
  return std::nullopt;
}

std::string Relative(const std::string& full_name) {
  for (std::string_view package : {kOurPackage, kTheirPackage}) {
    if (full_name.starts_with(package)) return full_name.substr(package.size());
  }
  return full_name;
}

std::string TypeName(const gp::FieldDescriptor& field) {
  if (field.message_type() != nullptr) return Relative(field.message_type()->full_name());
  if (field.enum_type() != nullptr) return Relative(field.enum_type()->full_name());
  return field.type_name();
}

// Says all that the wire and the meaning of a field depend on, e.g. "oneof value: optional bytes s
// = 2".
std::string Signature(const gp::FieldDescriptor& field) {
  std::string text;
  if (const gp::OneofDescriptor* oneof = field.real_containing_oneof())
    text += "oneof " + oneof->name() + ": ";
  if (field.is_map()) {
    const gp::Descriptor& entry = *field.message_type();
    text += "map<" + TypeName(*entry.map_key()) + ", " + TypeName(*entry.map_value()) + ">";
  } else {
    text += field.is_repeated() ? "repeated " : field.has_optional_keyword() ? "explicit " : "";
    text += TypeName(field);
  }
  text += " " + field.name() + " = " + std::to_string(field.number());
  if (field.is_packed()) text += " packed";
  return text;
}

// Collects what differs between our files and the same messages and enums in TensorFlow's pool.
class Comparison {
 public:
  Comparison(const gp::DescriptorPool& theirs, const std::vector<Omission>& omissions)
      : theirs_(theirs), omissions_(omissions) {}

  void Compare(const gp::FileDescriptor& ours) {
    for (int i = 0; i < ours.message_type_count(); ++i) Compare(*ours.message_type(i));
    for (int i = 0; i < ours.enum_type_count(); ++i) Compare(*ours.enum_type(i));
  }
  const std::vector<std::string>& differences() const { return differences_; }
  int num_compared() const { return num_compared_; }

 private:
  void Compare(const gp::Descriptor& ours) {
    if (ours.options().map_entry()) return;
    const std::string name = Relative(ours.full_name());
    const gp::Descriptor* theirs = theirs_.FindMessageTypeByName(std::string(kTheirPackage) + name);
    if (theirs == nullptr) return Differ(name, "a message", "none");
    ++num_compared_;
    std::map<std::string, std::string> our_fields, their_fields;
    for (int i = 0; i < ours.field_count(); ++i)
      our_fields[ours.field(i)->name()] = Signature(*ours.field(i));
    for (int i = 0; i < theirs->field_count(); ++i) {
      const gp::FieldDescriptor& field = *theirs->field(i);
      if (!Omitted(name + "." + field.name())) their_fields[field.name()] = Signature(field);
    }
    CompareMaps(name, our_fields, their_fields);
    for (int i = 0; i < ours.nested_type_count(); ++i) Compare(*ours.nested_type(i));
    for (int i = 0; i < ours.enum_type_count(); ++i) Compare(*ours.enum_type(i));
  }

  void Compare(const gp::EnumDescriptor& ours) {
    const std::string name = Relative(ours.full_name());
    const gp::EnumDescriptor* theirs =
        theirs_.FindEnumTypeByName(std::string(kTheirPackage) + name);
    if (theirs == nullptr) return Differ(name, "an enum", "none");
    ++num_compared_;
    CompareMaps(name, Values(ours), Values(*theirs));
  }

  static std::map<std::string, std::string> Values(const gp::EnumDescriptor& e) {
    std::map<std::string, std::string> values;
    for (int i = 0; i < e.value_count(); ++i)
      values[e.value(i)->name()] = std::to_string(e.value(i)->number());
    return values;
  }

  void CompareMaps(const std::string& name, const std::map<std::string, std::string>& ours,
                   const std::map<std::string, std::string>& theirs) {
    for (const auto& [key, text] : ours) {
      const auto it = theirs.find(key);
      if (it == theirs.end()) {
        Differ(name + "." + key, text, "none");
      } else if (it->second != text) {
        Differ(name + "." + key, text, it->second);
      }
    }
    for (const auto& [key, text] : theirs) {
      if (!ours.contains(key)) Differ(name + "." + key, "none", text);
    }
  }

  bool Omitted(const std::string& field) const {
    for (const Omission& omission : omissions_) {
      if (omission.field == field) return true;
    }
    return false;
  }

  void Differ(const std::string& what, const std::string& ours, const std::string& theirs) {
    differences_.push_back(what + ": ours is '" + ours + "', TensorFlow's is '" + theirs + "'");
  }

  const gp::DescriptorPool& theirs_;
  const std::vector<Omission>& omissions_;
  std::vector<std::string> differences_;
  int num_compared_ = 0;
};

void AddWithImports(const gp::FileDescriptor* file,
                    std::map<std::string, const gp::FileDescriptor*>* files) {
  if (!file->name().starts_with("penstock/") || !files->emplace(file->name(), file).second) return;
  for (int i = 0; i < file->dependency_count(); ++i) AddWithImports(file->dependency(i), files);
}

// All our files by name, golden_case.proto aside: these import the others.
std::map<std::string, const gp::FileDescriptor*> OurFiles() {
  std::map<std::string, const gp::FileDescriptor*> files;
  AddWithImports(tf::MetaGraphDef::descriptor()->file(), &files);
  AddWithImports(tf::ConfigProto::descriptor()->file(), &files);
  AddWithImports(tf::DeviceAttributes::descriptor()->file(), &files);
  AddWithImports(tf::QueueRunnerDef::descriptor()->file(), &files);
  AddWithImports(tf::SavedTensorSlices::descriptor()->file(), &files);
  AddWithImports(tf::BundleEntryProto::descriptor()->file(), &files);
  AddWithImports(tf::CheckpointState::descriptor()->file(), &files);
  return files;
}

TEST(Proto, OurFilesAreAllCompared) {
  const fs::path folder = fs::absolute(__FILE__).parent_path();
  if (!fs::exists(folder)) GTEST_SKIP() << "the sources are not here";
  const auto files = OurFiles();
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".proto") || name == "golden_case.proto") continue;
    EXPECT_TRUE(files.contains("penstock/proto/" + name))
        << name << " is not imported by a file of OurFiles()";
  }
}

TEST(Proto, AgreesWithTensorFlow) {
  const auto path = FindShared("formats/tf_rpc.descriptors.bin");
  if (!path)
    GTEST_SKIP() << "TensorFlow's descriptor set is not here; PENSTOCK_SHARED may name its folder";
  gp::FileDescriptorSet set;
  std::ifstream in(*path, std::ios::binary);
  ASSERT_TRUE(set.ParseFromIstream(&in)) << *path;
  gp::SimpleDescriptorDatabase database;
  for (const gp::FileDescriptorProto& file : set.file()) database.Add(file);
  const gp::DescriptorPool theirs(&database);

  Comparison comparison(theirs, kOmissions);
  for (const auto& [name, file] : OurFiles()) {
    if (!kNotInDescriptorSet.contains(name)) comparison.Compare(*file);
  }
  for (const std::string& difference : comparison.differences()) ADD_FAILURE() << difference;
  EXPECT_GT(comparison.num_compared(), 80);
}

// A pool that holds our messages under TensorFlow's package, after `change` has had its way with
// one file.
class Copies {
 public:
  Copies(const std::string& changed, const std::function<void(gp::FileDescriptorProto&)>& change)
      : pool_(&database_) {
    for (const auto& [name, file] : OurFiles()) {
      gp::FileDescriptorProto copy;
      file->CopyTo(&copy);
      copy.set_package("tensorflow");
      for (auto& message : *copy.mutable_message_type()) Rename(message);
      if (name == "penstock/proto/" + changed) change(copy);
      database_.Add(copy);
    }
    for (const char* name : {"google/protobuf/any.proto", "google/protobuf/wrappers.proto"}) {
      gp::FileDescriptorProto copy;
      gp::DescriptorPool::generated_pool()->FindFileByName(name)->CopyTo(&copy);
      database_.Add(copy);
    }
  }
  const gp::DescriptorPool& pool() const { return pool_; }

 private:
  static void Rename(gp::DescriptorProto& message) {
    for (auto& field : *message.mutable_field()) {
      if (!field.type_name().starts_with("." + std::string(kOurPackage))) continue;
      field.set_type_name("." + std::string(kTheirPackage) +
                          field.type_name().substr(1 + kOurPackage.size()));
    }
    for (auto& nested : *message.mutable_nested_type()) Rename(nested);
  }

  gp::SimpleDescriptorDatabase database_;
  gp::DescriptorPool pool_;
};

std::vector<std::string> DifferencesAfter(
    const std::string& file, const std::function<void(gp::FileDescriptorProto&)>& change,
    const std::vector<Omission>& omissions = {}) {
  const Copies copies(file, change);
  Comparison comparison(copies.pool(), omissions);
  for (const auto& [name, ours] : OurFiles()) comparison.Compare(*ours);
  return comparison.differences();
}

gp::FieldDescriptorProto& Field(gp::DescriptorProto& message, const std::string& name) {
  for (auto& field : *message.mutable_field()) {
    if (field.name() == name) return field;
  }
  std::abort();
}

TEST(Proto, ComparisonAcceptsCopies) {
  EXPECT_EQ(DifferencesAfter("", [](gp::FileDescriptorProto&) {}), std::vector<std::string>());
}

TEST(Proto, ComparisonReportsWhatDiffers) {
  using File = gp::FileDescriptorProto;
  const struct {
    const char* file;
    std::function<void(File&)> change;
    const char* expected;
  } kCases[] = {
      {"versions.proto",
       [](File& f) { Field(*f.mutable_message_type(0), "producer").set_number(9); },
       "VersionDef.producer: ours is 'int32 producer = 1', TensorFlow's is 'int32 producer = 9'"},
      {"versions.proto",
       [](File& f) { Field(*f.mutable_message_type(0), "producer").set_name("maker"); },
       "VersionDef.producer: ours is 'int32 producer = 1', TensorFlow's is 'none'"},
      {"versions.proto",
       [](File& f) {
         Field(*f.mutable_message_type(0), "producer")
             .set_type(gp::FieldDescriptorProto::TYPE_SINT32);
       },
       "VersionDef.producer: ours is 'int32 producer = 1', TensorFlow's is 'sint32 producer = 1'"},
      {"versions.proto",
       [](File& f) {
         Field(*f.mutable_message_type(0), "bad_consumers").mutable_options()->set_packed(false);
       },
       "VersionDef.bad_consumers: ours is 'repeated int32 bad_consumers = 3 packed', TensorFlow's "
       "is "
       "'repeated int32 bad_consumers = 3'"},
      {"node_def.proto",
       [](File& f) {
         Field(*f.mutable_message_type(0), "input")
             .set_label(gp::FieldDescriptorProto::LABEL_OPTIONAL);
       },
       "NodeDef.input: ours is 'repeated string input = 3', TensorFlow's is 'string input = 3'"},
      {"node_def.proto",
       [](File& f) {
         Field(*f.mutable_message_type(0), "attr").set_type_name(".tensorflow.AttrValue");
       },
       "NodeDef.attr: ours is 'map<string, AttrValue> attr = 5', TensorFlow's is 'repeated "
       "AttrValue attr = 5'"},
      {"attr_value.proto",
       [](File& f) { Field(*f.mutable_message_type(0), "placeholder").clear_oneof_index(); },
       "AttrValue.placeholder: ours is 'oneof value: string placeholder = 9', TensorFlow's is "
       "'string placeholder = 9'"},
      {"types.proto", [](File& f) { f.mutable_enum_type(0)->mutable_value(1)->set_number(99); },
       "DataType.DT_FLOAT: ours is '1', TensorFlow's is '99'"},
      {"types.proto", [](File& f) { f.mutable_message_type(0)->set_name("Other"); },
       "SerializedDType: ours is 'a message', TensorFlow's is 'none'"},
  };
  for (const auto& c : kCases) {
    const std::vector<std::string> differences = DifferencesAfter(c.file, c.change);
    bool found = false;
    for (const std::string& difference : differences) found |= difference.starts_with(c.expected);
    EXPECT_TRUE(found) << c.expected << "\n  got " << differences.size()
                       << " differences, the first: "
                       << (differences.empty() ? "-" : differences[0]);
  }
}

TEST(Proto, ComparisonHonoursOmissions) {
  const auto add_field = [](gp::FileDescriptorProto& file) {
    gp::FieldDescriptorProto& field = *file.mutable_message_type(0)->add_field();
    field.set_name("later");
    field.set_number(50);
    field.set_type(gp::FieldDescriptorProto::TYPE_BOOL);
    field.set_label(gp::FieldDescriptorProto::LABEL_OPTIONAL);
  };
  EXPECT_EQ(DifferencesAfter("versions.proto", add_field).size(), 1u);
  EXPECT_EQ(DifferencesAfter("versions.proto", add_field, {{"VersionDef.later", "a test"}}).size(),
            0u);
}

// Names the unknown fields of `message` and of all messages in it.
void FindUnknown(const gp::Message& message, std::set<std::string>* found) {
  const gp::Reflection& reflection = *message.GetReflection();
  const gp::UnknownFieldSet& unknown = reflection.GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const int number = unknown.field(i).number();
    if (message.GetDescriptor()->IsReservedNumber(number))
      continue;  // Written by an old TensorFlow.
    found->insert(message.GetTypeName() + " field " + std::to_string(number));
  }
  std::vector<const gp::FieldDescriptor*> fields;
  reflection.ListFields(message, &fields);
  for (const gp::FieldDescriptor* field : fields) {
    if (field->message_type() == nullptr) continue;
    if (!field->is_repeated()) {
      FindUnknown(reflection.GetMessage(message, field), found);
      continue;
    }
    for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
      FindUnknown(reflection.GetRepeatedMessage(message, field, i), found);
    }
  }
}

TEST(SavedModels, HaveNoUnknownFields) {
  const auto models = FindShared("models");
  if (!models) GTEST_SKIP() << "no recorded models are here; PENSTOCK_SHARED may name their folder";
  std::set<std::string> unknown;
  int num_models = 0;
  int num_objects = 0;
  for (const auto& entry : fs::recursive_directory_iterator(*models)) {
    if (entry.path().filename() != "saved_model.pb") continue;
    tf::SavedModel model;
    std::ifstream in(entry.path(), std::ios::binary);
    if (!model.ParseFromIstream(&in)) continue;  // Some models are broken on purpose.
    ++num_models;
    for (const auto& graph : model.meta_graphs())
      num_objects += graph.object_graph_def().nodes_size();
    FindUnknown(model, &unknown);
  }
  for (const std::string& field : unknown) ADD_FAILURE() << field;
  EXPECT_GT(num_models, 0);
  EXPECT_GT(num_objects, 0);
}

}  // namespace
}  // namespace penstock
