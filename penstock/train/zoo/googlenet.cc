#include "penstock/train/zoo/googlenet.h"

#include "penstock/client/ops.h"
#include "penstock/train/nn/nn.h"

namespace penstock::zoo {
namespace {

using namespace nn;

Conv2D Conv(int64_t filters, int64_t window) {
  return Conv2D{filters, window, Relu, {.padding = kSame}};
}

MaxPool2D Halve() { return MaxPool2D{3, {.strides = 2, .padding = 1}}; }

// The filters of one module: of windows 1, 3 and 5, the latter behind fewer of window 1, and of
// the pooled branch.
struct Module {
  int64_t one;
  int64_t before_three, three;
  int64_t before_five, five;
  int64_t pooled;
};

Branches Inception(const Module& m) {
  return Branches{Conv(m.one, 1), Sequential{Conv(m.before_three, 1), Conv(m.three, 3)},
                  Sequential{Conv(m.before_five, 1), Conv(m.five, 5)},
                  Sequential{MaxPool2D{3, {.strides = 1, .padding = kSame}}, Conv(m.pooled, 1)}};
}

}  // namespace

nn::Sequential GoogleNet(const GoogleNetOptions& options) {
  return Sequential{Conv2D{64, 7, Relu, {.strides = 2, .padding = 3}},
                    Halve(),
                    Conv(64, 1),
                    Conv(192, 3),
                    Halve(),
                    Inception({64, 96, 128, 16, 32, 32}),
                    Inception({128, 128, 192, 32, 96, 64}),
                    Halve(),
                    Inception({192, 96, 208, 16, 48, 64}),
                    Inception({160, 112, 224, 24, 64, 64}),
                    Inception({128, 128, 256, 24, 64, 64}),
                    Inception({112, 144, 288, 32, 64, 64}),
                    Inception({256, 160, 320, 32, 128, 128}),
                    Halve(),
                    Inception({256, 160, 320, 32, 128, 128}),
                    Inception({384, 192, 384, 48, 128, 128}),
                    GlobalAvgPool{},
                    Dropout{options.dropout},
                    Dense{options.classes}};
}

}  // namespace penstock::zoo
