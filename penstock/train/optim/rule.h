#pragma once

#include <string>
#include <vector>

#include "penstock/graph/scope.h"
#include "penstock/train/optim/gradient_list.h"
#include "penstock/train/optim/rate.h"

namespace penstock::optim_internal {

// How an optimizer moves variables. One object serves one Minimize or ApplyGradients: Check, then
// Prepare, then Apply. Errors are thrown at `site` or left in the scope.
class Rule {
 public:
  virtual ~Rule() = default;

  // TensorFlow's name of the optimizer, which is that of its slots.
  virtual std::string name() const = 0;
  virtual const Rate& rate() const = 0;
  // Of its numbers.
  virtual Status Check() const = 0;
  // Makes the slots of these variables. `rate` is the output of rate().
  virtual void Prepare(Graph& graph, const std::vector<Parameter>& parameters, Output<float> rate,
                       CallSite site) = 0;
  // Adds the updates and returns them. May be called again, for another branch.
  virtual std::vector<NodeId> Apply(const Scope& scope, const GradientList& gradients) = 0;
};

}  // namespace penstock::optim_internal
