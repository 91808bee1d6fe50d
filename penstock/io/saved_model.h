#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/core/status.h"

namespace penstock::tf {
class MetaGraphDef;
}  // namespace penstock::tf

// SavedModels: folders in which TensorFlow keeps graphs to be served.
//
//   saved_model.pb | saved_model.pbtxt   a SavedModel message: graphs, each with its set of tags
//   variables/variables.*                a checkpoint (bundle.h); none when there are no variables
//   assets/*                             files that the graph reads, such as vocabularies

namespace penstock::io {

// What has to run before the first step of a graph. Tensors are "node:0", ops are "node".
struct ModelStart {
  std::string filename_tensor;  // is fed the checkpoint's prefix
  std::string restore_op;       // empty: nothing to restore
  std::vector<std::string> init_ops;
  // The variables of a model without a saver: the name in the checkpoint, and the op that assigns
  // the initial value.
  std::vector<std::pair<std::string, std::string>> variables;
  std::vector<std::pair<std::string, std::string>> assets;  // a tensor, and the file it names
};

// Reads it off the saver, the collections, the assets and the signatures of a MetaGraphDef, given
// as bytes.
Result<ModelStart> ParseModelStart(std::string_view meta_graph);

// Where the checkpoint and the files of a SavedModel lie.
std::string VariablesPrefix(const std::string& folder);
std::string AssetPath(const std::string& folder, const std::string& name);

// The only graph of a SavedModel that has exactly these tags. NotFound when there is no model or no
// such graph: the message lists those there are.
Result<std::unique_ptr<tf::MetaGraphDef>> ReadSavedModel(const std::string& folder,
                                                         std::span<const std::string> tags);
// The same, serialized.
Result<std::string> ReadSavedModelBytes(const std::string& folder,
                                        std::span<const std::string> tags);

}  // namespace penstock::io
