#include <cmath>

#include "penstock/graph/gradients.h"
#include "penstock/train/nn/nn.h"
#include "penstock/train/testing/layer_values.h"

// Layers whose training differs from their use: BatchNorm, Dropout; and Embedding, Flatten,
// Reshape.

namespace penstock::nn {
namespace {

using namespace testing;

struct Moments {
  double mean = 0, variance = 0;
};
// Of channel c of [rows, channels].
Moments MomentsOf(const std::vector<float>& x, size_t channels, size_t c) {
  Moments m;
  const double n = double(x.size() / channels);
  for (size_t i = c; i < x.size(); i += channels) m.mean += x[i] / n;
  for (size_t i = c; i < x.size(); i += channels)
    m.variance += (x[i] - m.mean) * (x[i] - m.mean) / n;
  return m;
}

TEST(BatchNorm, NormalisesTheBatch) {
  for (const Shape& shape :
       {Shape{6, 2}, Shape{3, 2, 2}, Shape{1, 2, 3, 2}, Shape{1, 3, 1, 2, 2}}) {
    Graph g;
    const auto x = Constant(g, WaveOf(shape, 0));
    const BatchNorm layer{{.epsilon = 0.01f, .gamma = WaveInit(1), .beta = WaveInit(2)}};
    const auto y = layer(x, Mode::kTrain);
    EXPECT_EQ(y.shape(), shape);
    const std::vector<float> in = Wave(12, 0), gamma = Wave(2, 1), beta = Wave(2, 2);
    std::vector<float> want;
    for (size_t i = 0; i < 12; ++i) {
      const Moments m = MomentsOf(in, 2, i % 2);
      want.push_back(
          float((in[i] - m.mean) / std::sqrt(m.variance + 0.01) * gamma[i % 2] + beta[i % 2]));
    }
    ExpectNear(Evaluate(g, y), want, 1e-4f);
    ExpectGradientsReachAll(g, y);
  }
}

TEST(BatchNorm, MovesItsAverages) {
  Graph g;
  const auto x = Constant(g, WaveOf({6, 2}, 0));
  const BatchNorm layer{{.momentum = 0.75f}};
  layer(x, Mode::kTrain);
  const auto used = layer(x);
  ASSERT_EQ(UpdatesOf(g).size(), 2u);
  const Operation step = Group(UpdatesOf(g)), init = InitVariables(g);
  const auto mean = Variable<float>::Of(g, g.FindNode("batch_normalization/moving_mean")).Read();
  const auto variance =
      Variable<float>::Of(g, g.FindNode("batch_normalization/moving_variance")).Read();
  Session session(g);
  session.Run(init);
  session.Run(step);
  session.Run(step);
  std::vector<float> means, variances, want;
  for (size_t c = 0; c < 2; ++c) {
    const Moments m = MomentsOf(Wave(12, 0), 2, c);
    // After two steps the initial value weighs 0.75^2.
    means.push_back(float(m.mean * (1 - 0.5625)));
    variances.push_back(float(0.5625 + m.variance * 6 / 5 * (1 - 0.5625)));
  }
  ExpectNear(session.Run(mean), means);
  ExpectNear(session.Run(variance), variances);
  for (size_t i = 0; i < 12; ++i)
    want.push_back((Wave(12, 0)[i] - means[i % 2]) / std::sqrt(variances[i % 2] + 1e-3f));
  ExpectNear(session.Run(used), want);
}

TEST(BatchNorm, MayHaveNoScaleAndNoCenter) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, -1, -1, 4});
  EXPECT_EQ((BatchNorm{{.scale = false, .center = false}}(x, Mode::kTrain).shape()), x.shape());
  EXPECT_TRUE(TrainableVariables(g).empty());
  EXPECT_EQ(AllVariables(g).size(), 2u);
  ExpectError([] { (BatchNorm{{.momentum = 1.5f}}); }, {"BatchNorm", "momentum", "1.5"});
  ExpectError([] { (BatchNorm{{.epsilon = 0}}); }, {"epsilon"});
  ExpectError(
      [&] {
        BatchNorm{}(Placeholder<float>(g, {2, -1}));
      },
      {"batch_normalization_", "known"});
}

