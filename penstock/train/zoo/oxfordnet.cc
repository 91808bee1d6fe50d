#include "penstock/train/zoo/oxfordnet.h"

#include "penstock/client/ops.h"
#include "penstock/train/nn/nn.h"

namespace penstock::zoo {

nn::Sequential OxfordNet(const OxfordNetOptions& options) {
  using namespace nn;
  std::vector<Layer> layers;
  const std::vector<std::vector<int64_t>> stages{{64}, {128}, {256, 256}, {512, 512}, {512, 512}};
  for (const std::vector<int64_t>& stage : stages) {
    for (const int64_t filters : stage)
      layers.push_back(Conv2D{filters, 3, Relu, {.padding = kSame}});
    layers.push_back(MaxPool2D{2});
  }
  layers.push_back(Flatten{});
  for (int i = 0; i < 2; ++i) {
    layers.push_back(Dropout{options.dropout});
    layers.push_back(Dense{4096, Relu});
  }
  layers.push_back(Dense{options.classes});
  return Sequential(std::move(layers));
}

}  // namespace penstock::zoo
