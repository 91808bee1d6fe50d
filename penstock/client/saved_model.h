#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/client/session.h"
#include "penstock/graph/meta_graph.h"

namespace penstock {

// A model that TensorFlow, or this library, has saved: its graph, with its variables restored and
// its tables filled, and the signatures by which it is called.
//
//   SavedModel model("models/mnist/1");
//   Tensor scores = model.Call({{"images", batch}}).at("scores");
//
// Threads: Call may be called concurrently.
class SavedModel {
 public:
  // Throws NotFound when the folder has no graph with these tags or the graph has ops that are not
  // known, DataLoss when a file is damaged.
  explicit SavedModel(const std::string& folder, const std::vector<std::string>& tags = {"serve"},
                      const SessionOptions& options = {});

  const Graph& graph() const { return meta_->graph; }
  const std::map<std::string, GraphSignature>& signatures() const { return signatures_; }
  Session& session() { return *session_; }

  // Runs a signature: every input by its name; returns every output. Throws InvalidArgument when an
  // input is missing or there is none of that name, NotFound when there is no such signature.
  std::map<std::string, Tensor> Call(const std::map<std::string, Tensor>& inputs,
                                     const std::string& signature = "serving_default");

 private:
  std::unique_ptr<MetaGraph> meta_;
  std::map<std::string, GraphSignature> signatures_;
  std::unique_ptr<Session> session_;
};

// Restores the variables of a graph that was read from a ".meta" file, by its own saver: `rest` of
// its MetaGraph says which nodes do. Throws FailedPrecondition when it has no saver.
void RestoreCheckpoint(const MetaGraph& meta, Session& session, const std::string& prefix);
// Restores the variables of a graph of a SavedModel and runs its initializers. What lies in
// `folder`, of which `meta` is a graph.
void StartSavedModel(const MetaGraph& meta, Session& session, const std::string& folder);

}  // namespace penstock
