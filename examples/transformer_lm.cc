// Learns which word comes next by attention: a small Transformer. Expected of the language that is
// made when no text is given: a perplexity below 130 (100 is the least there can be).
#include "penstock/train/zoo/transformer_lm.h"

#include <cmath>
#include <cstdio>

#include "examples/shared/language.h"
#include "examples/shared/options.h"
#include "penstock/penstock.h"

using namespace penstock;

namespace {

constexpr int64_t kTime = 32;

int Run(const examples::Options& options) {
  const examples::Language language = examples::LanguageOf(options.data);
  Graph g;
  const auto words = Placeholder<int32_t>(g, {-1, kTime}, "words");
  const auto next = Placeholder<int32_t>(g, {-1, kTime}, "next");
  const nn::Sequential model = zoo::TransformerLm({.vocabulary = language.vocabulary,
                                                   .max_length = kTime,
                                                   .features = 64,
                                                   .heads = 4,
                                                   .layers = 2,
                                                   .dropout = 0.1f});
  const auto loss = SparseSoftmaxCrossEntropy(model(words, nn::Mode::kTrain), next);
  const auto exact = SparseSoftmaxCrossEntropy(model(words), next);
  const auto step = AdamW{.rate = LinearWarmup{.steps = 100, .then = options.rate}}.Minimize(
      loss, {.clip = Clip::ByGlobalNorm(1)});
  std::printf("%lld parameters\n", static_cast<long long>(nn::CountParameters(g).trainable));

  Session session(g);
  session.Run(InitVariables(g));
  Trainer trainer(session, loss, step, {.max_steps = options.steps, .epochs = options.epochs});
  trainer.Use(Progress{});
  trainer.Run(
      FeedsOf(TokenWindows(language.train, kTime).Shuffle(1).Batch(options.batch), words, next));

  double sum = 0;
  int64_t batches = 0;
  for (auto [x, y] : TokenWindows(language.held_out, kTime).Batch(64, {.drop_remainder = true})) {
    sum += static_cast<float>(session.Run({{words, x}, {next, y}}, exact));
    ++batches;
  }
  const double perplexity = batches == 0 ? 0 : std::exp(sum / static_cast<double>(batches));
  std::printf("perplexity %.1f\n", perplexity);
  return options.steps > 0 || language.group == 0 || perplexity < 130 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* about = "Trains a small Transformer on words; --data names a text file.";
  return examples::RunMain(
      Run, examples::ParseOptions(argc, argv, about, {.epochs = 5, .batch = 32, .rate = 2e-3}));
}
