#include "penstock/train/loss/metric.h"

#include "penstock/train/loss/metric_builder.h"

namespace penstock {

using namespace loss_internal;

namespace {

Metric<float> MakeAccuracy(const Output<float>& logits, const Expr& labels, MetricBuilder& build) {
  const Expr scores = build(logits);
  build.build().CheckRank(scores, 1);
  const Expr best = Op("ArgMax", scores, IntScalar(build.scope(), -1));
  const Expr right = Op("Equal", best, CastTo(labels, DType::kInt64));
  build.build().CheckSameShape(best, labels);
  return build.Finish<float>(build.RunningMean(CastTo(right, DType::kFloat)));
}

void RefuseWeights(const MetricBuilder& build, const MetricOptions& options) {
  if (options.weights.ref().node == kNoNode) return;
  build.build().Fail(
      InvalidArgument("{} counts examples: it has no weights", build.build().name()));
}

// The counts of a batch, [classes, classes].
Expr CountPairs(const Expr& predictions, const Expr& labels, int64_t num_classes,
                const MetricBuilder& build) {
  build.build().CheckSameShape(predictions, labels);
  if (num_classes <= 0 || num_classes > INT32_MAX) {
    build.build().Fail(InvalidArgument("{}: the number of classes must be positive, got {}",
                                       build.build().name(), num_classes));
  }
  const Scope& scope = build.scope();
  const Expr pairs = scope.Add("Pack", {AsVector(labels), AsVector(predictions)}, {{"axis", 1}});
  const Expr shape =
      scope.Constant(Tensor::FromValues<int64_t>(Shape{2}, {num_classes, num_classes}));
  return scope.Add("ScatterNd", {pairs, Op("OnesLike", AsVector(labels)), shape});
}

}  // namespace

Metric<float> MeanOf(const Output<float>& values, const MetricOptions& options, CallSite site) {
  MetricBuilder build(values.graph(), "mean", options, site);
  return build.Finish<float>(build.RunningMean(build(values)));
}

Metric<float> MeanSquaredErrorOf(const Output<float>& predictions, const Output<float>& targets,
                                 const MetricOptions& options, CallSite site) {
  MetricBuilder build(predictions.graph(), "mean_squared_error", options, site);
  const Expr p = build(predictions), t = build(targets);
  build.build().CheckSameShape(p, t);
  return build.Finish<float>(build.RunningMean(Op("SquaredDifference", p, t)));
}

Metric<float> PerplexityOf(const Output<float>& cross_entropies, const MetricOptions& options,
                           CallSite site) {
  MetricBuilder build(cross_entropies.graph(), "perplexity", options, site);
  const Expr values = build(cross_entropies);
  const Expr total = build.Accumulate("total", build.WeightedSum(values));
  const Expr count = build.Accumulate("count", build.WeightedSum(Op("OnesLike", values)));
  // Of nothing it is 0, as the others are, and not e^0.
  const Expr any = Op("Sign", count);
  return build.Finish<float>(CastTo(any * Op("Exp", SafeRatio(total, count)), DType::kFloat));
}

Metric<float> AccuracyOf(const Output<float>& logits, const Output<int32_t>& labels,
                         const MetricOptions& options, CallSite site) {
  MetricBuilder build(logits.graph(), "accuracy", options, site);
  return MakeAccuracy(logits, build(labels), build);
}

Metric<float> AccuracyOf(const Output<float>& logits, const Output<int64_t>& labels,
                         const MetricOptions& options, CallSite site) {
  MetricBuilder build(logits.graph(), "accuracy", options, site);
  return MakeAccuracy(logits, build(labels), build);
}

Metric<float> TopKAccuracyOf(const Output<float>& logits, const Output<int32_t>& labels, int64_t k,
                             const MetricOptions& options, CallSite site) {
  MetricBuilder build(logits.graph(), "top_k_accuracy", options, site);
  const Expr scores = build(logits);
  build.build().CheckRank(scores, 2);
  if (k <= 0 || k > INT32_MAX)
    build.build().Fail(InvalidArgument("top_k_accuracy: k must be positive, got {}", k));
  const Expr hit =
      build.scope().Add("InTopKV2", {AsMatrix(scores), AsVector(build(labels)),
                                     IntScalar(build.scope(), static_cast<int32_t>(k))});
  return build.Finish<float>(build.RunningMean(CastTo(hit, DType::kFloat)));
}

Metric<int64_t> ConfusionMatrixOf(const Output<int64_t>& predictions, const Output<int64_t>& labels,
                                  int64_t num_classes, const MetricOptions& options,
                                  CallSite site) {
  MetricBuilder build(predictions.graph(), "confusion_matrix", options, site);
  RefuseWeights(build, options);
  const Expr counts = CountPairs(build(predictions), build(labels), num_classes, build);
  return build.Finish<int64_t>(build.Accumulate("counts", counts));
}

Metric<float> MeanIouOf(const Output<int64_t>& predictions, const Output<int64_t>& labels,
                        int64_t num_classes, const MetricOptions& options, CallSite site) {
  MetricBuilder build(predictions.graph(), "mean_iou", options, site);
  RefuseWeights(build, options);
  const Expr counts =
      build.Accumulate("counts", CountPairs(build(predictions), build(labels), num_classes, build));
  const Expr matrix = CastTo(counts, DType::kDouble);
  const Expr both = Op("MatrixDiagPart", matrix);
  const Expr either = SumOver(matrix, {0}) + SumOver(matrix, {1}) - both;
  const Expr came_up = SumOfAll(Op("Sign", either));
  return build.Finish<float>(
      CastTo(SafeRatio(SumOfAll(SafeRatio(both, either)), came_up), DType::kFloat));
}

}  // namespace penstock
