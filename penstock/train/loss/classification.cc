#include "penstock/train/loss/classification.h"

#include "penstock/train/loss/loss_builder.h"

namespace penstock {

using namespace loss_internal;

namespace {

void CheckSmoothing(const LossBuilder& build, float smoothing) {
  if (smoothing >= 0 && smoothing <= 1) return;
  build.Fail(
      InvalidArgument("{}: label_smoothing must be from 0 to 1, got {}", build.name(), smoothing));
}

// The losses of rows, in the shape that the rows have in `logits`.
Expr ShapedLike(const Expr& rows, const Expr& logits) {
  if (!rows.valid() || logits.shape().rank() == 2) return rows;
  const Scope& scope = rows.scope();
  std::vector<int64_t> outer;
  for (int i = 0; i + 1 < logits.shape().rank(); ++i) outer.push_back(logits.shape().dim(i));
  const Expr shape = Op("Slice", Op("Shape", logits), IntVector(scope, {0}),
                        IntVector(scope, {static_cast<int32_t>(outer.size())}));
  const Expr shaped = Op("Reshape", rows, shape);
  if (shaped.valid()) scope.graph().node(shaped.ref().node).outputs[0].shape = Shape(outer);
  return shaped;
}

Expr ClassCount(const Expr& matrix) {
  const int64_t classes = matrix.shape().dim(1);
  if (classes >= 0) return matrix.scope().Like(matrix, static_cast<double>(classes));
  const Scope& scope = matrix.scope();
  const Expr last = Op("Slice", Op("Shape", matrix), IntVector(scope, {1}), IntVector(scope, {1}));
  return CastTo(Op("Reshape", last, IntVector(scope, {})), matrix.dtype());
}

Output<float> SparseCrossEntropy(const Output<float>& logits, Expr labels, const LossBuilder& build,
                                 const SparseCrossEntropyOptions& options) {
  CheckSmoothing(build, options.label_smoothing);
  const Expr scores = build(logits);
  build.CheckRank(scores, 1);
  LossOptions reduce{options.weights, options.reduction};
  if (options.ignored_label) {
    const Expr ignored = labels.scope().Like(labels, static_cast<double>(*options.ignored_label));
    const Expr counts = Op("NotEqual", labels, ignored);
    labels = Op("SelectV2", counts, labels, Op("ZerosLike", labels));
    Expr weights = CastTo(counts, DType::kFloat);
    if (options.weights.ref().node != kNoNode) weights = weights * build(options.weights);
    reduce.weights = build.Result(weights);
  }
  const Expr matrix = AsMatrix(scores);
  Expr losses = Op("SparseSoftmaxCrossEntropyWithLogits", matrix, AsVector(labels));
  if (options.label_smoothing > 0) {
    // The loss is linear in the labels: a part for the class, a part for all classes alike.
    const double share = options.label_smoothing;
    const Expr to_all = -MeanOver(Op("LogSoftmax", matrix), {1});
    losses = losses * (1 - share) + to_all * share;
  }
  return build.Reduce(ShapedLike(losses, scores), reduce);
}

template <class Options, class Formula>
Output<float> OfElements(std::string_view name, const Output<float>& logits,
                         const Output<float>& labels, const Options& options, CallSite site,
                         Formula formula) {
  const LossBuilder build(logits.graph(), name, site);
  const Expr x = build(logits), z = build(labels);
  build.CheckSameShape(x, z);
  return build.Reduce(formula(x, z), options);
}

Expr HingeOf(const Expr& logits, const Expr& labels) {
  const Expr sign = labels * 2.0 - 1.0;
  return Op("Relu", 1.0 - sign * logits);
}

// log(1 + e^x) - x z: softplus does not overflow, and its slope is the sigmoid everywhere.
Expr SigmoidEntropy(const Expr& x, const Expr& z) { return Op("Softplus", x) - x * z; }

}  // namespace

Output<float> SoftmaxCrossEntropy(const Output<float>& logits, const Output<float>& labels,
                                  const CrossEntropyOptions& options, CallSite site) {
  const LossBuilder build(logits.graph(), "softmax_cross_entropy", site);
  const Expr scores = build(logits);
  Expr targets = build(labels);
  build.CheckRank(scores, 1);
  build.CheckSameShape(scores, targets);
  CheckSmoothing(build, options.label_smoothing);
  const Expr matrix = AsMatrix(scores);
  targets = AsMatrix(targets);
  if (options.label_smoothing > 0) {
    const double share = options.label_smoothing;
    targets = targets * (1 - share) + share / ClassCount(matrix);
  }
  const Expr losses = Op("SoftmaxCrossEntropyWithLogits", matrix, targets);
  return build.Reduce(ShapedLike(losses, scores), options);
}

Output<float> SparseSoftmaxCrossEntropy(const Output<float>& logits, const Output<int32_t>& labels,
                                        const SparseCrossEntropyOptions& options, CallSite site) {
  const LossBuilder build(logits.graph(), "sparse_softmax_cross_entropy", site);
  return SparseCrossEntropy(logits, build(labels), build, options);
}

Output<float> SparseSoftmaxCrossEntropy(const Output<float>& logits, const Output<int64_t>& labels,
                                        const SparseCrossEntropyOptions& options, CallSite site) {
  const LossBuilder build(logits.graph(), "sparse_softmax_cross_entropy", site);
  return SparseCrossEntropy(logits, build(labels), build, options);
}

Output<float> SigmoidCrossEntropy(const Output<float>& logits, const Output<float>& labels,
                                  const SigmoidCrossEntropyOptions& options, CallSite site) {
  const LossBuilder build(logits.graph(), "sigmoid_cross_entropy", site);
  CheckSmoothing(build, options.label_smoothing);
  const Expr x = build(logits);
  Expr z = build(labels);
  build.CheckSameShape(x, z);
  if (options.label_smoothing > 0)
    z = z * (1.0 - options.label_smoothing) + 0.5 * options.label_smoothing;
  if (options.positive_weight == 1) return build.Reduce(SigmoidEntropy(x, z), options);
  const Expr weight = 1.0 + z * (options.positive_weight - 1.0);
  return build.Reduce((1.0 - z) * x + weight * Op("Softplus", -x), options);
}

Output<float> SigmoidFocalCrossEntropy(const Output<float>& logits, const Output<float>& labels,
                                       const FocalOptions& options, CallSite site) {
  const double gamma = options.gamma, alpha = options.alpha;
  return OfElements("sigmoid_focal_cross_entropy", logits, labels, options, site,
                    [&](const Expr& x, const Expr& z) {
                      const Expr p = Op("Sigmoid", x);
                      const Expr missed = z + p - 2.0 * (z * p);  // 1 - probability of the label
                      const Expr weight = alpha * z + (1 - alpha) * (1.0 - z);
                      return weight * Op("Pow", missed, x.scope().Like(x, gamma)) *
                             SigmoidEntropy(x, z);
                    });
}

Output<float> HingeLoss(const Output<float>& logits, const Output<float>& labels,
                        const LossOptions& options, CallSite site) {
  return OfElements("hinge_loss", logits, labels, options, site, HingeOf);
}

Output<float> SquaredHingeLoss(const Output<float>& logits, const Output<float>& labels,
                               const LossOptions& options, CallSite site) {
  return OfElements("squared_hinge_loss", logits, labels, options, site,
                    [](const Expr& x, const Expr& z) { return Op("Square", HingeOf(x, z)); });
}

Output<float> CategoricalHingeLoss(const Output<float>& logits, const Output<float>& labels,
                                   const LossOptions& options, CallSite site) {
  return OfElements("categorical_hinge_loss", logits, labels, options, site,
                    [](const Expr& x, const Expr& z) {
                      const Expr own = SumOver(x * z, {-1});
                      const Expr others = Op("Max", (1.0 - z) * x, IntVector(x.scope(), {-1}));
                      return Op("Relu", others - own + 1.0);
                    });
}

Output<float> KlDivergence(const Output<float>& predictions, const Output<float>& targets,
                           const LossOptions& options, CallSite site) {
  return OfElements("kl_divergence", predictions, targets, options, site,
                    [](const Expr& p, const Expr& t) {
                      const auto inside = [](const Expr& x) {
                        return Op("Minimum", AtLeast(x, 1e-7), x.scope().Like(x, 1));
                      };
                      const Expr q = inside(t);
                      return SumOver(q * Op("Log", q / inside(p)), {-1});
                    });
}

Output<float> CtcLoss(const Output<float>& logits, const Output<int32_t>& labels,
                      const Output<int32_t>& logit_lengths, const Output<int32_t>& label_lengths,
                      const CtcOptions& options, CallSite site) {
  const LossBuilder build(logits.graph(), "ctc_loss", site);
  const Scope& scope = build.scope();
  const Expr dense = build(labels);
  build.CheckRank(dense, 2);
  // The places of the labels that count, as a sparse matrix.
  const Expr longest =
      Op("Reshape", Op("Slice", Op("Shape", dense), IntVector(scope, {1}), IntVector(scope, {1})),
         IntVector(scope, {}));
  const Expr places = scope.Add("Range", {IntScalar(scope, 0), longest, IntScalar(scope, 1)});
  const Expr counts =
      Op("Less", places, Op("ExpandDims", build(label_lengths), IntScalar(scope, 1)));
  const Expr indices = Op("Where", counts);
  const Expr losses = scope.Add(
      "CTCLoss", {build(logits), indices, Op("GatherNd", dense, indices), build(logit_lengths)},
      {{"ignore_longer_outputs_than_inputs", options.ignore_too_long}});
  return build.Reduce(losses, options);
}

}  // namespace penstock
