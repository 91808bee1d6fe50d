#include "penstock/train/loss/loss_builder.h"

#include <numeric>

namespace penstock::loss_internal {
namespace {

Tensor IntTensor(const std::vector<int32_t>& values) {
  Tensor tensor(DType::kInt32, Shape{static_cast<int64_t>(values.size())});
  std::copy(values.begin(), values.end(), tensor.mutable_data<int32_t>());
  return tensor;
}

bool MayAgree(const Shape& a, const Shape& b) {
  if (!a.has_rank() || !b.has_rank()) return true;
  if (a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (a.dim(i) >= 0 && b.dim(i) >= 0 && a.dim(i) != b.dim(i)) return false;
  }
  return true;
}

// Whether each axis of `weights` is one of `losses`, or of extent 1. Ranks are equal.
bool Fits(const Shape& weights, const Shape& losses) {
  for (int i = 0; i < weights.rank(); ++i) {
    const int64_t w = weights.dim(i), l = losses.dim(i);
    if (w >= 0 && w != 1 && l >= 0 && w != l) return false;
  }
  return true;
}

Expr Reduced(std::string_view op, const Expr& x, const std::vector<int32_t>& axes, bool keep_dims) {
  if (!x.valid()) return x;
  return Op(op, x, IntVector(x.scope(), axes), {{"keep_dims", keep_dims}});
}

}  // namespace

Expr IntVector(const Scope& scope, const std::vector<int32_t>& values) {
  return scope.Constant(IntTensor(values));
}
Expr IntScalar(const Scope& scope, int32_t value) {
  return scope.Constant(Tensor::Scalar<int32_t>(value));
}
Expr SumOver(const Expr& x, const std::vector<int32_t>& axes, bool keep_dims) {
  return Reduced("Sum", x, axes, keep_dims);
}
Expr MeanOver(const Expr& x, const std::vector<int32_t>& axes, bool keep_dims) {
  return Reduced("Mean", x, axes, keep_dims);
}

Expr SumOfAll(const Expr& x) {
  if (!x.valid()) return x;
  if (!x.shape().has_rank()) return SumOver(AsVector(x), {0});
  std::vector<int32_t> axes(static_cast<size_t>(x.shape().rank()));
  std::iota(axes.begin(), axes.end(), 0);
  return SumOver(x, axes);
}

Expr CastTo(const Expr& x, DType dtype) {
  return !x.valid() || x.dtype() == dtype ? x : Op("Cast", x, {{"DstT", dtype}});
}

Expr CountOf(const Expr& x) {
  if (!x.valid()) return x;
  if (const auto count = x.shape().CheckedNumElements())
    return x.scope().Like(x, static_cast<double>(*count));
  return CastTo(Op("Size", x), x.dtype());
}

Expr SafeRatio(const Expr& a, const Expr& b) { return Op("DivNoNan", a, b); }

Expr AtLeast(const Expr& x, double least) {
  return x.valid() ? Op("Maximum", x, x.scope().Like(x, least)) : x;
}

Expr Normalized(const Expr& x) {
  return x * Op("Rsqrt", AtLeast(SumOver(Op("Square", x), {-1}, /*keep_dims=*/true), 1e-12));
}

Expr AsMatrix(const Expr& x) {
  if (!x.valid() || x.shape().rank() == 2) return x;
  const int64_t last = x.shape().dim(x.shape().rank() - 1);
  if (last >= 0) return Op("Reshape", x, IntVector(x.scope(), {-1, static_cast<int32_t>(last)}));
  const Scope& scope = x.scope();
  const Expr tail =
      Op("Slice", Op("Shape", x), IntVector(scope, {x.shape().rank() - 1}), IntVector(scope, {1}));
  return Op("Reshape", x,
            scope.Add("ConcatV2", {IntVector(scope, {-1}), tail, IntScalar(scope, 0)}));
}

Expr AsVector(const Expr& x) {
  if (!x.valid() || (x.shape().has_rank() && x.shape().rank() == 1)) return x;
  return Op("Reshape", x, IntVector(x.scope(), {-1}));
}

void LossBuilder::CheckSameShape(const Expr& a, const Expr& b) const {
  if (!a.valid() || !b.valid() || MayAgree(a.shape(), b.shape())) return;
  Fail(InvalidArgument("{}: predictions and targets must have the same shape: {} vs {}", name_,
                       a.shape(), b.shape()));
}

void LossBuilder::CheckRank(const Expr& x, int least) const {
  if (!x.valid() || (x.shape().has_rank() && x.shape().rank() >= least)) return;
  Fail(InvalidArgument("{}: expected a known rank of at least {}, got shape {}", name_, least,
                       x.shape()));
}

Expr LossBuilder::Weighted(const Expr& losses, const Expr& weights) const {
  if (!losses.valid() || !weights.valid()) return losses;
  if (!weights.shape().has_rank() || !losses.shape().has_rank()) return losses * weights;
  // Weights of rows get the axes that they lack at their end: [B] against [B, D] is [B, 1].
  Expr aligned = weights;
  while (aligned.valid() && aligned.shape().rank() > 0 &&
         aligned.shape().rank() < losses.shape().rank())
    aligned = Op("ExpandDims", aligned, IntScalar(scope_, -1));
  if (!aligned.valid()) return aligned;
  if (aligned.shape().rank() > 0 &&
      (aligned.shape().rank() != losses.shape().rank() || !Fits(aligned.shape(), losses.shape()))) {
    Fail(InvalidArgument("{}: weights of shape {} do not fit losses of shape {}", name_,
                         weights.shape(), losses.shape()));
  }
  return losses * aligned;
}

Output<float> LossBuilder::Reduce(const Expr& losses, const Output<float>& given,
                                  Reduction reduction) const {
  OrThrow(scope_.status(), site_);
  const bool is_weighted = given.ref().node != kNoNode;
  const Expr weights = is_weighted ? (*this)(given) : Expr();
  const Expr weighted = is_weighted ? Weighted(losses, weights) : losses;
  if (reduction == Reduction::kNone) return Result(weighted);
  const Expr sum = SumOfAll(weighted);
  if (reduction == Reduction::kSum) return Result(sum);
  if (reduction == Reduction::kMean || !is_weighted) return Result(SafeRatio(sum, CountOf(losses)));
  // As many weights as losses: each counts for what it was multiplied with.
  const Expr counted =
      reduction == Reduction::kMeanOverWeights
          ? weights
          : CastTo(Op("NotEqual", weights, scope_.Like(weights, 0)), weights.dtype());
  return Result(SafeRatio(sum, SumOfAll(Weighted(Op("OnesLike", losses), counted))));
}

}  // namespace penstock::loss_internal
