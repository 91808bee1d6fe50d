// Learns which word comes next: an LSTM whose classes are the words of the language, trained twice,
// by a full softmax and by a sampled one, which computes the scores of a few classes only.
// Expected of the language that is made when no text is given: a perplexity below 130 by either
// (100 is the least there can be).
#include "penstock/train/zoo/lstm_lm.h"

#include <chrono>
#include <cmath>
#include <cstdio>

#include "examples/shared/language.h"
#include "examples/shared/options.h"
#include "penstock/penstock.h"

using namespace penstock;

namespace {

constexpr int64_t kTime = 20;

// Perplexity on the held-out words, after training.
double Train(const examples::Language& language, bool sampled, const examples::Options& options) {
  Graph g;
  const auto words = Placeholder<int32_t>(g, {-1, kTime}, "words");
  const auto next = Placeholder<int32_t>(g, {-1, kTime}, "next");
  const auto labels = Reshape(next, {-1});
  const zoo::LstmLm model({.vocabulary = language.vocabulary, .units = 128});
  const auto hidden = model.Hidden(words, nn::Mode::kTrain).rows;
  const auto exact = SparseSoftmaxCrossEntropy(model.head()(hidden), labels);
  auto loss = exact;
  if (sampled) {
    const auto [weights, biases] = model.head().VariablesIn(g);
    loss = SampledSoftmaxLoss(weights, biases, Cast<int64_t>(labels), hidden,
                              {.sampling = {.sampler = Sampler::kUniform, .num_sampled = 128}});
  }
  const auto step = Adam{.rate = options.rate}.Minimize(loss, {.clip = Clip::ByGlobalNorm(5)});

  Session session(g);
  session.Run(InitVariables(g));
  Trainer trainer(session, loss, step, {.max_steps = options.steps, .epochs = options.epochs});
  trainer.Use(Progress{});
  const auto begin = std::chrono::steady_clock::now();
  const auto windows = TokenWindows(language.train, kTime).Shuffle(1);
  const auto end =
      trainer.Run(FeedsOf(windows.Batch(options.batch, {.drop_remainder = true}), words, next));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;

  double sum = 0;
  int64_t batches = 0;
  for (auto [x, y] : TokenWindows(language.held_out, kTime).Batch(64, {.drop_remainder = true})) {
    sum += static_cast<float>(session.Run({{words, x}, {next, y}}, exact));
    ++batches;
  }
  const double perplexity = batches == 0 ? 0 : std::exp(sum / static_cast<double>(batches));
  std::printf("%s softmax: %lld steps, %.0f words a second, perplexity %.1f\n",
              sampled ? "sampled" : "full", static_cast<long long>(end.step),
              static_cast<double>(end.step * options.batch * kTime) / seconds.count(), perplexity);
  return perplexity;
}

int Run(const examples::Options& options) {
  const examples::Language language = examples::LanguageOf(options.data);
  const double full = Train(language, false, options);
  const double sampled = Train(language, true, options);
  if (options.steps > 0 || language.group == 0) return 0;
  return full < 130 && sampled < 130 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* about =
      "Trains an LSTM language model by a full and by a sampled softmax; --data names a text file.";
  return examples::RunMain(
      Run, examples::ParseOptions(argc, argv, about, {.epochs = 4, .batch = 32, .rate = 4e-3}));
}
