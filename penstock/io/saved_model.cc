#include "penstock/io/saved_model.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>

#include <filesystem>
#include <set>

#include "penstock/io/file_tree.h"
#include "penstock/proto/meta_graph.pb.h"
#include "penstock/proto/variable.pb.h"

namespace penstock::io {
namespace {

namespace gp = google::protobuf;

constexpr uint64_t kMaxModelBytes = INT32_MAX;  // protobuf's own limit
constexpr char kInitSignature[] = "__saved_model_init_op";
constexpr char kAssetCollection[] = "saved_model_assets";

// Finds TensorFlow's messages, which a text names inside of Any, among ours.
class TypeFinder final : public gp::TextFormat::Finder {
 public:
  const gp::Descriptor* FindAnyType(const gp::Message&, const std::string&,
                                    const std::string& name) const override {
    constexpr std::string_view kTheirs = "tensorflow.";
    if (!name.starts_with(kTheirs)) return nullptr;
    return gp::DescriptorPool::generated_pool()->FindMessageTypeByName("penstock.tf." +
                                                                       name.substr(kTheirs.size()));
  }
};

Status ReadModel(const std::string& folder, tf::SavedModel* model) {
  const std::string path = std::filesystem::path(folder) / "saved_model.pb";
  Result<std::string> bytes = ReadWholeFile(path, kMaxModelBytes);
  if (bytes.ok()) {
    return model->ParseFromString(*bytes)
               ? OkStatus()
               : DataLoss("{}: does not parse as a SavedModel", Printable(path));
  }
  if (bytes.status().code() != Code::kNotFound) return bytes.status();
  const Result<std::string> text = ReadWholeFile(path + "txt", kMaxModelBytes);
  if (!text.ok() && text.status().code() == Code::kNotFound) {
    return NotFound("{}: there is neither saved_model.pb nor saved_model.pbtxt", Printable(folder));
  }
  if (!text.ok()) return text.status();
  const TypeFinder finder;
  gp::TextFormat::Parser parser;
  parser.SetFinder(&finder);
  return parser.ParseFromString(*text, model)
             ? OkStatus()
             : DataLoss("{}txt: does not parse as a SavedModel", Printable(path));
}

std::string Joined(const std::set<std::string>& tags) {
  std::string text = "{";
  for (const std::string& tag : tags) text += (text.size() > 1 ? ", " : "") + Printable(tag);
  return text + "}";
}

// "node" of "node:0".
std::string NodeOf(const std::string& tensor) { return tensor.substr(0, tensor.find(':')); }

Status ReadAssets(const tf::MetaGraphDef& meta, ModelStart* start) {
  std::vector<tf::AssetFileDef> assets(meta.asset_file_def().begin(), meta.asset_file_def().end());
  const auto collection = meta.collection_def().find(kAssetCollection);
  if (assets.empty() && collection != meta.collection_def().end()) {  // as old models have them
    for (const auto& value : collection->second.any_list().value()) {
      if (!assets.emplace_back().ParseFromString(value.value()))
        return DataLoss("an asset of the model does not parse");
    }
  }
  for (const tf::AssetFileDef& asset : assets) {
    const std::filesystem::path name(asset.filename());
    for (const auto& part : name) {
      if (part == ".." || name.is_absolute())
        return InvalidArgument("asset '{}' does not lie in the model", Printable(name.string()));
    }
    start->assets.emplace_back(asset.tensor_info().name(), asset.filename());
  }
  return OkStatus();
}

Status ReadVariables(const tf::MetaGraphDef& meta, ModelStart* start) {
  const auto found = meta.collection_def().find("variables");
  if (found == meta.collection_def().end()) return OkStatus();
  for (const std::string& value : found->second.bytes_list().value()) {
    tf::VariableDef variable;
    if (!variable.ParseFromString(value)) return DataLoss("a variable of the model does not parse");
    start->variables.emplace_back(NodeOf(variable.variable_name()),
                                  NodeOf(variable.initializer_name()));
  }
  return OkStatus();
}

}  // namespace

Result<ModelStart> ParseModelStart(std::string_view meta_graph) {
  tf::MetaGraphDef meta;
  if (meta_graph.size() > kMaxModelBytes ||
      !meta.ParseFromArray(meta_graph.data(), static_cast<int>(meta_graph.size())))
    return DataLoss("a MetaGraphDef does not parse");
  ModelStart start;
  start.filename_tensor = meta.saver_def().filename_tensor_name();
  start.restore_op = NodeOf(meta.saver_def().restore_op_name());
  for (const char* name : {"saved_model_main_op", "legacy_init_op"}) {
    const auto found = meta.collection_def().find(name);
    if (found == meta.collection_def().end() || !start.init_ops.empty()) continue;
    for (const std::string& op : found->second.node_list().value())
      start.init_ops.push_back(NodeOf(op));
  }
  const auto signature = meta.signature_def().find(kInitSignature);
  if (signature != meta.signature_def().end()) {
    const auto output = signature->second.outputs().find(kInitSignature);
    if (output != signature->second.outputs().end())
      start.init_ops = {NodeOf(output->second.name())};
  }
  TRY(ReadAssets(meta, &start));
  if (start.restore_op.empty()) TRY(ReadVariables(meta, &start));
  return start;
}

std::string VariablesPrefix(const std::string& folder) {
  return std::filesystem::path(folder) / "variables" / "variables";
}

std::string AssetPath(const std::string& folder, const std::string& name) {
  return std::filesystem::path(folder) / "assets" / name;
}

Result<std::unique_ptr<tf::MetaGraphDef>> ReadSavedModel(const std::string& folder,
                                                         std::span<const std::string> tags) {
  tf::SavedModel model;
  TRY(ReadModel(folder, &model));
  const std::set<std::string> wanted(tags.begin(), tags.end());
  std::string others;
  for (tf::MetaGraphDef& meta : *model.mutable_meta_graphs()) {
    const std::set<std::string> own(meta.meta_info_def().tags().begin(),
                                    meta.meta_info_def().tags().end());
    if (own == wanted) return std::make_unique<tf::MetaGraphDef>(std::move(meta));
    others += (others.empty() ? "" : ", ") + Joined(own);
  }
  return NotFound("{}: there is no graph with the tags {}; there are {}", Printable(folder),
                  Joined(wanted), others.empty() ? "none" : others);
}

Result<std::string> ReadSavedModelBytes(const std::string& folder,
                                        std::span<const std::string> tags) {
  TRY_ASSIGN(const std::unique_ptr<tf::MetaGraphDef> meta, ReadSavedModel(folder, tags));
  return meta->SerializeAsString();
}

}  // namespace penstock::io
