#pragma once

#include <string_view>

#include "penstock/client/output.h"
#include "penstock/train/loss/reduction.h"

// Figures over many batches: each keeps its sums in variables that are neither trained nor saved.
//
//   auto accuracy = AccuracyOf(logits, labels);
//   session.Run(accuracy.reset);
//   for (each batch) session.Run({{images, x}, {truth, y}}, accuracy.update);
//   float share = session.Run(accuracy.value);
//
// Before the first update and after a reset a value is 0. Variables get their first values from
// InitVariables, as all others do.

namespace penstock {

template <class T>
struct Metric {
  Output<T> value;   // of the batches so far
  Operation update;  // takes another batch in
  Operation reset;   // forgets all batches
};

struct MetricOptions {
  std::string_view name = {};  // of the variables' scope; by default that of the metric
  Output<float> weights = {};  // a factor for each example, or none
};

// The mean of all elements of `values`.
Metric<float> MeanOf(const Output<float>& values, const MetricOptions& options = {},
                     CallSite site = CallSite::Here());
Metric<float> MeanSquaredErrorOf(const Output<float>& predictions, const Output<float>& targets,
                                 const MetricOptions& options = {},
                                 CallSite site = CallSite::Here());
// e to the mean of cross-entropies (natural logarithms), one for each token.
Metric<float> PerplexityOf(const Output<float>& cross_entropies, const MetricOptions& options = {},
                           CallSite site = CallSite::Here());

// ---- of classes: logits [..., classes], labels [...] ----

// The share of rows whose largest logit is that of the label.
Metric<float> AccuracyOf(const Output<float>& logits, const Output<int32_t>& labels,
                         const MetricOptions& options = {}, CallSite site = CallSite::Here());
Metric<float> AccuracyOf(const Output<float>& logits, const Output<int64_t>& labels,
                         const MetricOptions& options = {}, CallSite site = CallSite::Here());
// The share of rows whose label is among the k largest logits.
Metric<float> TopKAccuracyOf(const Output<float>& logits, const Output<int32_t>& labels, int64_t k,
                             const MetricOptions& options = {}, CallSite site = CallSite::Here());
// [classes, classes]: how often label i was taken for class j. A number outside of [0, classes)
// fails the step.
Metric<int64_t> ConfusionMatrixOf(const Output<int64_t>& predictions, const Output<int64_t>& labels,
                                  int64_t num_classes, const MetricOptions& options = {},
                                  CallSite site = CallSite::Here());
// The mean, over the classes that came up, of (both) / (predicted or labelled).
Metric<float> MeanIouOf(const Output<int64_t>& predictions, const Output<int64_t>& labels,
                        int64_t num_classes, const MetricOptions& options = {},
                        CallSite site = CallSite::Here());

// ---- of two classes: predictions from 0 to 1, labels 0 or 1, of the same shape ----

struct BinaryMetricOptions {
  std::string_view name = {};
  Output<float> weights = {};
  float threshold = 0.5f;  // what is above counts as 1
};
Metric<float> BinaryAccuracyOf(const Output<float>& predictions, const Output<float>& labels,
                               const BinaryMetricOptions& options = {},
                               CallSite site = CallSite::Here());
// True positives by all that were predicted positive.
Metric<float> PrecisionOf(const Output<float>& predictions, const Output<float>& labels,
                          const BinaryMetricOptions& options = {},
                          CallSite site = CallSite::Here());
// True positives by all that are positive.
Metric<float> RecallOf(const Output<float>& predictions, const Output<float>& labels,
                       const BinaryMetricOptions& options = {}, CallSite site = CallSite::Here());
// The harmonic mean of precision and recall.
Metric<float> F1Of(const Output<float>& predictions, const Output<float>& labels,
                   const BinaryMetricOptions& options = {}, CallSite site = CallSite::Here());

struct AucOptions {
  std::string_view name = {};
  Output<float> weights = {};
  int num_thresholds = 200;  // where the curve is sampled
};
// The area under the curve of true over false positive rates, by trapezoids.
Metric<float> AucOf(const Output<float>& predictions, const Output<float>& labels,
                    const AucOptions& options = {}, CallSite site = CallSite::Here());

}  // namespace penstock
