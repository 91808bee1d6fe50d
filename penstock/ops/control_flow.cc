#include "penstock/ops/control_flow.h"

#include "penstock/graph/flow.h"

namespace penstock::ops {
template <bool kIsRef>
Result<std::array<Shape, 2>> MergeForm<kIsRef>::InferShape(std::span<const Known> inputs) const {
  Shape common = *inputs[0].shape;
  for (const Known& input : inputs.subspan(1)) common = CommonShape(common, *input.shape);
  return std::array<Shape, 2>{common, Shape{}};
}

// What arrives at the way that was not taken is dead; so is its gradient.
template <bool kIsRef>
void SwitchForm<kIsRef>::Gradient(Gradients& g) const {
  std::vector<Expr> sides;
  for (int side = 0; side < 2; ++side) {
    if (g.has_dy(side)) {
      sides.push_back(g.dy(side));
    } else {
      const Expr zeros = Op("Switch", Op("ZerosLike", g.input(0)), g.input(1));
      sides.push_back(zeros.valid() ? zeros.Output(side) : zeros);
    }
  }
  g.Set(0, g.scope().Add("Merge", sides, {{"N", int64_t{2}}}));
}

template <bool kIsRef>
void MergeForm<kIsRef>::Gradient(Gradients& g) const {
  if (!g.has_dy(0)) return;
  for (int i = 0; i < g.num_inputs(); ++i) {
    const Expr came = Op("Equal", g.output(1), g.scope().Like(g.output(1), i));
    const Expr ways = Op("Switch", g.dy(0), came);
    if (ways.valid()) g.Set(i, ways.Output(1));
  }
}

namespace {
// Loops that stock TensorFlow writes have become While nodes before (graph/raise_flow.h).
void RefuseLoop(Gradients& g, std::string_view op) {
  g.scope().Fail(
      Unimplemented("{} has no gradient: its loop is not of the form that While has", op));
}
}  // namespace

template <bool kIsRef>
void EnterForm<kIsRef>::Gradient(Gradients& g) const {
  RefuseLoop(g, kName);
}
template <bool kIsRef>
void ExitForm<kIsRef>::Gradient(Gradients& g) const {
  RefuseLoop(g, kName);
}
template <bool kIsRef>
void NextIterationForm<kIsRef>::Gradient(Gradients& g) const {
  RefuseLoop(g, kName);
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
