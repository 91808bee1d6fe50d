#pragma once

#include <penstock/penstock.h>

#include "examples/shared/options.h"

// What the examples that tell images apart share.

namespace examples {

// A model under training, with what a run of it needs.
struct Classifier {
  penstock::Output<float> images;
  penstock::Output<int32_t> labels;
  penstock::Output<float> scores;    // as the model is used
  penstock::Output<float> loss;      // as it is trained
  penstock::Output<float> accuracy;  // of the scores
  penstock::Operation step;
};

// Adds placeholders for images of `shape` (without the batch) and their labels, the model on them
// in both modes, a loss and a step of `optimizer`.
template <class Optimizer>
Classifier MakeClassifier(penstock::Graph& g, const penstock::nn::Layer& model,
                          std::vector<int64_t> shape, const Optimizer& optimizer) {
  using namespace penstock;
  Classifier c;
  shape.insert(shape.begin(), -1);
  c.images = Placeholder<float>(g, Shape(shape), "images");
  c.labels = Placeholder<int32_t>(g, {-1}, "labels");
  c.loss = SparseSoftmaxCrossEntropy(model(c.images, nn::Mode::kTrain), c.labels);
  c.scores = model(c.images);
  const auto hits = Equal(ArgMax(c.scores, 1), Cast<int64_t>(c.labels));
  c.accuracy = Mean(Cast<float>(hits));
  c.step = optimizer.Minimize(c.loss);
  return c;
}

// Trains on one dataset and measures on the other after each epoch, with a progress bar; keeps
// checkpoints, TensorBoard logs and the model under options.out, if given. Returns the accuracy on
// `test`. The datasets are not batched yet.
double TrainClassifier(penstock::Graph& g, const Classifier& classifier,
                       const penstock::LabelledImages& train, const penstock::LabelledImages& test,
                       const Options& options);

// A network for photographs, of `size` x `size` pixels and three colours.
struct ImageNet {
  const char* about;
  penstock::nn::Layer (*model)(int64_t classes);
  int64_t size = 224;
};
// The main of such a network's example. With --data, a folder with a folder of images for each
// class, trains on nine of ten and measures on the others. Without, takes some steps on random
// pixels, shows that the loss falls and how many images a second are trained on.
int ImageNetMain(int argc, char** argv, const ImageNet& net);

}  // namespace examples
