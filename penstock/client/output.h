#pragma once

#include "penstock/graph/graph.h"

namespace penstock {

// A node to run for its effect: an assignment, an initializer, a group.
class Operation {
 public:
  Operation() = default;
  Operation(Graph& graph, NodeId node) : graph_(&graph), node_(node) {}

  Graph& graph() const { return *graph_; }
  NodeId node() const { return node_; }
  const std::string& name() const { return graph_->node(node_).name; }

 private:
  Graph* graph_ = nullptr;
  NodeId node_ = kNoNode;
};

// A value that a graph will compute, of element type T. A handle: copy it freely; the graph must
// outlive it.
template <class T>
class Output {
 public:
  using Element = T;

  Output() = default;
  Output(Graph& graph, OutputRef ref) : graph_(&graph), ref_(ref) {}

  Graph& graph() const { return *graph_; }
  OutputRef ref() const { return ref_; }
  // As far as it is known before the step.
  const Shape& shape() const { return graph_->output(ref_).shape; }
  std::string name() const { return graph_->NameOf(ref_); }
  // The node that makes it, to run without fetching.
  operator Operation() const { return Operation(*graph_, ref_.node); }

 private:
  Graph* graph_ = nullptr;
  OutputRef ref_;
};

}  // namespace penstock
