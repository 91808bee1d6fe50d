#include "penstock/ops/nn/softmax.h"

#include "penstock/kernels/broadcast_plan.h"
#include "penstock/kernels/expand.h"
#include "penstock/kernels/softmax.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/gradient_terms.h"

namespace penstock::ops {
namespace {

Status Compute(CpuContext& context, const Tensor& logits, bool log, Tensor& out) {
  const int64_t total = logits.num_elements();
  if (total == 0) return OkStatus();
  const int64_t classes = logits.shape().dim(logits.shape().rank() - 1);
  const int64_t row_bytes = classes * static_cast<int64_t>(SizeOf(logits.dtype()));
  const char* from = static_cast<const char*>(logits.raw());
  char* to = static_cast<char*>(out.mutable_raw());
  const kernels::SoftmaxKernels kernels = kernels::SoftmaxKernelsOf(logits.dtype());
  context.parallel()(total / classes, kernels.Cost(classes), [&](int64_t begin, int64_t end) {
    kernels.softmax(from + begin * row_bytes, end - begin, classes, log, to + begin * row_bytes);
  });
  return OkStatus();
}

// A matrix that broadcasts to `shape`, row by row. One row is read again for each; one column,
// which hardly anybody has, is written out.
struct RowsOf {
  Tensor rows;
  int64_t row_bytes = 0;

  static Result<RowsOf> Make(CpuContext& context, const Tensor& x, const Shape& shape) {
    const auto bytes = static_cast<int64_t>(SizeOf(x.dtype()));
    const int64_t stride = shape.dim(1) * bytes;
    if (x.shape() == shape) return RowsOf{x, stride};
    const int rank = x.shape().rank();
    if (rank > 0 && x.shape().dim(rank - 1) == shape.dim(1)) return RowsOf{x, 0};
    TRY_ASSIGN(Tensor spread, context.Allocate(x.dtype(), shape));
    if (spread.num_elements() == 0) return RowsOf{spread, stride};
    int64_t strides[2];
    kernels::BroadcastStrides(x.shape().dims(), shape.dims(), strides);
    const kernels::Operand operand =
        kernels::Operand::Strided(x.raw(), static_cast<int>(bytes), strides);
    kernels::Expand(kernels::BroadcastPlan(shape.dims(), {&operand, 1}), 0, x.raw(),
                    static_cast<int>(bytes), 0, spread.num_elements(), spread.mutable_raw());
    return RowsOf{spread, stride};
  }
  const void* row(int64_t r) const { return static_cast<const char*>(rows.raw()) + r * row_bytes; }
};

// The sum along the last axis, which stays as one of 1.
Expr SumOfRows(const Expr& x) {
  return Op("Sum", x, IntVector(x.scope(), {-1}), {{"keep_dims", true}});
}

// A column of the losses' gradients times what belongs to their rows.
Expr ScaleRows(const Expr& losses, const Expr& rows) {
  return Op("ExpandDims", losses, IntScalar(losses.scope(), -1)) * rows;
}

// The derivative by the features of both losses; that of their output `backprop` is the softmax's.
Expr FeatureGradient(Gradients& g) {
  Expr gradient = ScaleRows(g.dy(0), g.output(1));
  if (g.has_dy(1)) {
    const Expr softmax = Op("Softmax", g.input(0));
    gradient = gradient + (g.dy(1) - SumOfRows(g.dy(1) * softmax)) * softmax;
  }
  return gradient;
}

}  // namespace

Result<Shape> Softmax::InferShape(const Shape& logits) const {
  TRY(CheckRankAtLeast(logits, 1, "logits"));
  return logits;
}
void Softmax::Gradient(Gradients& g) const {
  const Expr y = g.output(0), dy = g.dy();
  g.Set(0, (dy - SumOfRows(dy * y)) * y);
}
Status Softmax::ComputeCpu(CpuContext& context, const Tensor& logits, Tensor& softmax) const {
  return Compute(context, logits, false, softmax);
}

Result<Shape> LogSoftmax::InferShape(const Shape& logits) const {
  TRY(CheckRankAtLeast(logits, 1, "logits"));
  return logits;
}
void LogSoftmax::Gradient(Gradients& g) const {
  const Expr dy = g.dy();
  g.Set(0, dy - SumOfRows(dy) * Op("Exp", g.output(0)));
}
Status LogSoftmax::ComputeCpu(CpuContext& context, const Tensor& logits, Tensor& logsoftmax) const {
  return Compute(context, logits, true, logsoftmax);
}

Result<std::array<Shape, 2>> SoftmaxCrossEntropyWithLogits::InferShape(const Shape& features,
                                                                       const Shape& labels) const {
  TRY_ASSIGN(Shape rows, BroadcastShapes(features, labels));
  TRY(CheckRank(rows, 2, "features and labels"));
  if (!rows.has_rank()) rows = Shape::UnknownOfRank(2);
  return std::array<Shape, 2>{Shape{rows.dim(0)}, rows};
}

void SoftmaxCrossEntropyWithLogits::Gradient(Gradients& g) const {
  g.SetUnbroadcast(0, FeatureGradient(g), 1);
  g.SetUnbroadcast(1, ScaleRows(g.dy(0), -Op("LogSoftmax", g.input(0))), 0);
}

Status SoftmaxCrossEntropyWithLogits::ComputeCpu(CpuContext& context, const Tensor& features,
                                                 const Tensor& labels, Tensor& loss,
                                                 Tensor& backprop) const {
  const Shape& shape = backprop.shape();
  const kernels::SoftmaxKernels kernels = kernels::SoftmaxKernelsOf(features.dtype());
  const int64_t classes = shape.dim(1);
  const auto bytes = static_cast<int64_t>(SizeOf(features.dtype()));
  TRY_ASSIGN(const RowsOf x, RowsOf::Make(context, features, shape));
  TRY_ASSIGN(const RowsOf p, RowsOf::Make(context, labels, shape));
  char* losses = static_cast<char*>(loss.mutable_raw());
  char* derivatives = static_cast<char*>(backprop.mutable_raw());
  context.parallel()(shape.dim(0), kernels.Cost(2 * classes), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      kernels.cross_entropy(x.row(r), p.row(r), classes, losses + r * bytes,
                            derivatives + r * classes * bytes);
    }
  });
  return OkStatus();
}

