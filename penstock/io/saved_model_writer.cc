#include "penstock/io/saved_model_writer.h"

#include <filesystem>

#include "penstock/io/file_tree.h"
#include "penstock/proto/meta_graph.pb.h"
#include "penstock/proto/variable.pb.h"

namespace penstock::io {
namespace {

constexpr char kPredict[] = "tensorflow/serving/predict";

void SetInfo(const ModelTensor& tensor, tf::TensorInfo* info) {
  info->set_name(tensor.name);
  info->set_dtype(static_cast<tf::DataType>(tensor.dtype));
  tf::TensorShapeProto* shape = info->mutable_tensor_shape();
  shape->set_unknown_rank(!tensor.shape.has_rank());
  for (const int64_t dim : tensor.shape.dims()) shape->add_dim()->set_size(dim);
}

void AddVariables(const std::vector<ModelVariable>& variables, tf::MetaGraphDef* meta) {
  for (const ModelVariable& variable : variables) {
    tf::VariableDef def;
    def.set_variable_name(variable.handle);
    def.set_initializer_name(variable.initializer);
    def.set_snapshot_name(variable.read);
    def.set_initial_value_name(variable.value);
    def.set_is_resource(true);
    def.set_trainable(variable.trainable);
    const std::string bytes = def.SerializeAsString();
    auto& collections = *meta->mutable_collection_def();
    collections["variables"].mutable_bytes_list()->add_value(bytes);
    if (variable.trainable)
      collections["trainable_variables"].mutable_bytes_list()->add_value(bytes);
  }
}

}  // namespace

Status WriteSavedModel(const std::string& folder, const ModelToWrite& model) {
  const std::string path = std::filesystem::path(folder) / "saved_model.pb";
  if (FileExists(path)) return AlreadyExists("{}: there is a model already", Printable(path));
  tf::SavedModel saved;
  saved.set_saved_model_schema_version(1);
  tf::MetaGraphDef* meta = saved.add_meta_graphs();
  if (!meta->mutable_graph_def()->ParseFromString(model.graph_def))
    return InvalidArgument("the graph of a model does not parse");
  for (const std::string& tag : model.tags) meta->mutable_meta_info_def()->add_tags(tag);
  for (const auto& [name, signature] : model.signatures) {
    tf::SignatureDef& def = (*meta->mutable_signature_def())[name];
    def.set_method_name(kPredict);
    for (const auto& [key, tensor] : signature.inputs)
      SetInfo(tensor, &(*def.mutable_inputs())[key]);
    for (const auto& [key, tensor] : signature.outputs)
      SetInfo(tensor, &(*def.mutable_outputs())[key]);
  }
  if (!model.restore_op.empty()) {
    tf::SaverDef* saver = meta->mutable_saver_def();
    saver->set_filename_tensor_name(model.filename_tensor);
    saver->set_save_tensor_name(model.save_tensor);
    saver->set_restore_op_name(model.restore_op);
    saver->set_version(tf::SaverDef::V2);
  }
  AddVariables(model.variables, meta);
  std::string bytes;
  if (!saved.SerializeToString(&bytes))
    return ResourceExhausted("a model of more than 2 GB cannot be written");
  return WriteFileAtomically(path, bytes);
}

}  // namespace penstock::io
