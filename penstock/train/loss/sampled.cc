#include "penstock/train/loss/sampled.h"

#include "penstock/train/loss/loss_builder.h"

// B rows, T true classes a row, S drawn classes, D depth.

namespace penstock {

using namespace loss_internal;

namespace {

std::string_view OpOf(Sampler sampler) {
  switch (sampler) {
    case Sampler::kUniform:
      return "UniformCandidateSampler";
    case Sampler::kLearnedUnigram:
      return "LearnedUnigramCandidateSampler";
    default:
      return "LogUniformCandidateSampler";
  }
}

// Logits of what a row is compared with, and their labels.
struct SampledLogits {
  Expr logits;  // [B, T + S]
  Expr labels;  // [B, T + S]: each row sums to 1
};

class SampledLogitsBuilder {
 public:
  SampledLogitsBuilder(const LossBuilder& build, const SampledLossOptions& options)
      : build_(build), options_(options) {}

  SampledLogits Build(const Output<float>& weights, const Output<float>& biases,
                      const Output<int64_t>& labels, const Output<float>& inputs,
                      bool remove_hits) {
    CheckShapes(build_(weights), build_(biases), build_(inputs));
    // Broken nodes below are reported when the result is taken; those that are asked for their
    // shape are checked here.
    labels_ = TwoAxes(build_(labels));
    inputs_ = build_(inputs);
    const Candidates drawn = Draw(build_(weights).shape().dim(0));
    ids_ = build_(drawn.ids);
    const Expr both = Joined(AsVector(labels_), ids_, 0);
    LookUp(build_(weights), build_(biases), both);
    Expr truth = TrueLogits();
    Expr noise = Op("MatMul", inputs_, noise_rows_, {{"transpose_b", true}}) + noise_biases_;
    if (remove_hits) noise = noise + AccidentalHits(noise);
    if (options_.subtract_log_q) {
      truth = truth - Op("Log", build_(drawn.expected_of_labels));
      noise = noise - Op("Log", build_(drawn.expected_of_ids));
    }
    const Expr truth_labels = Op("OnesLike", truth) / static_cast<double>(num_true_);
    return {Joined(truth, noise, 1), Joined(truth_labels, Op("ZerosLike", noise), 1)};
  }

 private:
  void CheckShapes(const Expr& weights, const Expr& biases, const Expr& inputs) const {
    const Shape &w = weights.shape(), &b = biases.shape(), &x = inputs.shape();
    const bool fits = w.has_rank() && w.rank() == 2 && w.dim(0) > 0 && b.has_rank() &&
                      b.rank() == 1 && b.dim(0) == w.dim(0) && x.has_rank() && x.rank() == 2;
    if (fits) return;
    build_.Fail(InvalidArgument(
        "{}: expected weights [classes, depth], biases [classes] and inputs [batch, depth] with a "
        "known number of classes, got {}, {} and {}",
        build_.name(), w, b, x));
  }

  // [B] as [B, 1].
  Expr TwoAxes(Expr labels) {
    build_.CheckRank(labels, 1);
    if (labels.shape().rank() == 1) labels = Op("ExpandDims", labels, IntScalar(build_.scope(), 1));
    OrThrow(build_.scope().status(), build_.site());
    if (labels.shape().rank() != 2 || labels.shape().dim(1) <= 0) {
      build_.Fail(InvalidArgument(
          "{}: expected labels [batch, true classes] with a known number of these, got {}",
          build_.name(), labels.shape()));
    }
    num_true_ = labels.shape().dim(1);
    return labels;
  }

  Candidates Draw(int64_t num_classes) const {
    if (options_.candidates) return *options_.candidates;
    return SampleCandidates(build_.Result<int64_t>(labels_), num_classes, options_.sampling,
                            build_.site());
  }

  Expr Joined(const Expr& a, const Expr& b, int32_t axis) const {
    return build_.scope().Add("ConcatV2", {a, b, IntScalar(build_.scope(), axis)});
  }

