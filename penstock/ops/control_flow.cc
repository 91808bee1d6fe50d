#include "penstock/ops/control_flow.h"


namespace penstock::ops {
namespace {

// What all shapes agree on.
Shape CommonShape(std::span<const Known> inputs) {
  Shape common = *inputs[0].shape;
  for (const Known& input : inputs.subspan(1)) {
    const Shape& other = *input.shape;
    if (!common.has_rank() || !other.has_rank() || common.rank() != other.rank())
      return Shape::Unknown();
    for (int i = 0; i < common.rank(); ++i) {
      if (common.dim(i) != other.dim(i)) common.set_dim(i, Shape::kUnknownDim);
    }
  }
  return common;
}

}  // namespace

template <bool kIsRef>
Result<std::array<Shape, 2>> MergeForm<kIsRef>::InferShape(std::span<const Known> inputs) const {
  return std::array<Shape, 2>{CommonShape(inputs), Shape{}};
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
