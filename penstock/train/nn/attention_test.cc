#include "penstock/train/nn/attention.h"

#include "penstock/train/nn/nn.h"
#include "penstock/train/testing/layer_values.h"

// Expected values were recorded from PyTorch 2 (scaled_dot_product_attention) on the same waves.

namespace penstock::nn {
namespace {

using namespace testing;
using Names = std::vector<std::string>;

// The value of y where the kernels, in the order they were made, begin with waves of phase 1, 2,
// ...
Array<float> WithWaves(Graph& g, const Output<float>& y) {
  const Operation init = InitVariables(g);
  std::vector<Operation> sets;
  float phase = 1;
  for (const Parameter& parameter : AllVariables(g)) {
    if (!parameter.name.ends_with("kernel")) continue;
    const auto value = Constant(g, WaveOf(parameter.shape, phase++));
    sets.push_back(Variable<float>::Of(g, parameter.handle).Assign(value));
  }
  const Operation set = Group(sets);
  Session session(g);
  session.Run(init);
  session.Run(set);
  return session.Run(y);
}

const std::vector<float> kPlain{-0.35861, -0.518299, 0.233029, 0.792987,  -0.23895,  -0.898332,
                                0.480091, 0.669416,  0.354754, -1.173714, -0.031927, 0.678396,
                                0.621314, -1.31038,  0.494292, -0.262427, 0.620378,  -1.356635,
                                0.536272, -0.256515, 0.593954, -1.25045,  0.49049,   -0.304132};
const std::vector<float> kCausalRows{
    -0.387189, -0.278481, -0.008165, 0.858319,  -0.174566, -0.653962, 0.169504, 0.806326,
    0.354754,  -1.173714, -0.031927, 0.678396,  0.662374,  -1.638846, 0.616561, -0.036501,
    0.548817,  -1.456929, 0.717574,  -0.259244, 0.593954,  -1.25045,  0.49049,  -0.304132};
const std::vector<float> kPadded{-0.311056, -0.461937, 0.116372, 0.831515,  -0.174566, -0.653962,
                                 0.169504,  0.806326,  0.131093, -0.717616, -0.166927, 0.811121,
                                 0.621314,  -1.31038,  0.494292, -0.262427, 0.620378,  -1.356635,
                                 0.536272,  -0.256515, 0.593954, -1.25045,  0.49049,   -0.304132};

TEST(MultiHeadAttention, AgreesWithPyTorch) {
  Graph g;
  const auto x = Constant(g, WaveOf({2, 3, 4}, 0));
  const auto y = MultiHeadAttention{2, 3}(x);
  EXPECT_EQ(y.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(VariableNames(g),
            (Names{"multi_head_attention/query/kernel", "multi_head_attention/query/bias",
                   "multi_head_attention/key/kernel", "multi_head_attention/key/bias",
                   "multi_head_attention/value/kernel", "multi_head_attention/value/bias",
                   "multi_head_attention/attention_output/kernel",
                   "multi_head_attention/attention_output/bias"}));
  ExpectNear(WithWaves(g, y), kPlain);
}

TEST(MultiHeadAttention, MasksAgreeWithPyTorch) {
  {
    Graph g;
    const auto y = MultiHeadAttention{2, 3, {.causal = true}}(Constant(g, WaveOf({2, 3, 4}, 0)));
    ExpectNear(WithWaves(g, y), kCausalRows);
  }
  Graph g;
  const auto x = Constant(g, WaveOf({2, 3, 4}, 0));
  const auto keep = Constant(
      g, Array<bool>(Tensor::FromValues<bool>(Shape{2, 3}, {true, true, false, true, true, true})));
  ExpectNear(WithWaves(g, MultiHeadAttention{2, 3}({.query = x, .key_is_there = keep})), kPadded);
}

TEST(MultiHeadAttention, QueriesMayDifferFromValues) {
  Graph g;
  const auto query = Placeholder<float>(g, {-1, -1, 4});
  const auto value = Placeholder<float>(g, {-1, 7, 6});
  const MultiHeadAttention layer{2, 3, {.value_dim = 5}};
  EXPECT_EQ(layer({.query = query, .value = value}).shape(), (Shape{-1, -1, 4}));
  EXPECT_EQ(AllVariables(g)[4].shape, (Shape{6, 2, 5}));
  const Operation init = InitVariables(g);
  Session session(g);
  session.Run(init);
  const auto y = layer({.query = query, .value = value});
  const Array<float> got =
      session.Run({{query, WaveOf({2, 3, 4}, 0)}, {value, WaveOf({2, 7, 6}, 0)}}, y);
  EXPECT_EQ(got.shape(), (Shape{2, 3, 4}));
}

TEST(MultiHeadAttention, HasGradientsAndDropout) {
  Graph g;
  const auto x = Constant(g, WaveOf({2, 3, 4}, 0));
  const auto memory = Constant(g, WaveOf({2, 5, 3}, 1));
  const MultiHeadAttention layer{2, 3, {.bias = false, .dropout = 0.5f}};
  ExpectGradientsReachAll(g, layer({.query = x, .value = memory}));
  const auto trained = layer({.query = x, .value = memory}, Mode::kTrain);
  const auto used = layer({.query = x, .value = memory});
  EXPECT_NE(Evaluate(g, trained).ToVector(), Evaluate(g, used).ToVector());
}

TEST(TransformerBlock, HasGradients) {
  for (const bool norm_first : {false, true}) {
    Graph g;
    const auto x = Constant(g, WaveOf({2, 3, 4}, 0));
    const TransformerBlock block{2, 6, {.causal = true, .norm_first = norm_first}};
    const auto y = block(x);
    EXPECT_EQ(y.shape(), (Shape{2, 3, 4}));
    ExpectGradientsReachAll(g, y);
  }
}

TEST(TransformerBlock, ACausalOneSeesNothingLater) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, -1, 4});
  const auto y = TransformerBlock{2, 6, {.causal = true, .dropout = 0.1f}}(x);
  EXPECT_EQ(y.shape(), (Shape{-1, -1, 4}));
  const Names names = VariableNames(g);
  EXPECT_EQ(names[0], "transformer_block/layer_normalization/gamma");
  EXPECT_EQ(names[2], "transformer_block/multi_head_attention/query/kernel");
  EXPECT_EQ(names.back(), "transformer_block/dense_1/bias");
  const Operation init = InitVariables(g);
  Session session(g);
  session.Run(init);
  std::vector<float> values = Wave(20, 0);
  const Array<float> before = session.Run({{x, Array<float>({1, 5, 4}, values)}}, y);
  values[16] += 1;  // the last place
  const Array<float> after = session.Run({{x, Array<float>({1, 5, 4}, values)}}, y);
  for (int64_t i = 0; i < 16; ++i) EXPECT_NEAR(before[i], after[i], 1e-6) << i;
  EXPECT_NE(before[16], after[16]);
}

