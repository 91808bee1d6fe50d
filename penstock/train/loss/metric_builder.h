#pragma once

#include <vector>

#include "penstock/train/loss/loss_builder.h"
#include "penstock/train/loss/metric.h"

// For the sources of this folder: the state of metrics.

namespace penstock::loss_internal {

// Makes the variables, updates and value of one metric.
class MetricBuilder {
 public:
  // `name` is taken unless the options have one.
  template <class Options>
  MetricBuilder(Graph& graph, std::string_view name, const Options& options, CallSite site)
      : build_(graph, options.name.empty() ? name : options.name, site),
        weights_(options.weights) {}

  const LossBuilder& build() const { return build_; }
  const Scope& scope() const { return build_.scope(); }
  template <class T>
  Expr operator()(const Output<T>& output) const {
    return build_(output);
  }

  // A variable that begins as zeros and to which each update adds `amount`, of the same type and
  // shape; returns what it holds.
  Expr Accumulate(std::string_view name, const Expr& amount);
  // The sum of `values`, each times its weight, as a number of double precision.
  Expr WeightedSum(const Expr& values) const;
  // The running weighted mean of `values`.
  Expr RunningMean(const Expr& values);

  template <class T>
  Metric<T> Finish(const Expr& value) {
    const Output<T> output = build_.Result<T>(value);
    return {output, Grouped("update", updates_), Grouped("reset", resets_)};
  }

 private:
  Operation Grouped(std::string_view name, const std::vector<NodeId>& nodes) const;

  const LossBuilder build_;
  const Output<float> weights_;
  std::vector<NodeId> updates_, resets_;
};

}  // namespace penstock::loss_internal
