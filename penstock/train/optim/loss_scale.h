#pragma once

#include <cstdint>

#include "penstock/client/variable.h"

namespace penstock {

// A factor on the loss, taken off the gradients again: keeps those of 16-bit floats from vanishing.
//
//   Adam{}.Minimize(loss, {.loss_scale = LossScale::Dynamic()});
struct LossScale {
  enum class Kind { kNone, kStatic, kDynamic };
  Kind kind = Kind::kNone;
  double initial = 1;
  int64_t growth_steps = 2000;
  double factor = 2;

  static LossScale Static(double scale) { return {Kind::kStatic, scale}; }
  // As in TensorFlow: a step whose gradients are not finite is skipped and divides the scale by
  // `factor`, down to 1; so many good ones in a row multiply it. Its state is the variables
  // "current_loss_scale" and "good_steps".
  static LossScale Dynamic(double initial = 32768, int64_t growth_steps = 2000, double factor = 2) {
    return {Kind::kDynamic, initial, growth_steps, factor};
  }

  Status Check() const;
};

namespace optim_internal {

// A dynamic scale in a graph.
class DynamicScale {
 public:
  DynamicScale(Graph& graph, const LossScale& options, CallSite site);

  // At the beginning of the step.
  Output<float> value() const { return value_; }
  // What a step does to it.
  Operation Update(const Output<bool>& finite) const;

 private:
  LossScale options_;
  Variable<float> scale_;
  Variable<int64_t> good_steps_;
  Output<float> value_;
};

}  // namespace optim_internal
}  // namespace penstock
