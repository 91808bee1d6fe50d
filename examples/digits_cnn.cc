// Tells handwritten digits apart: a small convolutional network on UCI's optical digits, 8 x 8
// pixels each, which are in the repository. Expected: at least 98.5 % of the held-out digits after
// 40 epochs, in under a minute.
#include <cstdio>

#include "examples/shared/classify.h"
#include "penstock/train/zoo/digits.h"

using namespace penstock;

namespace {

constexpr int64_t kSide = 8;

// Moves a digit by at most one pixel each way, so that the network sees more of them than there
// are.
std::tuple<Array<float>, Array<int32_t>> Move(uint64_t seed, const Array<float>& image,
                                              const Array<int32_t>& label) {
  const int64_t down = static_cast<int64_t>(seed % 3) - 1;
  const int64_t along = static_cast<int64_t>(seed / 3 % 3) - 1;
  std::vector<float> moved(kSide * kSide, 0.f);
  for (int64_t y = 0; y < kSide; ++y) {
    for (int64_t x = 0; x < kSide; ++x) {
      const int64_t from_y = y - down, from_x = x - along;
      if (from_y < 0 || from_y >= kSide || from_x < 0 || from_x >= kSide) continue;
      moved[static_cast<size_t>(y * kSide + x)] = image(from_y * kSide + from_x);
    }
  }
  return {Array<float>(Shape{kSide * kSide}, moved), label};
}

int Train(const examples::Options& options) {
  Graph g;
  const nn::Layer model = nn::Sequential{nn::Reshape{{kSide, kSide, 1}}, zoo::DigitsCnn()};
  const auto train = Digits::Train();
  const int64_t steps = options.epochs * (*train.Size() / options.batch + 1);
  const auto classifier = examples::MakeClassifier(
      g, model, {kSide * kSide},
      Adam{.rate = CosineDecay{.initial = options.rate, .decay_steps = steps}});
  std::printf("%s\n", nn::Summary(model, Shape{-1, kSide * kSide}).c_str());
  const double accuracy =
      examples::TrainClassifier(g, classifier, train.MapRandom(2, Move), Digits::Test(), options);
  return options.steps > 0 || options.epochs < 40 || accuracy >= 0.985 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* about = "Trains a convolutional network on handwritten digits of 8 x 8 pixels.";
  return examples::RunMain(
      Train, examples::ParseOptions(argc, argv, about, {.epochs = 40, .batch = 32, .rate = 2e-3}));
}
