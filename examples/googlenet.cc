// Trains GoogleNet (Inception v1). Expected: the loss on random pixels falls within five steps.
#include "penstock/train/zoo/googlenet.h"

#include "examples/shared/classify.h"

int main(int argc, char** argv) {
  using namespace penstock;
  return examples::ImageNetMain(
      argc, argv,
      {"Trains GoogleNet (Inception v1).",
       [](int64_t classes) { return nn::Layer(zoo::GoogleNet({.classes = classes})); }, 224});
}
