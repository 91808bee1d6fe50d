#include "penstock/train/zoo/resnet.h"

#include "penstock/client/ops.h"
#include "penstock/train/nn/nn.h"

namespace penstock::zoo {
namespace {

using namespace nn;

class ResNetParts {
 public:
  explicit ResNetParts(const ResNetOptions& options) : options_(options) {}

  // Padded alike on both sides, also where a stride leaves a rest.
  Sequential Conv(int64_t filters, int64_t window, int64_t stride = 1) const {
    return Sequential{Conv2D{filters,
                             window,
                             {},
                             {.strides = stride,
                              .padding = window / 2,
                              .bias = false,
                              .kernel = HeNormal(),
                              .l2 = options_.l2}},
                      BatchNorm{{.momentum = 0.9f, .epsilon = 1e-5f}}};
  }

  // 1 x 1 to fewer channels, 3 x 3, 1 x 1 to four times as many, beside the input itself or, where
  // the shape changes, a projection of it.
  Sequential Bottleneck(int64_t filters, int64_t stride, bool project) const {
    const Sequential path{Conv(filters, 1), Relu, Conv(filters, 3, stride), Relu,
                          Conv(4 * filters, 1)};
    return project ? Sequential{Residual(path, Conv(4 * filters, 1, stride)), Relu}
                   : Sequential{Residual(path), Relu};
  }

  void AddStage(int64_t filters, int blocks, int64_t stride, std::vector<Layer>* layers) const {
    for (int i = 0; i < blocks; ++i)
      layers->push_back(Bottleneck(filters, i == 0 ? stride : 1, /*project=*/i == 0));
  }

 private:
  ResNetOptions options_;
};

}  // namespace

nn::Sequential ResNet50(const ResNetOptions& options) {
  const ResNetParts parts(options);
  std::vector<Layer> layers{parts.Conv(64, 7, 2), Relu, MaxPool2D{3, {.strides = 2, .padding = 1}}};
  parts.AddStage(64, 3, 1, &layers);
  parts.AddStage(128, 4, 2, &layers);
  parts.AddStage(256, 6, 2, &layers);
  parts.AddStage(512, 3, 2, &layers);
  layers.push_back(GlobalAvgPool{});
  layers.push_back(Dense{options.classes, {}, {.l2 = options.l2}});
  return Sequential(std::move(layers));
}

}  // namespace penstock::zoo
