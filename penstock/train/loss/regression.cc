#include "penstock/train/loss/regression.h"

#include <numbers>

#include "penstock/train/loss/loss_builder.h"

namespace penstock {

using namespace loss_internal;

namespace {

// Keras keeps logarithms and quotients finite by this much.
constexpr double kEpsilon = 1e-7;

// A loss of each element: `formula` of predictions and targets.
template <class Options, class Formula>
Output<float> OfElements(std::string_view name, const Output<float>& predictions,
                         const Output<float>& targets, const Options& options, CallSite site,
                         Formula formula) {
  const LossBuilder build(predictions.graph(), name, site);
  const Expr p = build(predictions), t = build(targets);
  build.CheckSameShape(p, t);
  return build.Reduce(formula(p, t), options);
}

Expr SquaredDistance(const Expr& a, const Expr& b) {
  return SumOver(Op("SquaredDifference", a, b), {-1});
}

}  // namespace

Output<float> MeanSquaredError(const Output<float>& predictions, const Output<float>& targets,
                               const LossOptions& options, CallSite site) {
  return OfElements("mean_squared_error", predictions, targets, options, site,
                    [](const Expr& p, const Expr& t) { return Op("SquaredDifference", p, t); });
}

Output<float> MeanAbsoluteError(const Output<float>& predictions, const Output<float>& targets,
                                const LossOptions& options, CallSite site) {
  return OfElements("mean_absolute_error", predictions, targets, options, site,
                    [](const Expr& p, const Expr& t) { return Op("Abs", p - t); });
}

Output<float> MeanAbsolutePercentageError(const Output<float>& predictions,
                                          const Output<float>& targets, const LossOptions& options,
                                          CallSite site) {
  return OfElements("mean_absolute_percentage_error", predictions, targets, options, site,
                    [](const Expr& p, const Expr& t) {
                      return Op("Abs", (p - t) / AtLeast(Op("Abs", t), kEpsilon)) * 100;
                    });
}

Output<float> MeanSquaredLogarithmicError(const Output<float>& predictions,
                                          const Output<float>& targets, const LossOptions& options,
                                          CallSite site) {
  return OfElements("mean_squared_logarithmic_error", predictions, targets, options, site,
                    [](const Expr& p, const Expr& t) {
                      return Op("SquaredDifference", Op("Log1p", AtLeast(p, kEpsilon)),
                                Op("Log1p", AtLeast(t, kEpsilon)));
                    });
}

Output<float> HuberLoss(const Output<float>& predictions, const Output<float>& targets,
                        const HuberOptions& options, CallSite site) {
  if (!(options.delta > 0))
    throw Error(InvalidArgument("HuberLoss: delta must be positive, got {}", options.delta), site);
  const double delta = options.delta;
  return OfElements("huber_loss", predictions, targets, options, site,
                    [delta](const Expr& p, const Expr& t) {
                      const Expr error = Op("Abs", p - t);
                      // error = inner + outer, where the loss is a parabola in the one and a line
                      // in the other.
                      const Expr inner = Op("Minimum", error, p.scope().Like(p, delta));
                      return 0.5 * (inner * inner) + delta * (error - inner);
                    });
}

Output<float> LogCoshLoss(const Output<float>& predictions, const Output<float>& targets,
                          const LossOptions& options, CallSite site) {
  return OfElements("log_cosh", predictions, targets, options, site,
                    [](const Expr& p, const Expr& t) {
                      // log((e^x + e^-x) / 2), in a form that does not overflow.
                      const Expr x = p - t;
                      return x + Op("Softplus", x * -2.0) - std::numbers::ln2;
                    });
}

Output<float> PoissonLoss(const Output<float>& predictions, const Output<float>& targets,
                          const LossOptions& options, CallSite site) {
  return OfElements("poisson", predictions, targets, options, site,
                    [](const Expr& p, const Expr& t) { return p - t * Op("Log", p + kEpsilon); });
}

Output<float> LogPoissonLoss(const Output<float>& log_predictions, const Output<float>& targets,
                             const LossOptions& options, CallSite site) {
  return OfElements("log_poisson", log_predictions, targets, options, site,
                    [](const Expr& l, const Expr& t) { return Op("Exp", l) - t * l; });
}

Output<float> CosineDistance(const Output<float>& predictions, const Output<float>& targets,
                             const LossOptions& options, CallSite site) {
  return OfElements("cosine_distance", predictions, targets, options, site,
                    [](const Expr& p, const Expr& t) {
                      return 1.0 - SumOver(Normalized(p) * Normalized(t), {-1});
                    });
}

Output<float> ContrastiveLoss(const Output<float>& a, const Output<float>& b,
                              const Output<float>& labels, const MarginOptions& options,
                              CallSite site) {
  const LossBuilder build(a.graph(), "contrastive_loss", site);
  const Expr x = build(a), y = build(b), same = build(labels);
  build.CheckSameShape(x, y);
  const Expr squared = SquaredDistance(x, y);
  build.CheckSameShape(squared, same);
  // The root has no slope at 0.
  const Expr distance = Op("Sqrt", AtLeast(squared, 1e-12));
  const Expr gap = AtLeast(static_cast<double>(options.margin) - distance, 0);
  return build.Reduce(same * squared + (1.0 - same) * Op("Square", gap), options);
}

Output<float> TripletLoss(const Output<float>& anchor, const Output<float>& positive,
                          const Output<float>& negative, const MarginOptions& options,
                          CallSite site) {
  const LossBuilder build(anchor.graph(), "triplet_loss", site);
  const Expr a = build(anchor), p = build(positive), n = build(negative);
  build.CheckSameShape(a, p);
  build.CheckSameShape(a, n);
  const Expr gap = SquaredDistance(a, p) - SquaredDistance(a, n) + options.margin;
  return build.Reduce(AtLeast(gap, 0), options);
}

}  // namespace penstock
