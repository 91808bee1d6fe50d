// Learns vectors of words from the words around them (skip-gram), by noise-contrastive estimation:
// words that mean the same come to lie beside each other. Expected of the language that is made
// when no text is given: of nine words in ten the nearest one is of the same group.
#include <cstdio>

#include "examples/shared/language.h"
#include "examples/shared/options.h"
#include "penstock/penstock.h"
#include "penstock/train/zoo/skip_gram.h"

using namespace penstock;

namespace {

// Each word with the one before it and the one after it.
DatasetOf<int32_t, int32_t> Pairs(const std::vector<int32_t>& words) {
  std::vector<int32_t> centres, contexts;
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    for (const size_t j : {i - 1, i + 1}) {
      centres.push_back(words[i]);
      contexts.push_back(words[j]);
    }
  }
  return FromArrays(Array<int32_t>(centres), Array<int32_t>(contexts));
}

// For how many of the first words the nearest other one is of the same group.
double ShareOfNeighbours(Session& session, const Output<int32_t>& words,
                         const Output<float>& similarity, int64_t count, int64_t group) {
  std::vector<int32_t> all(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) all[static_cast<size_t>(i)] = static_cast<int32_t>(i);
  const auto cosines = session.Run({{words, all}}, similarity);
  int64_t hits = 0;
  for (int64_t i = 0; i < count; ++i) {
    int64_t nearest = i == 0 ? 1 : 0;
    for (int64_t j = 0; j < cosines.shape().dim(1); ++j) {
      if (j != i && cosines(i, j) > cosines(i, nearest)) nearest = j;
    }
    hits += nearest / group == i / group;
  }
  return static_cast<double>(hits) / static_cast<double>(count);
}

int Run(const examples::Options& options) {
  const examples::Language language = examples::LanguageOf(options.data);
  Graph g;
  const auto words = Placeholder<int32_t>(g, {-1}, "words");
  const auto around = Placeholder<int32_t>(g, {-1}, "around");
  const zoo::SkipGram model({.vocabulary = language.vocabulary, .units = 32});
  const auto vectors = model.Embed(words);
  const auto [weights, biases] = model.head().VariablesIn(g);
  const auto loss = NceLoss(weights, biases, Cast<int64_t>(around), vectors,
                            {.sampling = {.sampler = Sampler::kUniform, .num_sampled = 64}});
  const auto similarity = model.Similarity(words);
  const auto step = Adam{.rate = options.rate}.Minimize(loss);

  Session session(g);
  session.Run(InitVariables(g));
  Trainer trainer(session, loss, step, {.max_steps = options.steps, .epochs = options.epochs});
  trainer.Use(Progress{});
  trainer.Run(FeedsOf(Pairs(language.train).Shuffle(1).Batch(options.batch), words, around));

  if (language.group == 0) return 0;
  const double share = ShareOfNeighbours(session, words, similarity, 200, language.group);
  std::printf("of %.0f %% of the words the nearest one means the same\n", 100 * share);
  return options.steps > 0 || share >= 0.9 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* about = "Trains vectors of words by skip-gram; --data names a text file.";
  return examples::RunMain(
      Run, examples::ParseOptions(argc, argv, about, {.epochs = 10, .batch = 256, .rate = 1e-2}));
}
