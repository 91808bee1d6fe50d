#include "penstock/train/zoo/inception_v3.h"

#include "penstock/client/ops.h"
#include "penstock/train/nn/nn.h"

namespace penstock::zoo {
namespace {

using namespace nn;

Sequential Conv(int64_t filters, const Sizes& window, int64_t stride = 1,
                const Padding& padding = kSame) {
  return Sequential{
      Conv2D{filters, window, {}, {.strides = stride, .padding = padding, .bias = false}},
      BatchNorm{{.scale = false}}, Relu};
}
Sequential HalvingConv(int64_t filters) { return Conv(filters, 3, 2, kValid); }
MaxPool2D Halve() { return MaxPool2D{3, {.strides = 2}}; }
Sequential PooledConv(int64_t filters) {
  return Sequential{AvgPool2D{3, {.strides = 1, .padding = kSame}}, Conv(filters, 1)};
}

// On 35 x 35 places.
Branches ModuleA(int64_t pooled) {
  return Branches{Conv(64, 1), Sequential{Conv(48, 1), Conv(64, 5)},
                  Sequential{Conv(64, 1), Conv(96, 3), Conv(96, 3)}, PooledConv(pooled)};
}

// From 35 x 35 to 17 x 17.
Branches ReductionA() {
  return Branches{HalvingConv(384), Sequential{Conv(64, 1), Conv(96, 3), HalvingConv(96)}, Halve()};
}

// On 17 x 17 places: windows of 7 x 7 as 1 x 7 and 7 x 1.
Branches ModuleB(int64_t inner) {
  const Sizes row{1, 7}, column{7, 1};
  return Branches{Conv(192, 1), Sequential{Conv(inner, 1), Conv(inner, row), Conv(192, column)},
                  Sequential{Conv(inner, 1), Conv(inner, column), Conv(inner, row),
                             Conv(inner, column), Conv(192, row)},
                  PooledConv(192)};
}

// From 17 x 17 to 8 x 8.
Branches ReductionB() {
  return Branches{Sequential{Conv(192, 1), HalvingConv(320)},
                  Sequential{Conv(192, 1), Conv(192, {1, 7}), Conv(192, {7, 1}), HalvingConv(192)},
                  Halve()};
}

// On 8 x 8 places: a row and a column side by side.
Branches ModuleC() {
  auto cross = [] { return Branches{Conv(384, {1, 3}), Conv(384, {3, 1})}; };
  return Branches{Conv(320, 1), Sequential{Conv(384, 1), cross()},
                  Sequential{Conv(448, 1), Conv(384, 3), cross()}, PooledConv(192)};
}

}  // namespace

nn::Sequential InceptionV3(const InceptionV3Options& options) {
  return Sequential{Conv(32, 3, 2, kValid),
                    Conv(32, 3, 1, kValid),
                    Conv(64, 3),
                    Halve(),
                    Conv(80, 1, 1, kValid),
                    Conv(192, 3, 1, kValid),
                    Halve(),
                    ModuleA(32),
                    ModuleA(64),
                    ModuleA(64),
                    ReductionA(),
                    ModuleB(128),
                    ModuleB(160),
                    ModuleB(160),
                    ModuleB(192),
                    ReductionB(),
                    ModuleC(),
                    ModuleC(),
                    GlobalAvgPool{},
                    Dropout{options.dropout},
                    Dense{options.classes}};
}

}  // namespace penstock::zoo
