#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

#include "examples/shared/classify.h"

namespace examples {

using namespace penstock;

namespace {

// Halfway between its four neighbours, as far as they are there.
float Sample(const Array<uint8_t>& image, float y, float x, int64_t channel) {
  const int64_t height = image.shape().dim(0), width = image.shape().dim(1);
  const int64_t top = std::clamp<int64_t>(static_cast<int64_t>(y), 0, height - 1);
  const int64_t left = std::clamp<int64_t>(static_cast<int64_t>(x), 0, width - 1);
  const int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const float down = std::clamp(y - static_cast<float>(top), 0.f, 1.f);
  const float along = std::clamp(x - static_cast<float>(left), 0.f, 1.f);
  const float upper = (1 - along) * image(top, left, channel) + along * image(top, right, channel);
  const float lower =
      (1 - along) * image(bottom, left, channel) + along * image(bottom, right, channel);
  return (1 - down) * upper + down * lower;
}

// Any image as size x size pixels around zero.
Array<float> Resized(const Array<uint8_t>& image, int64_t size) {
  const float rows = static_cast<float>(image.shape().dim(0)) / static_cast<float>(size);
  const float columns = static_cast<float>(image.shape().dim(1)) / static_cast<float>(size);
  std::vector<float> pixels;
  pixels.reserve(static_cast<size_t>(size * size * 3));
  for (int64_t y = 0; y < size; ++y) {
    for (int64_t x = 0; x < size; ++x) {
      for (int64_t channel = 0; channel < 3; ++channel) {
        const float value = Sample(image, (static_cast<float>(y) + 0.5f) * rows - 0.5f,
                                   (static_cast<float>(x) + 0.5f) * columns - 0.5f, channel);
        pixels.push_back(value / 64 - 2);
      }
    }
  }
  return Array<float>(Shape{size, size, 3}, pixels);
}

int TrainOnFolder(const ImageNet& net, const Options& options) {
  const ImageFolder folder{.path = options.data};
  const auto classes = static_cast<int64_t>(folder.Classes().size());
  const int64_t size = net.size;
  const auto images = folder.Read().Map(
      [size](Array<uint8_t> image, Array<int32_t> label) {
        return std::tuple(Resized(image, size), label);
      },
      {.threads = 0});
  Graph g;
  const auto classifier = MakeClassifier(g, net.model(classes), {size, size, 3},
                                         Momentum{.rate = options.rate, .momentum = 0.9});
  LabelledImages train = images.Shard(10, 0);
  for (int64_t i = 1; i < 9; ++i) train = train.Concatenate(images.Shard(10, i));
  TrainClassifier(g, classifier, train, images.Shard(10, 9), options);
  return 0;
}

int TrainOnNoise(const ImageNet& net, const Options& options) {
  constexpr int64_t kClasses = 1000;
  Graph g;
  const auto c =
      MakeClassifier(g, net.model(kClasses), {net.size, net.size, 3}, SGD{.rate = options.rate});
  std::printf("%lld parameters\n", static_cast<long long>(nn::CountParameters(g).trainable));
  const Shape shape{options.batch, net.size, net.size, 3};
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> pixels(static_cast<size_t>(shape.num_elements()));
  for (float& pixel : pixels) pixel = normal(random);
  std::vector<int32_t> labels(static_cast<size_t>(options.batch));
  for (int32_t& label : labels) label = static_cast<int32_t>(random() % kClasses);
  const Array<float> x(shape, pixels);
  const Array<int32_t> y(labels);

  Session session(g);
  session.Run(InitVariables(g));
  float first = 0, last = 0;
  auto begin = std::chrono::steady_clock::now();
  for (int64_t i = 0; i < options.steps; ++i) {
    const auto [loss] = session.Run({{c.images, x}, {c.labels, y}}, Fetch(c.loss), c.step);
    last = loss;
    if (i == 0) first = last, begin = std::chrono::steady_clock::now();
    std::printf("step %lld  loss %.4f\n", static_cast<long long>(i + 1), static_cast<double>(last));
    std::fflush(stdout);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (options.steps < 2) return 0;
  const auto trained = static_cast<double>((options.steps - 1) * options.batch);
  std::printf("%.1f images a second\n", trained / seconds.count());
  if (last < first) return 0;
  std::fprintf(stderr, "the loss did not fall\n");
  return 1;
}

}  // namespace

int ImageNetMain(int argc, char** argv, const ImageNet& net) {
  const Options options =
      ParseOptions(argc, argv, net.about, {.epochs = 1, .steps = 5, .batch = 8, .rate = 1e-3});
  try {
    return options.data.empty() ? TrainOnNoise(net, options) : TrainOnFolder(net, options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace examples
