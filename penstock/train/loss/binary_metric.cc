#include "penstock/train/loss/metric_builder.h"

// Metrics of two classes.

namespace penstock {

using namespace loss_internal;

namespace {

// What was said of the examples so far, and what is true.
struct BinaryCounts {
  Expr true_positives, false_positives, false_negatives;
};

Expr IsPositive(const Expr& labels) {
  return Op("NotEqual", labels, labels.scope().Like(labels, 0));
}

Expr Both(const Expr& a, const Expr& b) { return CastTo(Op("LogicalAnd", a, b), DType::kFloat); }

BinaryCounts Count(const Output<float>& predictions, const Output<float>& labels, float threshold,
                   MetricBuilder& build) {
  const Expr p = build(predictions), z = build(labels);
  build.build().CheckSameShape(p, z);
  const Expr said = Op("Greater", p, build.scope().Like(p, threshold));
  const Expr is = IsPositive(z);
  OrThrow(build.scope().status(), build.build().site());
  const auto running = [&](std::string_view name, const Expr& which) {
    return build.Accumulate(name, build.WeightedSum(which));
  };
  return {running("true_positives", Both(said, is)),
          running("false_positives", Both(said, Op("LogicalNot", is))),
          running("false_negatives", Both(Op("LogicalNot", said), is))};
}

template <class Formula>
Metric<float> OfCounts(std::string_view name, const Output<float>& predictions,
                       const Output<float>& labels, const BinaryMetricOptions& options,
                       CallSite site, Formula formula) {
  MetricBuilder build(predictions.graph(), name, options, site);
  const BinaryCounts counts = Count(predictions, labels, options.threshold, build);
  return build.Finish<float>(CastTo(formula(counts), DType::kFloat));
}

// Evenly spaced, with one below 0 and one above 1, so that the curve has its ends.
Tensor Thresholds(int count) {
  constexpr float kBeyond = 1e-7f;
  Tensor thresholds(DType::kFloat, Shape{count, 1});
  float* at = thresholds.mutable_data<float>();
  for (int i = 0; i < count; ++i) at[i] = static_cast<float>(i) / static_cast<float>(count - 1);
  at[0] = -kBeyond;
  at[count - 1] = 1 + kBeyond;
  return thresholds;
}

// The sum over i of (x[i] - x[i + 1]) (y[i] + y[i + 1]) / 2.
Expr Trapezoids(const Expr& x, const Expr& y, int count) {
  const Scope& scope = x.scope();
  const Expr size = IntVector(scope, {count - 1});
  const auto from = [&](const Expr& curve, int32_t first) {
    return Op("Slice", curve, IntVector(scope, {first}), size);
  };
  return SumOver((from(x, 0) - from(x, 1)) * (from(y, 0) + from(y, 1)), {0}) * 0.5;
}

}  // namespace

Metric<float> BinaryAccuracyOf(const Output<float>& predictions, const Output<float>& labels,
                               const BinaryMetricOptions& options, CallSite site) {
  MetricBuilder build(predictions.graph(), "binary_accuracy", options, site);
  const Expr p = build(predictions), z = build(labels);
  build.build().CheckSameShape(p, z);
  const Expr said = Op("Greater", p, build.scope().Like(p, options.threshold));
  const Expr right = Op("Equal", said, IsPositive(z));
  return build.Finish<float>(build.RunningMean(CastTo(right, DType::kFloat)));
}

Metric<float> PrecisionOf(const Output<float>& predictions, const Output<float>& labels,
                          const BinaryMetricOptions& options, CallSite site) {
  return OfCounts("precision", predictions, labels, options, site, [](const BinaryCounts& n) {
    return SafeRatio(n.true_positives, n.true_positives + n.false_positives);
  });
}

Metric<float> RecallOf(const Output<float>& predictions, const Output<float>& labels,
                       const BinaryMetricOptions& options, CallSite site) {
  return OfCounts("recall", predictions, labels, options, site, [](const BinaryCounts& n) {
    return SafeRatio(n.true_positives, n.true_positives + n.false_negatives);
  });
}

Metric<float> F1Of(const Output<float>& predictions, const Output<float>& labels,
                   const BinaryMetricOptions& options, CallSite site) {
  return OfCounts("f1", predictions, labels, options, site, [](const BinaryCounts& n) {
    const Expr twice = n.true_positives * 2.0;
    return SafeRatio(twice, twice + n.false_positives + n.false_negatives);
  });
}

Metric<float> AucOf(const Output<float>& predictions, const Output<float>& labels,
                    const AucOptions& options, CallSite site) {
  MetricBuilder build(predictions.graph(), "auc", options, site);
  const Scope& scope = build.scope();
  if (options.num_thresholds < 2) {
    build.build().Fail(
        InvalidArgument("auc: at least 2 thresholds are needed, got {}", options.num_thresholds));
  }
  build.build().CheckSameShape(build(predictions), build(labels));
  const Expr p = AsVector(build(predictions));
  const Expr positive = CastTo(IsPositive(AsVector(build(labels))), DType::kFloat);
  Expr weights = Op("OnesLike", p);
  if (options.weights.ref().node != kNoNode) weights = weights * AsVector(build(options.weights));
  // [thresholds, examples]: who is said to be positive at which.
  const Expr said =
      CastTo(Op("Greater", p, scope.Constant(Thresholds(options.num_thresholds))), DType::kFloat);
  const auto running = [&](std::string_view name, const Expr& amount) {
    return build.Accumulate(name, CastTo(SumOver(amount, {-1}), DType::kDouble));
  };
  const Expr is = positive * weights, is_not = (1.0 - positive) * weights;
  const Expr hits = running("true_positives", said * is);
  const Expr alarms = running("false_positives", said * is_not);
  const Expr all_positive = running("positives", is);
  const Expr all_negative = running("negatives", is_not);
  return build.Finish<float>(
      CastTo(Trapezoids(SafeRatio(alarms, all_negative), SafeRatio(hits, all_positive),
                        options.num_thresholds),
             DType::kFloat));
}

}  // namespace penstock
