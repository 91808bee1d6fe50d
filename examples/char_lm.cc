// Trains a character language model on Shakespeare: an embedding, an LSTM and a dense layer, by
// Adam.
//
// The first 90 % of the text are trained on. bench/peers/char_lm.py describes and does the same in
// PyTorch. Expected after 1000 steps: a perplexity of the held-out text of about 6.2.
#include <penstock/penstock.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "examples/shared/options.h"
#include "penstock/train/data/tiny_shakespeare.h"

using namespace penstock;

namespace {

constexpr int64_t T = 64;  // characters of a window

// The same places in the text as in the PyTorch program.
class Windows {
 public:
  Windows(const std::vector<int32_t>& ids, int64_t batch, uint64_t seed)
      : ids_(ids), batch_(batch), state_(seed) {}

  TokenWindow Draw() {
    std::vector<int64_t> begins;
    for (int64_t i = 0; i < batch_; ++i) {
      state_ = state_ * 6364136223846793005u + 1442695040888963407u;
      begins.push_back(static_cast<int64_t>((state_ >> 33) % (ids_.size() - T)));
    }
    return At(ids_, begins);
  }

  static TokenWindow At(const std::vector<int32_t>& ids, const std::vector<int64_t>& begins) {
    std::vector<int32_t> inputs, targets;
    for (const int64_t begin : begins) {
      inputs.insert(inputs.end(), ids.begin() + begin, ids.begin() + begin + T);
      targets.insert(targets.end(), ids.begin() + begin + 1, ids.begin() + begin + 1 + T);
    }
    const Shape shape{static_cast<int64_t>(begins.size()), T};
    return {Array<int32_t>(shape, inputs), Array<int32_t>(shape, targets)};
  }

 private:
  const std::vector<int32_t>& ids_;
  const int64_t batch_;
  uint64_t state_;
};

// exp of the mean loss over windows one after the other.
double Perplexity(Session& session, const std::vector<int32_t>& ids, Output<int32_t> inputs,
                  Output<int32_t> targets, Output<float> loss) {
  std::vector<int64_t> begins;
  for (int64_t at = 0; at + T < static_cast<int64_t>(ids.size()); at += T) begins.push_back(at);
  constexpr size_t kBatch = 32;
  double sum = 0;
  for (size_t at = 0; at < begins.size(); at += kBatch) {
    const size_t end = std::min(begins.size(), at + kBatch);
    const TokenWindow w = Windows::At(ids, {begins.begin() + at, begins.begin() + end});
    const float mean = session.Run({{inputs, w.inputs}, {targets, w.targets}}, loss);
    sum += mean * static_cast<double>(end - at);
  }
  return std::exp(sum / static_cast<double>(begins.size()));
}

int Run(const examples::Options& options) {
  const TinyShakespeare data(options.data);
  const int64_t characters = data.vocabulary.size();
  Graph g;
  auto inputs = Placeholder<int32_t>(g, {-1, T}, "inputs");
  auto targets = Placeholder<int32_t>(g, {-1, T}, "targets");
  const uint64_t seed = options.seed;
  const nn::Embedding embedding(characters, 64, {.table = nn::Uniform(-0.05f, 0.05f, seed)});
  const nn::LSTM lstm(256, {.sequences = true,
                            .kernel = nn::GlorotUniform(seed),
                            .recurrent_kernel = nn::Orthogonal(1, seed)});
  const nn::Dense dense(characters, {}, {.kernel = nn::GlorotUniform(seed)});
  auto logits = dense(lstm(embedding(inputs)));
  auto loss = SparseSoftmaxCrossEntropy(logits, targets);
  auto step =
      Adam{.rate = options.rate, .epsilon = 1e-7}.Minimize(loss, {.clip = Clip::ByGlobalNorm(1)});

  Session session(g);
  session.Run(InitVariables(g));
  Windows windows(data.train, options.batch, seed);
  Trainer trainer(session, loss, step, {.max_steps = options.steps});
  trainer.Use(Progress{});
  trainer.Run([&](FeedList& feeds) {
    const TokenWindow w = windows.Draw();
    feeds = {Feed(inputs, w.inputs), Feed(targets, w.targets)};
    return true;
  });
  std::printf("perplexity of the held-out text after %lld steps: %.4f\n",
              static_cast<long long>(options.steps),
              Perplexity(session, data.valid, inputs, targets, loss));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* about =
      "Trains a character language model on Shakespeare; --data names a folder with input.txt or "
      "input.txt.gz.";
  return examples::RunMain(Run,
                           examples::ParseOptions(argc, argv, about,
                                                  {.steps = 1000,
                                                   .batch = 32,
                                                   .rate = 2e-3,
                                                   .data = "../shared/datasets/tinyshakespeare"}));
}
