// Trains AlexNet. Expected: the loss on random pixels falls within five steps.
#include "penstock/train/zoo/alexnet.h"

#include "examples/shared/classify.h"

int main(int argc, char** argv) {
  using namespace penstock;
  return examples::ImageNetMain(
      argc, argv,
      {"Trains AlexNet.",
       [](int64_t classes) { return nn::Layer(zoo::AlexNet({.classes = classes})); }, 224});
}
