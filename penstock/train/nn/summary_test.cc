#include "penstock/train/nn/summary.h"

#include "penstock/train/nn/nn.h"
#include "penstock/train/testing/layer_values.h"

namespace penstock::nn {
namespace {

TEST(Summary, ListsLayersShapesAndCounts) {
  const Sequential model{Conv2D{32, 3, Relu}, MaxPool2D{}, Flatten{},
                         Dropout{0.5f},       Dense{10},   BatchNorm{}};
  EXPECT_EQ(Summary(model, {-1, 28, 28, 1}),
            "Layer                            Output        Parameters\n"
            "conv2d (Conv2D)                  [?,26,26,32]         320\n"
            "max_pooling2d (MaxPool2D)        [?,13,13,32]           0\n"
            "flatten (Flatten)                [?,5408]               0\n"
            "dense (Dense)                    [?,10]            54,090\n"
            "batch_normalization (BatchNorm)  [?,10]                40\n"
            "Total: 54,450 parameters (212.7 KiB), 54,430 trainable\n");
}

TEST(Summary, CountsALayerOnceAndItsPartsWithIt) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, 3, 4});
  const TransformerBlock block{2, 8};
  block(x, Mode::kTrain);
  block(x);
  Variable<float> own(g, Constant(g, Shape{2, 2}, 0.f), "own");
  const std::string text = Summary(g);
  EXPECT_NE(text.find("transformer_block (TransformerBlock)  [?,3,4]         172\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("own (variable)                        [2,2]             4\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("dense"), std::string::npos) << text;
  EXPECT_EQ(CountParameters(g).total(), 176);
}

TEST(Summary, TakesModelsOfIndices) {
  const Sequential model{Embedding{100, 8}, LSTM{4}, Dense{2}};
  const std::string text = Summary(model, {-1, 5}, DType::kInt32);
  EXPECT_NE(text.find("embedding (Embedding)"), std::string::npos) << text;
  EXPECT_NE(text.find("Total: 1,018 parameters"), std::string::npos) << text;
}

}  // namespace
}  // namespace penstock::nn
