#include "penstock/train/zoo/overfeat.h"

#include "penstock/client/ops.h"
#include "penstock/train/nn/nn.h"

namespace penstock::zoo {

nn::Sequential Overfeat(const OverfeatOptions& options) {
  using namespace nn;
  return Sequential{Conv2D{96, 11, Relu, {.strides = 4}},
                    MaxPool2D{2},
                    Conv2D{256, 5, Relu},
                    MaxPool2D{2},
                    Conv2D{512, 3, Relu, {.padding = kSame}},
                    Conv2D{1024, 3, Relu, {.padding = kSame}},
                    Conv2D{1024, 3, Relu, {.padding = kSame}},
                    MaxPool2D{2},
                    Flatten{},
                    Dropout{options.dropout},
                    Dense{3072, Relu},
                    Dropout{options.dropout},
                    Dense{4096, Relu},
                    Dense{options.classes}};
}

}  // namespace penstock::zoo