  // The rows and biases of the true classes, then those of the drawn ones. One lookup, so that the
  // table has one gradient.
  void LookUp(const Expr& weights, const Expr& biases, const Expr& ids) {
    const Scope& scope = build_.scope();
    const Expr axis = IntScalar(scope, 0);
    const Expr rows = Op("GatherV2", weights, ids, axis);
    const Expr values = Op("GatherV2", biases, ids, axis);
    const Expr count = Op("Reshape", Op("Size", labels_), IntVector(scope, {1}));
    const Expr none = IntVector(scope, {0});
    const Expr count_and_zero = Joined(count, none, 0);
    true_rows_ =
        Op("Slice", rows, IntVector(scope, {0, 0}), Joined(count, IntVector(scope, {-1}), 0));
    noise_rows_ = Op("Slice", rows, count_and_zero, IntVector(scope, {-1, -1}));
    true_biases_ = Op("Slice", values, none, count);
    noise_biases_ = Op("Slice", values, count, IntVector(scope, {-1}));
  }

  Expr TrueLogits() const {
    const Scope& scope = build_.scope();
    const auto num_true = static_cast<int32_t>(num_true_);
    const Expr depth =
        Op("Slice", Op("Shape", inputs_), IntVector(scope, {1}), IntVector(scope, {1}));
    const Expr rows =
        Op("Reshape", true_rows_, Joined(IntVector(scope, {-1, num_true}), depth, 0));  // [B, T, D]
    const Expr dots = SumOver(Op("ExpandDims", inputs_, IntScalar(scope, 1)) * rows, {2});
    return dots + Op("Reshape", true_biases_, IntVector(scope, {-1, num_true}));
  }

  // A very negative number where a drawn class is a true one of the row, 0 elsewhere.
  Expr AccidentalHits(const Expr& noise) const {
    const Scope& scope = build_.scope();
    const Expr hits =
        scope.Add("ComputeAccidentalHits", {labels_, ids_}, {{"num_true", num_true_}});
    if (!hits.valid()) return hits;
    const Expr rows = Op("ExpandDims", hits, IntScalar(scope, 1));
    const Expr places =
        Op("ExpandDims", CastTo(hits.Output(1), DType::kInt32), IntScalar(scope, 1));
    return scope.Add(
        "SparseToDense",
        {Joined(rows, places, 1), Op("Shape", noise), hits.Output(2), scope.Like(noise, 0)},
        {{"validate_indices", false}});
  }

  const LossBuilder& build_;
  const SampledLossOptions& options_;
  Expr labels_, inputs_, ids_;
  Expr true_rows_, noise_rows_, true_biases_, noise_biases_;
  int64_t num_true_ = 1;
};

}  // namespace

Candidates SampleCandidates(const Output<int64_t>& labels, int64_t num_classes,
                            const SamplerOptions& options, CallSite site) {
  const LossBuilder build(labels.graph(), "candidates", site);
  const Expr truth = build(labels);
  build.CheckRank(truth, 2);
  const Expr drawn = build.scope().Add(OpOf(options.sampler), {truth},
                                       {{"num_true", truth.shape().dim(1)},
                                        {"num_sampled", options.num_sampled},
                                        {"unique", options.unique},
                                        {"range_max", num_classes},
                                        {"seed", options.seed}});
  const Output<int64_t> ids = build.Result<int64_t>(drawn);
  return {ids, build.Result(drawn.Output(1)), build.Result(drawn.Output(2))};
}

Output<float> SampledSoftmaxLoss(const Output<float>& weights, const Output<float>& biases,
                                 const Output<int64_t>& labels, const Output<float>& inputs,
                                 const SampledLossOptions& options, CallSite site) {
  const LossBuilder build(inputs.graph(), "sampled_softmax_loss", site);
  const SampledLogits sampled =
      SampledLogitsBuilder(build, options)
          .Build(weights, biases, labels, inputs, options.remove_accidental_hits.value_or(true));
  return build.Reduce(
      Op("SoftmaxCrossEntropyWithLogits", sampled.logits, Op("StopGradient", sampled.labels)),
      options);
}

Output<float> NceLoss(const Output<float>& weights, const Output<float>& biases,
                      const Output<int64_t>& labels, const Output<float>& inputs,
                      const SampledLossOptions& options, CallSite site) {
  const LossBuilder build(inputs.graph(), "nce_loss", site);
  const SampledLogits sampled =
      SampledLogitsBuilder(build, options)
          .Build(weights, biases, labels, inputs, options.remove_accidental_hits.value_or(false));
  const Expr& x = sampled.logits;
  return build.Reduce(SumOver(Op("Softplus", x) - x * sampled.labels, {1}), options);
}

}  // namespace penstock
