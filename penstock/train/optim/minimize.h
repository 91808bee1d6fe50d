#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "penstock/client/variable.h"
#include "penstock/train/optim/gradient_list.h"
#include "penstock/train/optim/loss_scale.h"

namespace penstock {

// What is to be made small: a scalar of a floating type.
struct LossValue {
  template <class T>
  LossValue(const Output<T>& loss) : graph(&loss.graph()), ref(loss.ref()) {}

  Graph* graph;
  OutputRef ref;
};

// The variables to train: all trainable ones of the graph, or those named.
class ChosenVariables {
 public:
  struct Handle {
    template <class T>
    Handle(const Variable<T>& variable) : graph(&variable.graph()), node(variable.handle()) {}
    Handle(const Parameter& parameter) : node(parameter.handle) {}
    const Graph* graph = nullptr;  // where it is known
    NodeId node;
  };

  ChosenVariables() = default;
  ChosenVariables(std::initializer_list<Handle> handles)
      : ChosenVariables(std::vector<Handle>(handles)) {}
  ChosenVariables(const std::vector<Parameter>& parameters)
      : ChosenVariables(std::vector<Handle>(parameters.begin(), parameters.end())) {}
  ChosenVariables(std::vector<Handle> handles) : all_(false), handles_(std::move(handles)) {}

  bool all() const { return all_; }
  const std::vector<Handle>& handles() const { return handles_; }

 private:
  bool all_ = true;
  std::vector<Handle> handles_;
};

// What to do with a variable on which the loss does not depend. Each is named in any case.
enum class UnconnectedVariables {
  kDefault,  // an error where variables were chosen, a warning where all are trained
  kError,
  kWarn,
};

// Weights that are drawn towards 0.
struct WeightDecay {
  double rate = 0;
  std::vector<std::string> exclude = {};  // variables whose name contains one of these

  bool Covers(const std::string& name) const;
};

struct MinimizeOptions {
  ChosenVariables variables = {};
  UnconnectedVariables unconnected = UnconnectedVariables::kDefault;
  Clip clip = {};
  // Adds rate * w to the gradient of w, after clipping: the derivative of rate / 2 * w * w.
  WeightDecay l2 = {};
  // Apart from the gradient: takes the optimizer's rate times this rate of w off w, before the
  // update.
  WeightDecay decay = {};
  LossScale loss_scale = {};
  // Leaves everything as it is in a step whose gradients are not all finite. Scaling the loss
  // dynamically implies it.
  bool skip_nonfinite = false;
};

namespace optim_internal {

// The chosen variables. Throws when there are none, when one comes twice, is of another graph or
// not of a floating type.
std::vector<Parameter> ParametersToTrain(Graph& graph, const ChosenVariables& chosen,
                                         CallSite site);

class Rule;
using RulePtr = std::shared_ptr<Rule>;

// A step of training: gradients of the loss and its penalties, what the options say, the updates,
// those of UpdatesOf(graph), and the count of GlobalStep.
Operation Minimize(const RulePtr& rule, const LossValue& loss, const MinimizeOptions& options,
                   CallSite site);
// Of the loss and its penalties; only the options that choose variables count.
GradientList ComputeGradients(const LossValue& loss, const MinimizeOptions& options, CallSite site);
// The updates, those of UpdatesOf(graph), and the count of GlobalStep.
Operation ApplyGradients(const RulePtr& rule, const GradientList& gradients, CallSite site);

}  // namespace optim_internal
}  // namespace penstock
