#pragma once

#include <map>
#include <string>
#include <vector>

#include "penstock/core/dtype.h"
#include "penstock/core/shape.h"
#include "penstock/core/status.h"

// Writes SavedModels; saved_model.h says what lies in their folder.

namespace penstock::io {

struct ModelTensor {
  std::string name;  // "node:0"
  DType dtype = DType::kInvalid;
  Shape shape;
};

struct ModelSignature {
  std::map<std::string, ModelTensor> inputs;
  std::map<std::string, ModelTensor> outputs;
};

// A variable, and the nodes that a loader restores it by.
struct ModelVariable {
  std::string handle;       // "v:0"
  std::string initializer;  // "v/Assign"
  std::string value;        // what that assigns: "restored:2"
  std::string read;         // "v/Read:0"
  bool trainable = false;
};

struct ModelToWrite {
  std::string graph_def;  // as bytes
  std::vector<std::string> tags = {"serve"};
  std::map<std::string, ModelSignature> signatures;
  // Of the saver: fed the checkpoint's prefix; fetched to save; run to restore. Empty without
  // variables.
  std::string filename_tensor;
  std::string save_tensor;
  std::string restore_op;
  std::vector<ModelVariable> variables;
};

// Puts saved_model.pb into `folder`, whole or not at all. AlreadyExists when there is one.
Status WriteSavedModel(const std::string& folder, const ModelToWrite& model);

}  // namespace penstock::io