Result<std::array<Shape, 2>> SparseSoftmaxCrossEntropyWithLogits::InferShape(
    const Shape& features, const Shape& labels) const {
  TRY(CheckRank(features, 2, "features"));
  TRY(CheckVector(labels, "labels"));
  Shape rows = features.has_rank() ? features : Shape::UnknownOfRank(2);
  if (labels.has_rank() && labels.dim(0) >= 0) {
    if (rows.dim(0) >= 0 && rows.dim(0) != labels.dim(0)) {
      return InvalidArgument("features and labels must have as many rows, got {} and {}", features,
                             labels);
    }
    rows.set_dim(0, labels.dim(0));
  }
  if (rows.dim(1) == 0 && rows.dim(0) > 0) {
    return InvalidArgument("features must have at least one class, got {}", features);
  }
  return std::array<Shape, 2>{Shape{rows.dim(0)}, rows};
}

void SparseSoftmaxCrossEntropyWithLogits::Gradient(Gradients& g) const {
  g.Set(0, FeatureGradient(g));
}

Status SparseSoftmaxCrossEntropyWithLogits::ComputeCpu(CpuContext& context, const Tensor& features,
                                                       const Tensor& labels, Tensor& loss,
                                                       Tensor& backprop) const {
  const int64_t rows = features.shape().dim(0), classes = features.shape().dim(1);
  const auto bytes = static_cast<int64_t>(SizeOf(features.dtype()));
  const kernels::SoftmaxKernels kernels = kernels::SoftmaxKernelsOf(features.dtype());
  const char* x = static_cast<const char*>(features.raw());
  char* losses = static_cast<char*>(loss.mutable_raw());
  char* derivatives = static_cast<char*>(backprop.mutable_raw());
  return ForDType(labels.dtype(), Types<int32_t, int64_t>(), [&]<class Label>() {
    const Label* label = labels.data<Label>();
    for (int64_t r = 0; r < rows; ++r) {
      if (InRange(label[r], classes)) continue;
      return InvalidArgument(
          "Received a label value of {} which is outside the valid range of [0, {})", label[r],
          classes);
    }
    context.parallel()(rows, kernels.Cost(2 * classes), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        kernels.sparse_cross_entropy(x + r * classes * bytes, label[r], classes, losses + r * bytes,
                                     derivatives + r * classes * bytes);
      }
    });
    return OkStatus();
  });
}

void RegisterSoftmax(Registrar& registrar) {
  registrar.AddAll<Softmax, LogSoftmax, SoftmaxCrossEntropyWithLogits,
                   SparseSoftmaxCrossEntropyWithLogits>();
}

}  // namespace penstock::ops
