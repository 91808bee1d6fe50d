#pragma once

#include <string>

#include "penstock/graph/scope.h"
#include "penstock/train/parameters.h"

namespace penstock::optim_internal {

// What to make.
struct SlotSpec {
  std::string name;  // made unique; no scope is put before it, so that checkpoints find it
  DType dtype = DType::kFloat;
  Shape shape = {};
  double initial = 0;       // of every element
  NodeId beside = kNoNode;  // placed with this variable
};

// Makes a variable that optimizers leave alone, and its initializer. Throws at `site`.
Parameter MakeSlot(Graph& graph, const SlotSpec& spec, CallSite site);
// The same, initialized to a value of the graph.
Parameter MakeSlot(Graph& graph, const SlotSpec& spec, OutputRef initial, CallSite site);

// Its value when the step gets there.
Expr Read(const Scope& scope, const Parameter& parameter);
// Its handle.
Expr HandleOf(const Scope& scope, const Parameter& parameter);
// Adds a node without outputs: an assignment or update.
NodeId AddUpdateNode(const Scope& scope, std::string op, const std::vector<Expr>& inputs,
                     AttrMap attrs = {}, std::string name = "");

}  // namespace penstock::optim_internal
