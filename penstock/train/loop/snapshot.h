#pragma once

#include <string>
#include <vector>

#include "penstock/client/session.h"
#include "penstock/train/loop/training_place.h"
#include "penstock/train/parameters.h"

namespace penstock {

// The values of variables, in memory, to go back to. Taking one copies nothing; a variable that
// changes afterwards gets new memory.
// Threads: as the session.
class Snapshot {
 public:
  // Of these variables; nodes that read and write them are added to the graph.
  Snapshot(Graph& graph, const std::vector<Parameter>& variables);

  // Throws when a variable holds nothing yet.
  void Take(Session& session);
  // Gives the variables what Take found, and the random streams where `with_streams`.
  void Put(Session& session, bool with_streams) const;
  bool taken() const { return !values_.empty(); }
  // In the order of the variables.
  const std::vector<Tensor>& values() const { return values_; }
  // Assigns one variable, by its number.
  void Assign(Session& session, size_t index, const Tensor& value) const;
  const std::vector<Parameter>& variables() const { return variables_; }

 private:
  const std::vector<Parameter> variables_;
  RandomStreamState streams_;
  std::vector<OutputRef> reads_;
  std::vector<OutputRef> fed_;
  std::vector<NodeId> assigns_;
  NodeId assign_all_ = kNoNode;
  std::vector<Tensor> values_;
  std::string stream_state_;
};

}  // namespace penstock
