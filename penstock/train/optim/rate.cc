#include "penstock/train/optim/rate.h"

#include "penstock/client/array_ops.h"
#include "penstock/client/constant.h"
#include "penstock/train/optim/numbers.h"
#include "penstock/train/parameters.h"

namespace penstock {

Status Rate::Check() const {
  if (schedule_ != nullptr) return schedule_->Check();
  return optim_internal::AtLeast("rate", number_, 0);
}

Output<float> Rate::At(Output<float> step) const {
  if (schedule_ != nullptr) return schedule_->At(step);
  return Constant(step.graph(), static_cast<float>(number_));
}

Output<float> Rate::In(Graph& graph) const {
  if (schedule_ == nullptr) return Constant(graph, static_cast<float>(number_));
  return schedule_->At(Cast<float>(GlobalStep(graph).Read()));
}

}  // namespace penstock
