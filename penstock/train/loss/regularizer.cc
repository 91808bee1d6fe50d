#include "penstock/train/loss/regularizer.h"

#include "penstock/train/loss/loss_builder.h"
#include "penstock/train/parameters.h"

namespace penstock {

using namespace loss_internal;

Output<float> Regularizer::operator()(const Output<float>& w, CallSite site) const {
  const LossBuilder build(w.graph(), "regularizer", site);
  if (!(l1 >= 0) || !(l2 >= 0))
    build.Fail(InvalidArgument("a regularizer's factors must not be negative: {} and {}", l1, l2));
  const Expr x = build(w);
  Expr term;
  if (l1 > 0) term = l1 * SumOfAll(Op("Abs", x));
  if (l2 > 0) {
    const Expr squares = (2.0 * l2) * Op("L2Loss", x);
    term = term.valid() ? term + squares : squares;
  }
  return build.Result(term.valid() ? term : build.scope().Like(x, 0));
}

void Regularizer::Add(const Output<float>& w, CallSite site) const { AddPenalty((*this)(w, site)); }

}  // namespace penstock
