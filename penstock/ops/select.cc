#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/ops/select.cc"
#include "penstock/kernels/targets.h"
// After targets.h, which it obeys.
#include "hwy/foreach_target.h"
#include "penstock/ops/elementwise-inl.h"
#include "penstock/ops/select.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::ops::HWY_NAMESPACE {
void SelectBlocks(ElementwiseTable& table) { AddVectorBlocks(table, SelectOps()); }
}  // namespace penstock::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "penstock/kernels/broadcast.h"
#include "penstock/ops/elementwise_objects.h"

namespace penstock::ops {

HWY_EXPORT(SelectBlocks);

namespace {

void ChooseString(const void* const* operands, void* result) {
  const bool condition = *static_cast<const bool*>(operands[0]);
  *static_cast<std::string*>(result) =
      *static_cast<const std::string*>(operands[condition ? 1 : 2]);
}

// Sums `gradient`, which has the shape of output 0, down to the shape of input i.
void SetSummed(Gradients& g, int i, const Expr& gradient) {
  if (g.input(i).shape().IsFullyKnown() && g.input(i).shape() == g.output(0).shape()) {
    return g.Set(i, gradient);
  }
  const Expr shape = Op("Shape", g.input(i));
  const Expr axes = Op("BroadcastGradientArgs", shape, Op("Shape", g.output(0)));
  g.Set(i, Op("Reshape", Op("Sum", gradient, axes), shape));
}

}  // namespace

void SelectV2::Gradient(Gradients& g) const {
  const Expr condition = g.input(0), dy = g.dy(), zero = g.scope().Like(dy, 0);
  SetSummed(g, 1, Op("SelectV2", condition, dy, zero));
  SetSummed(g, 2, Op("SelectV2", condition, zero, dy));
}

Result<std::unique_ptr<Kernel>> SelectV2::OtherCpuKernel(const ElementwiseTable&,
                                                         const KernelRequest& request) {
  if (request.outputs[0] != DType::kString) return std::unique_ptr<Kernel>();
  return MakeObjectKernel(&ChooseString, &op_internal::Infer<SelectV2>, request);
}

Result<Shape> Select::InferShape(const Shape& condition, const Shape& t, const Shape& e) const {
  TRY_ASSIGN(Shape shape, MergeShapes(t, e));
  if (!condition.has_rank() || condition.rank() == 0) return shape;
  if (!shape.has_rank()) return condition.rank() == 1 ? shape : condition;
  if (condition.rank() != 1) return MergeShapes(condition, shape);
  if (shape.rank() == 0) {
    return InvalidArgument("the condition must be a scalar when t is, got shape {}", condition);
  }
  TRY_ASSIGN(const Shape rows, MergeShapes(condition, shape.Slice(0, 1)));
  shape.set_dim(0, rows.dim(0));
  return shape;
}

void Select::Gradient(Gradients& g) const {
  const Expr condition = g.input(0), zeros = Op("ZerosLike", g.input(1));
  g.Set(1, Op("Select", condition, g.dy(), zeros));
  g.Set(2, Op("Select", condition, zeros, g.dy()));
}

Status Select::ComputeCpu(CpuContext& context, const Tensor& condition, const Tensor& t,
                          const Tensor& e, Tensor& output) const {
  // A condition for each row broadcasts along the other axes.
  Shape rows = condition.shape();
  if (rows.rank() == 1) {
    while (rows.rank() < t.shape().rank()) rows.Append(1);
  }
  if (t.dtype() == DType::kString) {
    const Shape shapes[] = {rows, t.shape(), e.shape()};
    RunObjects(&ChooseString, context.inputs(0, 3), shapes, output);
    return OkStatus();
  }
  const ElementwiseBlock* block = StandardElementwise().Find(SelectV2::kName, t.dtype());
  if (block == nullptr) return Unimplemented("op Select has no CPU kernel for {}", t.dtype());
  const int bytes = static_cast<int>(SizeOf(t.dtype()));
  int64_t strides[Shape::kMaxRank];
  kernels::BroadcastStrides(rows.dims(), output.shape().dims(), strides);
  const kernels::Operand operands[] = {
      condition.num_elements() == 1 ? kernels::Operand::Scalar(condition.raw(), 1)
                                    : kernels::Operand::Strided(condition.raw(), 1, strides),
      kernels::Operand::Dense(t.raw(), bytes), kernels::Operand::Dense(e.raw(), bytes)};
  kernels::RunElementwise(block->function, operands, output.shape().dims(), output.mutable_raw(),
                          bytes, block->cost, context.parallel());
  return OkStatus();
}

Result<Shape> ClipByValue::InferShape(const Shape& t, const Shape& least, const Shape& most) const {
  Shape shape = t;
  for (const Shape* bound : {&least, &most}) {
    if (!bound->has_rank() || bound->rank() == 0) continue;
    TRY_ASSIGN(shape, MergeShapes(shape, *bound));
  }
  return shape;
}

void ClipByValue::Gradient(Gradients& g) const {
  const Expr t = g.input(0), dy = g.dy(), zero = g.scope().Like(dy, 0);
  const Expr too_low = Op("Less", t, g.input(1)), too_high = Op("Greater", t, g.input(2));
  g.Set(0, Op("SelectV2", Op("LogicalOr", too_low, too_high), zero, dy));
  SetSummed(g, 1, Op("SelectV2", too_low, dy, zero));
  SetSummed(g, 2, Op("SelectV2", too_high, dy, zero));
}

void RegisterSelect(Registrar& registrar, ElementwiseTable& table) {
  HWY_DYNAMIC_DISPATCH(SelectBlocks)(table);
  AddPlainBlocks(table, SelectOps());
  AddElementwise(registrar, SelectOps(), table);
  registrar.Add<Select>();
}

}  // namespace penstock::ops
#endif
