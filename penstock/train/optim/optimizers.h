#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/train/optim/minimize.h"
#include "penstock/train/optim/rate.h"

// Optimizers: plain structs whose fields are their numbers.
//
//   auto step = Adam{.rate = 1e-3}.Minimize(loss);
//
// Minimize adds a step of training to the graph: the gradients of the loss and of what AddPenalty
// collected, an update of each variable, the updates of AddUpdate, and the count of GlobalStep.
// ComputeGradients and ApplyGradients are its two halves, for programs that change gradients in
// between. Slots are variables named as TensorFlow's optimizers name them: "w/Adam", "w/Adam_1".
//
// The rate of each step is a node in the graph's collection "learning_rate", for summaries.
//
// A gradient that only some rows of a variable take part in moves these rows alone, where the
// formula allows it; indices that repeat are added up first, as in TensorFlow.

namespace penstock {

#define PENSTOCK_OPTIMIZER                                                                  \
  Operation Minimize(const LossValue& loss, const MinimizeOptions& options = {},            \
                     CallSite site = CallSite::Here()) const {                              \
    return optim_internal::Minimize(MakeRule(), loss, options, site);                       \
  }                                                                                         \
  GradientList ComputeGradients(const LossValue& loss, const MinimizeOptions& options = {}, \
                                CallSite site = CallSite::Here()) const {                   \
    return optim_internal::ComputeGradients(loss, options, site);                           \
  }                                                                                         \
  Operation ApplyGradients(const GradientList& gradients, CallSite site = CallSite::Here()) \
      const {                                                                               \
    return optim_internal::ApplyGradients(MakeRule(), gradients, site);                     \
  }                                                                                         \
  optim_internal::RulePtr MakeRule() const;

// w -= rate * g.
struct SGD {
  Rate rate = 0.01;

  PENSTOCK_OPTIMIZER
};

// a = momentum * a + g; w -= rate * a, or by Nesterov w -= rate * (g + momentum * a).
struct Momentum {
  Rate rate = 0.01;
  double momentum = 0.9;
  bool nesterov = false;

  PENSTOCK_OPTIMIZER
};

// a += g * g; w -= rate * g / sqrt(a).
struct Adagrad {
  Rate rate = 0.001;
  double initial_accumulator = 0.1;

  PENSTOCK_OPTIMIZER
};

// a = rho * a + (1 - rho) * g * g; u = sqrt(d + epsilon) / sqrt(a + epsilon) * g;
// d = rho * d + (1 - rho) * u * u; w -= rate * u.
struct Adadelta {
  Rate rate = 0.001;
  double rho = 0.95;
  double epsilon = 1e-8;

  PENSTOCK_OPTIMIZER
};

// s = decay * s + (1 - decay) * g * g; m = momentum * m + rate * g / sqrt(s + epsilon); w -= m.
// Centered: s less the square of the mean gradient.
struct RMSProp {
  Rate rate = 0.001;
  double decay = 0.9;
  double momentum = 0;
  double epsilon = 1e-10;
  bool centered = false;

  PENSTOCK_OPTIMIZER
};

// m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g * g;
// w -= rate * sqrt(1 - beta2^t) / (1 - beta1^t) * m / (sqrt(v) + epsilon).
// AMSGrad: by the largest v so far. Nesterov: NAdam's look ahead.
struct Adam {
  Rate rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  bool amsgrad = false;
  bool nesterov = false;

  PENSTOCK_OPTIMIZER
};

// Adam after w -= rate * weight_decay * w, as in PyTorch and Keras.
struct AdamW {
  Rate rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0.01;
  std::vector<std::string> exclude_from_decay = {};  // variables whose name contains one of these

  PENSTOCK_OPTIMIZER
};

// Follow the regularised leader (McMahan et al., 2013).
struct Ftrl {
  Rate rate = 0.001;
  double rate_power = -0.5;
  double initial_accumulator = 0.1;
  double l1 = 0;
  double l2 = 0;
  double l2_shrinkage = 0;

  PENSTOCK_OPTIMIZER
};

// For large batches (You et al., 2019): u = Adam's step with unbiased means + weight_decay * w;
// w -= rate * |w| / |u| * u.
struct LAMB {
  Rate rate = 0.001;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0;
  std::vector<std::string> exclude_from_decay = {};
  std::vector<std::string> exclude_from_adaptation = {};  // as if the norms were equal

  PENSTOCK_OPTIMIZER
};

// Limited-memory BFGS (Nocedal): for losses that are the same at each step (full batches). One
// step is one iteration without a line search, the first shortened to 1 / |g|_1, as in PyTorch's
// LBFGS with max_iter = 1. All variables are one vector to it. Its state is the variables
// "lbfgs/...".
struct LBFGS {
  Rate rate = 1;
  int64_t history = 10;

  PENSTOCK_OPTIMIZER
};

#undef PENSTOCK_OPTIMIZER

}  // namespace penstock