TEST(Dropout, DropsAndScalesInTrainingAlone) {
  Graph g;
  const auto x = Constant(g, Shape{100, 100}, 3.f);
  const Dropout layer{0.25f};
  EXPECT_EQ(layer(x).ref(), x.ref());
  const auto y = layer(x, Mode::kTrain);
  const Operation init = InitVariables(g);
  Session session(g);
  session.Run(init);
  const std::vector<float> first = session.Run(y).ToVector(), second = session.Run(y).ToVector();
  int kept = 0;
  for (const float v : first) {
    EXPECT_TRUE(v == 0 || std::abs(v - 4) < 1e-5) << v;
    kept += v != 0;
  }
  EXPECT_NEAR(kept, 7500, 150);
  EXPECT_NE(first, second);
  // The same sequence from the beginning.
  session.Run(init);
  EXPECT_EQ(session.Run(y).ToVector(), first);
  EXPECT_EQ(session.Run(y).ToVector(), second);
}

TEST(Dropout, LayersAndSeedsDiffer) {
  Graph g;
  const auto x = Constant(g, Shape{1000}, 1.f);
  const auto a = Dropout{0.5f}(x, Mode::kTrain), b = Dropout{0.5f}(x, Mode::kTrain);
  EXPECT_NE(Evaluate(g, a).ToVector(), Evaluate(g, b).ToVector());
  Graph h;
  const auto c = Dropout{0.5f, {.seed = 1}}(Constant(h, Shape{1000}, 1.f), Mode::kTrain);
  EXPECT_NE(Evaluate(g, a).ToVector(), Evaluate(h, c).ToVector());
}

TEST(Dropout, DropsWholeAxesTogether) {
  Graph g;
  const auto x = Constant(g, Shape{2, 5, 5, 50}, 1.f);
  const Array<float> y = Evaluate(g, Dropout{0.5f, {.together = {1, -2}}}(x, Mode::kTrain));
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < 25; ++i)
      for (int64_t c = 0; c < 50; ++c) EXPECT_EQ(y(b, i / 5, i % 5, c), y(b, 0, 0, c));
  ExpectError([&] { (Dropout{0.5f, {.together = {4}}}(x, Mode::kTrain)); }, {"dropout"});
}

TEST(Dropout, RefusesBadRates) {
  const std::string line = "state_test.cc:" + std::to_string(__LINE__ + 1);
  ExpectError([] { Dropout{1.f}; }, {line, "Dropout", "[0, 1)", "got 1"});
  ExpectError([] { Dropout{-0.1f}; }, {"-0.1"});
  ExpectError([] { Dropout{std::nanf("")}; }, {"nan"});
}

std::vector<float> RowsOf(const std::vector<int>& ids, const std::vector<float>& table,
                          size_t units) {
  std::vector<float> rows;
  for (const int id : ids)
    rows.insert(rows.end(), table.begin() + id * int(units), table.begin() + (id + 1) * int(units));
  return rows;
}

TEST(Embedding, LooksRowsUp) {
  Graph g;
  const auto ids = Constant(g, Array<int32_t>({2, 2}, {4, 0, 1, 4}));
  const auto y = Embedding{5, 3, {.table = WaveInit(1)}}(ids);
  EXPECT_EQ(y.shape(), (Shape{2, 2, 3}));
  EXPECT_EQ(VariableNames(g), (std::vector<std::string>{"embedding/embeddings"}));
  ExpectNear(Evaluate(g, y), RowsOf({4, 0, 1, 4}, Wave(15, 1), 3));
  const auto gradients = OrThrow(AddSparseGradients(
      Scope(g), {.ys = {Sum(y).ref()}, .xs = {{TrainableVariables(g)[0].handle, 0}}}));
  EXPECT_TRUE(gradients[0].has_rows());
}

