#include "penstock/train/zoo/alexnet.h"

#include "penstock/client/ops.h"
#include "penstock/train/nn/nn.h"

namespace penstock::zoo {

nn::Sequential AlexNet(const AlexNetOptions& options) {
  using namespace nn;
  const PoolOptions by_two{.strides = 2};
  return Sequential{Conv2D{64, 11, Relu, {.strides = 4, .padding = 2}},
                    MaxPool2D{3, by_two},
                    Conv2D{192, 5, Relu, {.padding = kSame}},
                    MaxPool2D{3, by_two},
                    Conv2D{384, 3, Relu, {.padding = kSame}},
                    Conv2D{256, 3, Relu, {.padding = kSame}},
                    Conv2D{256, 3, Relu, {.padding = kSame}},
                    MaxPool2D{3, by_two},
                    Flatten{},
                    Dropout{options.dropout},
                    Dense{4096, Relu},
                    Dropout{options.dropout},
                    Dense{4096, Relu},
                    Dense{options.classes}};
}

}  // namespace penstock::zoo
