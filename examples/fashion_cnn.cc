// Tells articles of clothing apart: a convolutional network on Fashion-MNIST. Expected: at least
// 91.5 % of the test images after 10 epochs.
#include "examples/shared/classify.h"
#include "penstock/train/zoo/digits.h"

using namespace penstock;

namespace {

int Train(const examples::Options& options) {
  Graph g;
  const FashionMnist data{options.data};
  const auto train = data.Train();
  const int64_t steps = options.epochs * (*train.Size() / options.batch + 1);
  const nn::Layer model = zoo::FashionCnn();
  const auto classifier = examples::MakeClassifier(
      g, model, {28, 28, 1},
      Adam{.rate = CosineDecay{.initial = options.rate, .decay_steps = steps}});
  const double accuracy = examples::TrainClassifier(g, classifier, train, data.Test(), options);
  return options.steps > 0 || options.epochs < 10 || accuracy >= 0.915 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* about =
      "Trains a convolutional network on Fashion-MNIST; --data names the folder with its files.";
  return examples::RunMain(
      Train,
      examples::ParseOptions(
          argc, argv, about,
          {.epochs = 10, .batch = 64, .rate = 2e-3, .data = "../shared/datasets/fashion-mnist"}));
}
