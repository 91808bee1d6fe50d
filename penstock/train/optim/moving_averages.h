#pragma once

#include <string>
#include <utility>
#include <vector>

#include "penstock/train/optim/minimize.h"
#include "penstock/train/parameters.h"

namespace penstock {

struct MovingAverageOptions {
  double decay = 0.9999;
  // While the run is young, forget faster: by min(decay, (1 + step) / (10 + step)).
  bool by_step = false;
  ChosenVariables variables = {};
};

// Exponential moving averages of variables, which often predict better than the last values do.
// That of "w" is the variable "w/ExponentialMovingAverage" and begins with the initial value of w.
//
//   auto step = Adam{}.Minimize(loss);
//   MovingAverages averages(g, {.decay = 0.999});
//   auto train = averages.After(step);  // runs the step, then moves the averages
//   ...
//   session.Run(averages.Swap());       // evaluate by the averages
//   ...
//   session.Run(averages.Swap());       // go on training
class MovingAverages {
 public:
  explicit MovingAverages(Graph& graph, const MovingAverageOptions& options = {},
                          CallSite site = CallSite::Here());

  // average = decay * average + (1 - decay) * variable, once `operation` has run.
  Operation After(Operation operation, CallSite site = CallSite::Here()) const;
  // Exchanges the values of the variables and of their averages.
  Operation Swap(CallSite site = CallSite::Here()) const;
  // The average of a variable; NotFound when it has none.
  Parameter AverageOf(NodeId variable) const;
  // Where a checkpoint has the value that each variable is to have for evaluation, by name.
  std::vector<std::pair<std::string, Parameter>> VariablesToRestore() const;

 private:
  struct Pair {
    Parameter variable, average;
  };
  Graph* graph_;
  MovingAverageOptions options_;
  std::vector<Pair> pairs_;
};

}  // namespace penstock
