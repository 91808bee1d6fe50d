// Trains OxfordNet (VGG, model A). Expected: the loss on random pixels falls within five steps.
#include "penstock/train/zoo/oxfordnet.h"

#include "examples/shared/classify.h"

int main(int argc, char** argv) {
  using namespace penstock;
  return examples::ImageNetMain(
      argc, argv,
      {"Trains OxfordNet (VGG, model A).",
       [](int64_t classes) { return nn::Layer(zoo::OxfordNet({.classes = classes})); }, 224});
}
