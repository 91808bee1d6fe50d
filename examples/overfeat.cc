// Trains OverFeat. Expected: the loss on random pixels falls within five steps.
#include "penstock/train/zoo/overfeat.h"

#include "examples/shared/classify.h"

int main(int argc, char** argv) {
  using namespace penstock;
  return examples::ImageNetMain(
      argc, argv,
      {"Trains OverFeat.",
       [](int64_t classes) { return nn::Layer(zoo::Overfeat({.classes = classes})); }, 231});
}
