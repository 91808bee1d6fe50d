#pragma once

#include <string>
#include <utility>
#include <vector>

#include "penstock/client/session.h"

namespace penstock {

// An argument or result of a model: the name that callers use, and what it stands for.
struct ModelArgument {
  template <class T>
  ModelArgument(std::string argument, const Output<T>& output)
      : name(std::move(argument)), ref(output.ref()) {}
  ModelArgument(std::string argument, OutputRef output) : name(std::move(argument)), ref(output) {}

  std::string name;
  OutputRef ref;
};

// Writes the part of the graph that computes `outputs` from `inputs`, with the values that its
// variables have in the session, as a SavedModel, for SavedModel (client/saved_model.h), TensorFlow
// and TensorFlow Serving:
//
//   SaveModel(g, session, "models/digits/1", {{"images", images}}, {{"scores", scores}});
//
// The file that makes the folder a model comes last. Throws AlreadyExists when the folder has a
// model, InvalidArgument when there are no outputs or two arguments have one name.
void SaveModel(Graph& graph, Session& session, const std::string& folder,
               const std::vector<ModelArgument>& inputs, const std::vector<ModelArgument>& outputs,
               const std::string& signature = "serving_default");

}  // namespace penstock
