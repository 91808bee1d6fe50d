#include "penstock/client/saved_model.h"

#include "penstock/io/bundle.h"
#include "penstock/io/saved_model.h"

namespace penstock {
namespace {

using NamedFeeds = std::vector<std::pair<std::string, Tensor>>;

// "node:0" also of a bare "node".
std::string TensorName(const std::string& name) {
  return name.find(':') == std::string::npos ? name + ":0" : name;
}

// Assigns each variable what the checkpoint has, in place of its initial value.
void RestoreVariables(const io::ModelStart& start, const Graph& graph, Session& session,
                      const std::string& prefix) {
  const io::BundleReader reader = OrThrow(io::BundleReader::Open(prefix));
  for (const auto& [name, initializer] : start.variables) {
    const NodeId node = graph.FindNode(initializer);
    if (node == kNoNode || graph.node(node).inputs.size() != 2)
      throw Error(FailedPrecondition("'{}' does not initialize '{}'", Printable(initializer),
                                     Printable(name)));
    const OutputRef value = graph.node(node).inputs[1];
    const Tensor restored = OrThrow(reader.Read(name));
    OrThrow(
        session.backend().Run({{value}, {}, {node}}, {&restored, 1}, session.options(), nullptr));
  }
}

}  // namespace

void RestoreCheckpoint(const MetaGraph& meta, Session& session, const std::string& prefix) {
  const io::ModelStart start = OrThrow(io::ParseModelStart(meta.rest));
  if (start.restore_op.empty() || start.filename_tensor.empty())
    throw Error(FailedPrecondition("the graph has no saver to restore its variables by"));
  session.Run(NamedFeeds{{TensorName(start.filename_tensor), Tensor::Scalar(prefix)}}, {},
              {start.restore_op});
}

void StartSavedModel(const MetaGraph& meta, Session& session, const std::string& folder) {
  const io::ModelStart start = OrThrow(io::ParseModelStart(meta.rest));
  NamedFeeds assets;
  for (const auto& [tensor, file] : start.assets) {
    assets.emplace_back(TensorName(tensor), Tensor::Scalar(io::AssetPath(folder, file)));
  }
  const std::string prefix = io::VariablesPrefix(folder);
  // A model without variables has no checkpoint, but may have a saver.
  if (!start.restore_op.empty() && io::BundleExists(prefix)) {
    NamedFeeds feeds = assets;
    feeds.emplace_back(TensorName(start.filename_tensor), Tensor::Scalar(prefix));
    session.Run(feeds, {}, {start.restore_op});
  }
  if (start.restore_op.empty() && !start.variables.empty() && io::BundleExists(prefix))
    RestoreVariables(start, meta.graph, session, prefix);
  for (const std::string& op : start.init_ops) session.Run(assets, {}, {op});
}

SavedModel::SavedModel(const std::string& folder, const std::vector<std::string>& tags,
                       const SessionOptions& options)
    : meta_(std::make_unique<MetaGraph>(OrThrow(
          ParseMetaGraphDef(OrThrow(io::ReadSavedModelBytes(folder, tags)), StandardOps())))),
      signatures_(OrThrow(meta_->Signatures())),
      session_(std::make_unique<Session>(meta_->graph, options)) {
  StartSavedModel(*meta_, *session_, folder);
}

std::map<std::string, Tensor> SavedModel::Call(const std::map<std::string, Tensor>& inputs,
                                               const std::string& signature) {
  const auto found = signatures_.find(signature);
  if (found == signatures_.end())
    throw Error(NotFound("the model has no signature '{}'", Printable(signature)));
  NamedFeeds feeds;
  for (const auto& [name, tensor] : found->second.inputs) {
    const auto value = inputs.find(name);
    if (value == inputs.end()) {
      throw Error(InvalidArgument("signature '{}' needs the input '{}'", Printable(signature),
                                  Printable(name)));
    }
    feeds.emplace_back(TensorName(tensor), value->second);
  }
  for (const auto& [name, value] : inputs) {
    if (!found->second.inputs.contains(name)) {
      throw Error(InvalidArgument("signature '{}' has no input '{}'", Printable(signature),
                                  Printable(name)));
    }
  }
  std::vector<std::string> names, fetches;
  for (const auto& [name, tensor] : found->second.outputs) {
    names.push_back(name);
    fetches.push_back(TensorName(tensor));
  }
  std::vector<Tensor> values = session_->Run(feeds, fetches);
  std::map<std::string, Tensor> outputs;
  for (size_t i = 0; i < names.size(); ++i) outputs.emplace(names[i], std::move(values[i]));
  return outputs;
}

}  // namespace penstock
