// Training steps of the language model of the peers' scripts: 40,000 words, an LSTM of 512 units,
// batch 32, 20 steps, all logits or a sample of them.
#include <random>

#include "bench/train_net.h"
#include "penstock/client/array.h"

namespace penstock::bench {
namespace {

// V words, H units, B sequences, T steps.
constexpr int64_t V = 40'000, H = 512, B = 32, T = 20;

Expr Words(const TrainNet& n) {
  std::mt19937 random(0);
  std::vector<int64_t> words(static_cast<size_t>(T * B));
  for (int64_t& word : words) word = static_cast<int64_t>(random() % V);
  return n.Integers(words, DType::kInt64);
}

Expr Gather(const TrainNet& n, Expr params, Expr indices) {
  return n.scope().Add("GatherV2", {params, indices, n.Integer(0)});
}

std::vector<Expr> Split(const TrainNet& n, Expr x, int64_t parts, int64_t axis) {
  const Expr first = n.scope().Add("Split", {n.Integer(axis), x}, {{"num_split", parts}});
  std::vector<Expr> out;
  for (int i = 0; i < parts; ++i) out.push_back(first.Output(i));
  return out;
}

Expr Concat(const TrainNet& n, std::vector<Expr> values, int64_t axis) {
  const auto count = static_cast<int64_t>(values.size());
  values.push_back(n.Integer(axis));
  return n.scope().Add("ConcatV2", values, {{"N", count}});
}

// The outputs of all steps, [T * B, H]. What the inputs add to the gates is one product.
Expr Lstm(TrainNet& n, Expr inputs) {
  const float deviation = 0.03f;
  const Expr input_weights = n.Parameter("w_x", {H, 4 * H}, deviation).value;
  const Expr weights = n.Parameter("w_h", {H, 4 * H}, deviation).value;
  const Expr bias = n.Parameter("b", {4 * H}, 0).value;
  const std::vector<Expr> from_input =
      Split(n, Op("BiasAdd", Op("MatMul", inputs, input_weights), bias), T, 0);
  Expr h, c;
  std::vector<Expr> outputs;
  for (const Expr& x : from_input) {
    const std::vector<Expr> gates =
        Split(n, h.valid() ? Op("AddV2", Op("MatMul", h, weights), x) : x, 4, 1);
    const Expr in = Op("Sigmoid", gates[0]) * Op("Tanh", gates[1]);
    c = c.valid() ? c * Op("Sigmoid", gates[2] + 1.0) + in : in;
    h = Op("Tanh", c) * Op("Sigmoid", gates[3]);
    outputs.push_back(h);
  }
  return Concat(n, outputs, 0);
}

// Softmax over the right class and `samples` others, with logits corrected for how likely each was
// to be drawn.
Expr SampledLoss(TrainNet& n, Expr outputs, Expr targets, Expr weights, Expr biases,
                 int64_t samples) {
  const Scope& s = n.scope();
  const Expr labels = Op("Reshape", targets, n.Integers({T * B, 1}));
  const Expr drawn = s.Add(
      "LogUniformCandidateSampler", {labels},
      {{"num_true", 1}, {"num_sampled", samples}, {"unique", true}, {"range_max", V}, {"seed", 1}});
  const Expr ids = Concat(n, {targets, drawn}, 0);
  const Expr rows = Gather(n, weights, ids), row_biases = Gather(n, biases, ids);
  auto part = [&](Expr x, int64_t begin, int64_t size) {
    std::vector<int64_t> begins(static_cast<size_t>(x.shape().rank()), 0), sizes(begins.size(), -1);
    begins[0] = begin;
    sizes[0] = size;
    return Op("Slice", x, n.Integers(begins), n.Integers(sizes));
  };
  const Expr right =
      Op("Sum", outputs * part(rows, 0, T * B), n.Integers({1})) + part(row_biases, 0, T * B);
  const Expr right_logits =
      Op("Reshape", right, n.Integers({T * B, 1})) - Op("Log", drawn.Output(1));
  Expr logits = Op("MatMul", outputs, part(rows, T * B, samples), {{"transpose_b", true}}) +
                part(row_biases, T * B, samples) - Op("Log", drawn.Output(2));
  // A right class that was drawn counts as no wrong one.
  const Expr hits = s.Add("ComputeAccidentalHits", {labels, drawn}, {{"num_true", 1}});
  const Expr rows_hit = Op("Cast", hits, {{"DstT", DType::kInt64}});
  const Expr places = s.Add("Pack", {rows_hit, hits.Output(1)}, {{"N", 2}, {"axis", 1}});
  const Expr shape = n.Integers({T * B, samples}, DType::kInt64);
  const Expr zero = s.Constant(Array<float>(0.f).tensor());
  logits = logits + s.Add("SparseToDense", {places, shape, hits.Output(2), zero});
  const Expr labels_at = n.Labels(T * B, 1);
  return n.MeanLoss(Concat(n, {right_logits, logits}, 1), labels_at);
}

Figure TrainLstm(int64_t samples, const Options& options) {
  TrainNet n;
  const Expr words = Words(n);
  const Expr embedding = n.Parameter("embedding", {V, H}, 0.03f).value;
  const Expr outputs = Lstm(n, Gather(n, embedding, words));
  const Expr weights = n.Parameter("softmax/weights", {V, H}, 0.03f).value;
  const Expr biases = n.Parameter("softmax/biases", {V}, 0).value;
  Expr loss;
  if (samples > 0) {
    loss = SampledLoss(n, outputs, words, weights, biases, samples);
  } else {
    const Expr product = Op("MatMul", outputs, weights, {{"transpose_b", true}});
    loss = n.MeanLoss(Op("BiasAdd", product, biases), words);
  }
  const Operation step = n.Train(loss, 0.1f);
  return {T * B / StepMs(n, step, options, 5) * 1e3, "words/s"};
}

}  // namespace

void AddTrainLstmCases(std::vector<Case>& cases) {
  cases.push_back({"lstm_lm", "a training step of an LSTM language model, full softmax",
                   [](const Options& options) { return TrainLstm(0, options); }});
  cases.push_back({"lstm_lm_sampled", "the same with a softmax over 512 sampled words",
                   [](const Options& options) { return TrainLstm(512, options); }});
}

}  // namespace penstock::bench