TEST(Embedding, ShardsHoldTheSameTable) {
  const std::vector<float> table = Wave(7 * 2, 1);
  for (const Sharding sharding : {Sharding::kMod, Sharding::kDiv}) {
    Graph g;
    int64_t next = 0;  // shards are made in order
    auto part = [&](const InitialRequest& request) {
      std::vector<float> rows;
      const int64_t shard = next++;
      for (int64_t i = 0; i < request.shape[0]; ++i) {
        const int64_t row =
            sharding == Sharding::kMod ? i * 3 + shard : (shard == 0 ? i : 1 + shard * 2 + i);
        rows.insert(rows.end(), {table[size_t(row * 2)], table[size_t(row * 2 + 1)]});
      }
      return Constant(g, Array<float>(request.shape, rows));
    };
    const Embedding layer{7, 2, {.shards = 3, .sharding = sharding, .table = part}};
    const auto ids = Placeholder<int64_t>(g, {-1, 4});
    const auto y = layer(ids);
    EXPECT_EQ(y.shape(), (Shape{-1, 4, 2}));
    EXPECT_EQ(AllVariables(g)[2].name, "embedding/embeddings_2");
    EXPECT_EQ(AllVariables(g)[0].shape, (Shape{3, 2}));
    const Operation init = InitVariables(g);
    Session session(g);
    session.Run(init);
    ExpectNear(session.Run({{ids, Array<int64_t>({2, 4}, {6, 0, 1, 2, 3, 4, 5, 6})}}, y),
               RowsOf({6, 0, 1, 2, 3, 4, 5, 6}, table, 2));
    for (const int64_t bad : {-1, 7, 8, 1000})
      EXPECT_THROW(session.Run({{ids, Array<int64_t>({1, 4}, {0, 1, bad, 2})}}, y), Error) << bad;
    std::vector<OutputRef> handles;
    for (const Parameter& p : TrainableVariables(g)) handles.push_back({p.handle, 0});
    for (const GradientValue& gradient :
         OrThrow(AddSparseGradients(Scope(g), {.ys = {y.ref()}, .xs = handles})))
      EXPECT_TRUE(gradient.has_rows());
  }
}

TEST(Embedding, RefusesWhatItCannotUse) {
  ExpectError([] { (Embedding{0, 3}); }, {"Embedding", "rows"});
  ExpectError([] { (Embedding{3, 0}); }, {"units"});
  ExpectError([] { (Embedding{3, 3, {.shards = 4}}); }, {"3 rows", "4 shards"});
  Graph g;
  ExpectError(
      [&] {
        (Sequential{Embedding{3, 3}}(Placeholder<float>(g, {2})));
      },
      {"embedding", "int32", "float"});
}

TEST(Reshape, KeepsTheBatch) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, 4, 6});
  EXPECT_EQ(Flatten{}(x).shape(), (Shape{-1, 24}));
  EXPECT_EQ((Reshape{{2, 12}}(x).shape()), (Shape{-1, 2, 12}));
  EXPECT_EQ((Reshape{{2, -1, 3}}(x).shape()), (Shape{-1, 2, 4, 3}));
  EXPECT_EQ((Reshape{{-1, 3}}(Placeholder<float>(g, {-1, -1, 6})).shape()), (Shape{-1, -1, 3}));
  ExpectError([&] { (Reshape{{5, -1}}(x)); }, {"reshape", "24", "[5,?]"});
  ExpectError([&] { (Reshape{{-1, -1}}); }, {"only one"});
  ExpectError([&] { Flatten{}(Placeholder<float>(g, {-1, -1})); }, {"flatten", "[?,?]"});
}

}  // namespace
}  // namespace penstock::nn
