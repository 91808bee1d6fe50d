// Tells handwritten digits apart: a small convolutional network on UCI's optical digits, 8 x 8
// pixels each, which are in the repository. Expected: at least 98.5 % of the held-out digits after
// 40 epochs, in under a minute.
#include <cstdio>

#include "examples/shared/classify.h"
#include "penstock/train/zoo/digits.h"

using namespace penstock;

namespace {

int Train(const examples::Options& options) {
  Graph g;
  const nn::Layer model = zoo::DigitsCnn();
  const auto train = Digits::Train();
  const int64_t steps = options.epochs * (*train.Size() / options.batch + 1);
  const auto classifier = examples::MakeClassifier(
      g, model, {64}, Adam{.rate = CosineDecay{.initial = options.rate, .decay_steps = steps}});
  std::printf("%s\n", nn::Summary(g).c_str());
  const double accuracy = examples::TrainClassifier(g, classifier, train, Digits::Test(), options);
  return options.steps > 0 || accuracy >= 0.985 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* about = "Trains a convolutional network on handwritten digits of 8 x 8 pixels.";
  return examples::RunMain(
      Train, examples::ParseOptions(argc, argv, about, {.epochs = 40, .batch = 32, .rate = 2e-3}));
}
