#include "penstock/train/zoo/digits.h"

#include "penstock/client/ops.h"
#include "penstock/train/nn/nn.h"

namespace penstock::zoo {
namespace {

using namespace nn;

Sequential NormedConv(int64_t filters) {
  return Sequential{Conv2D{filters, 3, {}, {.padding = kSame, .bias = false, .kernel = HeNormal()}},
                    BatchNorm{{.momentum = 0.9f}}, Relu};
}

}  // namespace

nn::Sequential Mlp(const std::vector<int64_t>& hidden, int64_t classes) {
  std::vector<Layer> layers;
  for (const int64_t units : hidden) layers.push_back(Dense{units, Relu});
  layers.push_back(Dense{classes});
  return Sequential(std::move(layers));
}

nn::Sequential DigitsMlp() { return Mlp({128, 64}); }

nn::Sequential DigitsCnn(float dropout) {
  return Sequential{Conv2D{32, 3, Relu, {.padding = kSame}},
                    Conv2D{64, 3, Relu, {.padding = kSame}},
                    MaxPool2D{2},
                    Conv2D{64, 3, Relu, {.padding = kSame}},
                    Flatten{},
                    Dropout{dropout},
                    Dense{128, Relu},
                    Dropout{dropout},
                    Dense{10}};
}

nn::Sequential MnistCnn(float dropout) {
  return Sequential{Conv2D{32, 5, Relu, {.padding = kSame}},
                    MaxPool2D{2},
                    Conv2D{64, 5, Relu, {.padding = kSame}},
                    MaxPool2D{2},
                    Flatten{},
                    Dense{512, Relu},
                    Dropout{dropout},
                    Dense{10}};
}

nn::Sequential FashionCnn(float dropout) {
  return Sequential{NormedConv(32), NormedConv(32),   MaxPool2D{2},     Dropout{dropout},
                    NormedConv(64), NormedConv(64),   MaxPool2D{2},     Dropout{dropout},
                    Flatten{},      Dense{256, Relu}, Dropout{dropout}, Dense{10}};
}

}  // namespace penstock::zoo
