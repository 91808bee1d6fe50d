// Tells handwritten digits apart by dense layers alone. Expected: at least 97 % of the held-out
// digits after 40 epochs, in a few seconds.
#include "examples/shared/classify.h"
#include "penstock/train/zoo/digits.h"

using namespace penstock;

namespace {

int Train(const examples::Options& options) {
  Graph g;
  const nn::Layer model = zoo::DigitsMlp();
  const auto classifier = examples::MakeClassifier(g, model, {64}, Adam{.rate = options.rate});
  const double accuracy =
      examples::TrainClassifier(g, classifier, Digits::Train(), Digits::Test(), options);
  return options.steps > 0 || options.epochs < 40 || accuracy >= 0.97 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* about = "Trains dense layers on handwritten digits of 8 x 8 pixels.";
  return examples::RunMain(
      Train, examples::ParseOptions(argc, argv, about, {.epochs = 40, .batch = 32, .rate = 1e-3}));
}
