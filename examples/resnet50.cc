// Trains ResNet-50. Expected: the loss on random pixels falls within five steps.
#include "examples/shared/classify.h"
#include "penstock/train/zoo/resnet.h"

int main(int argc, char** argv) {
  using namespace penstock;
  return examples::ImageNetMain(
      argc, argv,
      {"Trains ResNet-50.",
       [](int64_t classes) { return nn::Layer(zoo::ResNet50({.classes = classes})); }, 224});
}
