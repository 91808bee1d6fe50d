#include "penstock/ops/control_flow.h"

#include "penstock/graph/flow.h"

namespace penstock::ops {
template <bool kIsRef>
Result<std::array<Shape, 2>> MergeForm<kIsRef>::InferShape(std::span<const Known> inputs) const {
  Shape common = *inputs[0].shape;
  for (const Known& input : inputs.subspan(1)) common = CommonShape(common, *input.shape);
  return std::array<Shape, 2>{common, Shape{}};
}

Status Abort::ComputeCpu(CpuContext&) const {
  // Stock TensorFlow ends the process; here a graph may end no more than its step.
  if (exit_without_error) return OkStatus();
  return Aborted("Abort_op intentional failure; {}", error_msg);
}

void RegisterControlFlow(Registrar& registrar) {
  registrar.AddAll<Switch, RefSwitch, Merge, RefMerge, Enter, RefEnter, Exit, RefExit,
                   NextIteration, RefNextIteration, LoopCond, Abort>();
}

}  // namespace penstock::ops
