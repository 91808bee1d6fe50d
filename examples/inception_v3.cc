// Trains Inception-v3. Expected: the loss on random pixels falls within five steps.
#include "penstock/train/zoo/inception_v3.h"

#include "examples/shared/classify.h"

int main(int argc, char** argv) {
  using namespace penstock;
  return examples::ImageNetMain(
      argc, argv,
      {"Trains Inception-v3.",
       [](int64_t classes) { return nn::Layer(zoo::InceptionV3({.classes = classes})); }, 299});
}
