#pragma once

#include <string_view>
#include <vector>

#include "penstock/client/build_scope.h"
#include "penstock/client/error.h"
#include "penstock/client/output.h"
#include "penstock/graph/scope.h"
#include "penstock/train/loss/reduction.h"

// For the sources of this folder: what losses and metrics are written with.

namespace penstock::loss_internal {

// Where the nodes of one loss go. What went wrong on the way is thrown when the result is taken.
class LossBuilder {
 public:
  LossBuilder(Graph& graph, std::string_view name, CallSite site)
      : scope_(BuildScope::Current(graph, site).Sub(name)), name_(name), site_(site) {}
  LossBuilder(const LossBuilder&) = delete;
  LossBuilder& operator=(const LossBuilder&) = delete;

  const Scope& scope() const { return scope_; }
  CallSite site() const { return site_; }
  template <class T>
  Expr operator()(const Output<T>& output) const {
    return Expr(&scope_, output.ref());
  }

  // The losses with their weights, reduced, as the options of a loss say.
  template <class Options>
  Output<float> Reduce(const Expr& losses, const Options& options) const {
    return Reduce(losses, options.weights, options.reduction);
  }
  Output<float> Reduce(const Expr& losses, const Output<float>& weights, Reduction reduction) const;
  // Throws if a node could not be made.
  template <class T = float>
  Output<T> Result(const Expr& expr) const {
    OrThrow(scope_.status(), site_);
    return Output<T>(scope_.graph(), expr.ref());
  }
  // Throws unless the two may have the same shape: broadcasting one of them would compute something
  // that nobody means.
  void CheckSameShape(const Expr& a, const Expr& b) const;
  // Throws unless the rank is known and at least `least`.
  void CheckRank(const Expr& x, int least) const;
  [[noreturn]] void Fail(const Status& status) const { throw Error(status, site_); }
  std::string_view name() const { return name_; }

 private:
  Expr Weighted(const Expr& losses, const Expr& weights) const;

  const Scope scope_;
  const std::string_view name_;
  const CallSite site_;
};

// Small words for expressions. Axes may be negative.
Expr IntVector(const Scope& scope, const std::vector<int32_t>& values);
Expr IntScalar(const Scope& scope, int32_t value);
Expr SumOver(const Expr& x, const std::vector<int32_t>& axes, bool keep_dims = false);
Expr MeanOver(const Expr& x, const std::vector<int32_t>& axes, bool keep_dims = false);
Expr SumOfAll(const Expr& x);
Expr CastTo(const Expr& x, DType dtype);
// The number of elements, in the type of x.
Expr CountOf(const Expr& x);
// a / b, or 0 where b is 0.
Expr SafeRatio(const Expr& a, const Expr& b);
Expr AtLeast(const Expr& x, double least);
// x along the last axis scaled to length 1.
Expr Normalized(const Expr& x);
// [..., C] as [n, C], and [...] as [n].
Expr AsMatrix(const Expr& x);
Expr AsVector(const Expr& x);

}  // namespace penstock::loss_internal
