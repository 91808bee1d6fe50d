// Training steps of image classifiers: the networks of the peers' scripts.
#include <array>

#include "bench/train_net.h"

namespace penstock::bench {
namespace {

Expr Alexnet(TrainNet& n, Expr x) {
  x = n.MaxPool(n.PaddedConv(x, 11, 64, 4, 2), 3, 2);
  x = n.MaxPool(n.Conv(x, 5, 192), 3, 2);
  x = n.MaxPool(n.Conv(n.Conv(n.Conv(x, 3, 384), 3, 256), 3, 256), 3, 2);
  return n.Dense(n.Dense(n.Dense(n.Flat(x), 4096), 4096), 1000, false);
}

Expr Overfeat(TrainNet& n, Expr x) {
  x = n.MaxPool(n.Conv(x, 11, 96, 4, "VALID"), 2, 2);
  x = n.MaxPool(n.Conv(x, 5, 256, 1, "VALID"), 2, 2);
  x = n.MaxPool(n.Conv(n.Conv(n.Conv(x, 3, 512), 3, 1024), 3, 1024), 2, 2);
  return n.Dense(n.Dense(n.Dense(n.Flat(x), 3072), 4096), 1000, false);
}

Expr Oxfordnet(TrainNet& n, Expr x) {
  x = n.MaxPool(n.Conv(x, 3, 64), 2, 2);
  x = n.MaxPool(n.Conv(x, 3, 128), 2, 2);
  for (const int64_t channels : {256, 512, 512}) {
    x = n.MaxPool(n.Conv(n.Conv(x, 3, channels), 3, channels), 2, 2);
  }
  return n.Dense(n.Dense(n.Dense(n.Flat(x), 4096), 4096), 1000, false);
}

// Channels of a block: 1x1; 1x1 then 3x3; 1x1 then 5x5; pooled then 1x1.
using Inception = std::array<int64_t, 6>;

Expr AddInception(TrainNet& n, Expr x, const Inception& c) {
  const Expr pooled = n.Conv(n.MaxPool(x, 3, 1, "SAME"), 1, c[5]);
  return n.scope().Add("ConcatV2",
                       {n.Conv(x, 1, c[0]), n.Conv(n.Conv(x, 1, c[1]), 3, c[2]),
                        n.Conv(n.Conv(x, 1, c[3]), 5, c[4]), pooled, n.Integer(3)},
                       {{"N", 4}});
}

Expr Googlenet(TrainNet& n, Expr x) {
  constexpr Inception kBlocks[][5] = {
      {{64, 96, 128, 16, 32, 32}, {128, 128, 192, 32, 96, 64}},
      {{192, 96, 208, 16, 48, 64},
       {160, 112, 224, 24, 64, 64},
       {128, 128, 256, 24, 64, 64},
       {112, 144, 288, 32, 64, 64},
       {256, 160, 320, 32, 128, 128}},
      {{256, 160, 320, 32, 128, 128}, {384, 192, 384, 48, 128, 128}}};
  x = n.MaxPool(n.Conv(x, 7, 64, 2), 3, 2, "SAME");
  x = n.Conv(n.Conv(x, 1, 64), 3, 192);
  for (const auto& blocks : kBlocks) {
    x = n.MaxPool(x, 3, 2, "SAME");
    for (const Inception& block : blocks) {
      if (block[0] > 0) x = AddInception(n, x, block);
    }
  }
  const Expr means = Op("AvgPool", x,
                        {{"ksize", std::vector<int64_t>{1, 7, 7, 1}},
                         {"strides", std::vector<int64_t>{1, 1, 1, 1}},
                         {"padding", "VALID"}});
  return n.Dense(n.Flat(means), 1000, false);
}

using Network = Expr (*)(TrainNet&, Expr);

Figure TrainImages(Network network, int64_t extent, const Options& options) {
  TrainNet n;
  const Expr logits = network(n, n.Input({options.batch, extent, extent, 3}));
  const Operation step = n.Train(n.MeanLoss(logits, n.Labels(options.batch, 1000)), 1e-3f);
  return {StepMs(n, step, options, 5), "ms/step"};
}

Figure MnistCnn(const Options& options) {
  constexpr int64_t kBatch = 64;
  TrainNet n;
  Expr x = n.MaxPool(n.Conv(n.Input({kBatch, 28, 28, 1}), 5, 32), 2, 2);
  x = n.MaxPool(n.Conv(x, 5, 64), 2, 2);
  const Expr logits = n.Dense(n.Dense(n.Flat(x), 512), 10, false);
  const Operation step = n.Train(n.MeanLoss(logits, n.Labels(kBatch, 10)), 1e-3f, 0.9f);
  return {StepMs(n, step, options, 30), "ms/step"};
}

// 784-100-10, fed.
Figure Mlp(const Options& options) {
  constexpr int64_t kBatch = 100, kPixels = 784, kStepsTimed = 100;
  TrainNet n;
  const Expr x = n.scope().Add("Placeholder", std::vector<Expr>(),
                               {{"dtype", DType::kFloat}, {"shape", Shape{kBatch, kPixels}}});
  const Expr labels = n.scope().Add("Placeholder", std::vector<Expr>(),
                                    {{"dtype", DType::kInt32}, {"shape", Shape{kBatch}}});
  const Expr logits = n.Dense(n.Dense(x, 100), 10, false);
  const Operation step = n.Train(n.MeanLoss(logits, labels), 0.01f);
  Session session(n.graph(),
                  {.threads = options.threads, .memory_limit = 0, .disabled_passes = {}});
  session.Run(InitVariables(n.graph()));
  const Array<float> images(Shape{kBatch, kPixels},
                            std::vector<float>(static_cast<size_t>(kBatch * kPixels), 0.5f));
  std::vector<int32_t> digits(static_cast<size_t>(kBatch));
  for (size_t i = 0; i < digits.size(); ++i) digits[i] = static_cast<int32_t>(i % 10);
  const Array<int32_t> targets(digits);
  const Feeds feeds = {Feed(Output<float>(n.graph(), x.ref()), images),
                       Feed(Output<int32_t>(n.graph(), labels.ref()), targets)};
  const double ms = MedianMs(
      [&] {
        for (int64_t i = 0; i < kStepsTimed; ++i) session.Run(feeds, step);
      },
      10, 2);
  return {ms * 1e3 / kStepsTimed, "us/step"};
}

struct ImageCase {
  const char* name;
  const char* what;
  Network network;
  int64_t extent;
};
constexpr ImageCase kImageCases[] = {
    {"alexnet", "a training step of AlexNet", Alexnet, 224},
    {"overfeat", "a training step of Overfeat", Overfeat, 231},
    {"oxfordnet", "a training step of OxfordNet (VGG-A)", Oxfordnet, 224},
    {"googlenet", "a training step of GoogleNet", Googlenet, 224}};

}  // namespace

void AddTrainCases(std::vector<Case>& cases) {
  cases.push_back({"mlp", "a training step of 784-100-10, batch 100, fed", Mlp});
  cases.push_back({"mnist_cnn", "a training step of two convolutions, batch 64", MnistCnn});
  for (const ImageCase& image : kImageCases) {
    cases.push_back({image.name, image.what, [&image](const Options& options) {
                       return TrainImages(image.network, image.extent, options);
                     }});
  }
}

}  // namespace penstock::bench
