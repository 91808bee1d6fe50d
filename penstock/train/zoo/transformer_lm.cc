#include "penstock/train/zoo/transformer_lm.h"

#include "penstock/train/nn/nn.h"

namespace penstock::zoo {

nn::Sequential TransformerLm(const TransformerLmOptions& options) {
  using namespace nn;
  std::vector<Layer> layers{
      Embedding{options.vocabulary, options.features, {.table = Normal(0, 0.02f)}},
      PositionEmbedding{options.max_length}, Dropout{options.dropout}};
  for (int i = 0; i < options.layers; ++i) {
    layers.push_back(
        TransformerBlock{options.heads,
                         4 * options.features,
                         {.causal = true, .dropout = options.dropout, .activation = GeluTanh}});
  }
  layers.push_back(LayerNorm{{.epsilon = 1e-5f}});
  layers.push_back(Dense{options.vocabulary, {}, {.bias = false, .kernel = Normal(0, 0.02f)}});
  return Sequential(std::move(layers));
}

}  // namespace penstock::zoo