TEST(TransformerBlock, PaddingDoesNotCount) {
  Graph g;
  const auto x = Placeholder<float>(g, {1, 3, 4});
  const auto keep =
      Constant(g, Array<bool>(Tensor::FromValues<bool>(Shape{1, 3}, {true, true, false})));
  const auto y = TransformerBlock{2, 6}(x, keep);
  const Operation init = InitVariables(g);
  Session session(g);
  session.Run(init);
  std::vector<float> values = Wave(12, 0);
  const Array<float> before = session.Run({{x, Array<float>({1, 3, 4}, values)}}, y);
  values[9] += 1;
  const Array<float> after = session.Run({{x, Array<float>({1, 3, 4}, values)}}, y);
  for (int64_t i = 0; i < 8; ++i) EXPECT_NEAR(before[i], after[i], 1e-6) << i;
}

TEST(Attention, RefusesWhatItCannotUse) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, 3, 4});
  ExpectError([] { (MultiHeadAttention{0, 3}); }, {"MultiHeadAttention", "heads"});
  ExpectError([] { (MultiHeadAttention{2, 3, {.dropout = 1}}); }, {"[0, 1)"});
  ExpectError(
      [&] {
        MultiHeadAttention{2, 3}(Placeholder<float>(g, {-1, 4}));
      },
      {"multi_head_attention", "[batch, time, features]"});
  ExpectError(
      [&] {
        MultiHeadAttention{2, 3}({.query = x, .key_is_there = Placeholder<bool>(g, {3})});
      },
      {"mask", "[3]"});
  ExpectError([&] { TransformerBlock{3, 8}(x); }, {"transformer_block", "4 features", "3 heads"});
}

}  // namespace
}  // namespace penstock::nn
