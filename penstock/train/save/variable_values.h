#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/client/session.h"
#include "penstock/train/parameters.h"

namespace penstock {

// The values that variables of a graph have in a session, read and assigned by nodes that it adds
// to the graph (under "save/", once for each variable).
// Threads: as the graph.
class VariableValues {
 public:
  // Of all variables made so far; in a graph that was imported, of all nodes that are variables.
  explicit VariableValues(Graph& graph);
  // Of these. Throws InvalidArgument when two have one name.
  VariableValues(Graph& graph, std::vector<Parameter> variables);

  Graph& graph() const { return *graph_; }
  const std::vector<Parameter>& variables() const { return variables_; }

  // One tensor a variable, all of one step. Nothing is copied: a variable that is updated while
  // somebody holds its value gets new memory. Throws FailedPrecondition when one holds nothing.
  std::vector<Tensor> Read(Session& session) const;
  // Gives variables, by their places in variables(), values whose memory they share; all in one
  // step.
  using Assignment = std::pair<size_t, Tensor>;
  void Assign(Session& session, std::span<const Assignment> values);
  // The value of variable i, which holds nothing afterwards: so that its memory can be written
  // anew. A tensor that is not initialized() when the variable held nothing, or nobody may write to
  // its memory.
  Tensor Take(Session& session, size_t i);

 private:
  struct Nodes {
    OutputRef read;
    NodeId assign = kNoNode;  // of what is fed to `value`
    OutputRef value;
    NodeId drop = kNoNode;
  };

  NodeId FindOrAdd(NodeSpec spec);
  void AddReads();
  Nodes& WithAssign(size_t i);

  Graph* graph_;
  std::vector<Parameter> variables_;
  std::vector<Nodes> nodes_;  // of each variable
};

}  // namespace penstock
