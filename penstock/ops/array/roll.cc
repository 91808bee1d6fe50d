#include "penstock/ops/array/roll.h"

#include <vector>

#include "penstock/ops/strided_copy.h"

namespace penstock::ops {

Result<Shape> Roll::InferShape(const Shape& input, const Integers& shift,
                               const Integers& axis) const {
  TRY(CheckRankAtLeast(input, 1, "input"));
  for (const Integers* given : {&shift, &axis}) {
    if (given->shape().has_rank() && given->shape().rank() > 1)
      return InvalidArgument("shift and axis must be scalars or vectors, got shape {}",
                             given->shape());
  }
  if (!shift.shape().IsCompatibleWith(axis.shape())) {
    return InvalidArgument("shift and axis must have the same shape: {} vs {}", shift.shape(),
                           axis.shape());
  }
  if (axis.known() && input.has_rank()) {
    for (const int64_t one : axis.values()) TRY(ResolveAxis(one, input.rank()));
  }
  return input;
}

void Roll::Gradient(Gradients& g) const { g.Set(0, Op("Roll", g.dy(), -g.input(1), g.input(2))); }

Status Roll::ComputeCpu(CpuContext& context, const Tensor& input, const Integers& shift,
                        const Integers& axis, Tensor& output) const {
  if (input.num_elements() == 0) return OkStatus();
  const Shape& shape = input.shape();
  std::vector<int64_t> moved(static_cast<size_t>(shape.rank()), 0);
  for (size_t i = 0; i < axis.size(); ++i) {
    TRY_ASSIGN(const int at, ResolveAxis(axis[i], shape.rank()));
    const int64_t n = shape[at];
    moved[at] = (moved[at] + shift[i] % n + n) % n;
  }
  // Each axis that moves has two runs; every choice of one for each axis is a block to be copied.
  std::vector<int> axes;
  for (int at = 0; at < shape.rank(); ++at) {
    if (moved[at] != 0) axes.push_back(at);
  }
  // 2^axes blocks, each with an element at least.
  const std::vector<int64_t> strides = DenseStrides(shape.dims());
  for (int64_t block = 0; block < int64_t{1} << axes.size(); ++block) {
    std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
    int64_t from = 0, to = 0;
    for (size_t k = 0; k < axes.size(); ++k) {
      const int at = axes[k];
      const int64_t wrapped = moved[at];
      if ((block >> k & 1) != 0) {
        from += (shape[at] - wrapped) * strides[at];
        dims[at] = wrapped;
      } else {
        to += wrapped * strides[at];
        dims[at] = shape[at] - wrapped;
      }
    }
    CopyElements(input, {from, strides}, output, {to, strides}, dims, context.parallel());
  }
  return OkStatus();
}

void RegisterRoll(Registrar& registrar) { registrar.Add<Roll>(); }

}  // namespace penstock::ops
