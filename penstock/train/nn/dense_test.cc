#include "penstock/train/nn/dense.h"

#include <cmath>

#include "penstock/train/nn/nn.h"
#include "penstock/train/testing/layer_values.h"

namespace penstock::nn {
namespace {

using namespace testing;

// rows x in times in x out, plus bias, below zero cut off.
std::vector<float> ReluDense(const std::vector<float>& x, const std::vector<float>& w,
                             const std::vector<float>& b, size_t in) {
  const size_t out = b.size(), rows = x.size() / in;
  std::vector<float> y;
  for (size_t r = 0; r < rows; ++r) {
    for (size_t o = 0; o < out; ++o) {
      float sum = b[o];
      for (size_t i = 0; i < in; ++i) sum += x[r * in + i] * w[i * out + o];
      y.push_back(std::max(sum, 0.f));
    }
  }
  return y;
}

TEST(Dense, ComputesRowsTimesKernelPlusBias) {
  Graph g;
  const auto x = Constant(g, WaveOf({4, 3}, 0));
  const auto y = Dense{2, Relu, {.kernel = WaveInit(1), .bias_value = WaveInit(2)}}(x);
  EXPECT_EQ(y.shape(), (Shape{4, 2}));
  ExpectNear(Evaluate(g, y), ReluDense(Wave(12, 0), Wave(6, 1), Wave(2, 2), 3));
  ExpectGradientsReachAll(g, y);
}

TEST(Dense, KeepsFurtherAxes) {
  Graph g;
  for (const Shape& known : {Shape{2, 2, 3}, Shape{-1, 2, 3}, Shape{-1, -1, 3}}) {
    const auto x = Placeholder<float>(g, known);
    const auto y = Dense{2, Relu, {.kernel = WaveInit(1), .bias_value = WaveInit(2)}}(x);
    EXPECT_EQ(y.shape(), (Shape{known[0], known[1], 2}));
    const Operation init = InitVariables(g);
    Session session(g);
    session.Run(init);
    const Array<float> got = session.Run({{x, WaveOf({2, 2, 3}, 0)}}, y);
    EXPECT_EQ(got.shape(), (Shape{2, 2, 2}));
    ExpectNear(got, ReluDense(Wave(12, 0), Wave(6, 1), Wave(2, 2), 3));
  }
}

TEST(Dense, MayHaveNoBias) {
  Graph g;
  const auto y = Dense{2, {}, {.bias = false, .kernel = Ones()}}(Constant(g, WaveOf({1, 3}, 0)));
  EXPECT_EQ(AllVariables(g).size(), 1u);
  const std::vector<float> x = Wave(3, 0);
  ExpectNear(Evaluate(g, y), {x[0] + x[1] + x[2], x[0] + x[1] + x[2]});
}

TEST(Dense, RefusesWhatItCannotUse) {
  Graph g;
  const std::string line = "dense_test.cc:" + std::to_string(__LINE__ + 1);
  ExpectError([] { Dense{0}; }, {line, "Dense", "units", "got 0"});
  ExpectError([] { Dense{-3}; }, {"got -3"});
  ExpectError([&] { Dense{2}(Placeholder<float>(g, {4, -1})); }, {"dense", "known", "[4,?]"});
  ExpectError([&] { Dense{2}(Placeholder<float>(g)); }, {"<unknown>"});
  ExpectError([&] { Dense{2}(Placeholder<float>(g, Shape{})); }, {"dense"});
  ExpectError([&] { Dense{int64_t{1} << 62}(Placeholder<float>(g, {1, 1 << 30})); }, {"too large"});
}

TEST(Initializers, HaveTheirMoments) {
  struct Row {
    const char* name;
    Initializer initializer;
    double mean, stddev, limit;
  };
  const double in = 300, out = 200;
  for (const Row& row : {
           Row{"zeros", Zeros(), 0, 0, 0},
           Row{"ones", Ones(), 1, 0, 1},
           Row{"constant", ConstantValue(2.5f), 2.5, 0, 2.5},
           Row{"uniform", Uniform(-1, 3), 1, 4 / std::sqrt(12), 3},
           Row{"normal", Normal(1, 2), 1, 2, 12},
           Row{"truncated", TruncatedNormal(1, 2), 1, 2 * 0.87962566, 5},
           Row{"glorot_uniform", GlorotUniform(), 0, std::sqrt(2 / (in + out)),
               std::sqrt(6 / (in + out))},
           Row{"glorot_normal", GlorotNormal(), 0, std::sqrt(2 / (in + out)), 1},
           Row{"he_uniform", HeUniform(), 0, std::sqrt(2 / in), std::sqrt(6 / in)},
           Row{"he_normal", HeNormal(), 0, std::sqrt(2 / in), 1},
           Row{"lecun_uniform", LecunUniform(), 0, std::sqrt(1 / in), std::sqrt(3 / in)},
           Row{"lecun_normal", LecunNormal(), 0, std::sqrt(1 / in), 1},
       }) {
    SCOPED_TRACE(row.name);
    Graph g;
    const Array<float> got = Session(g).Run(row.initializer({g, Shape{300, 200}, 7}));
    ASSERT_EQ(got.shape(), (Shape{300, 200}));
    double sum = 0, squares = 0, largest = 0;
    for (const float v : got) sum += v;
    const double mean = sum / 60000;
    for (const float v : got) {
      squares += (v - mean) * (v - mean);
      largest = std::max(largest, std::abs(double(v)));
    }
    EXPECT_NEAR(mean, row.mean, 0.02 * row.stddev + 1e-6);
    EXPECT_NEAR(std::sqrt(squares / 60000), row.stddev, 0.02 * row.stddev + 1e-6);
    EXPECT_LE(largest, row.limit * (1 + 1e-6));
  }
}

TEST(Initializers, OrthogonalIsOrthogonal) {
  for (const Shape& shape : {Shape{5, 3}, Shape{3, 5}, Shape{2, 2, 3}}) {
    Graph g;
    const Array<float> got = Session(g).Run(Orthogonal(2)({g, shape, 3}));
    ASSERT_EQ(got.shape(), shape);
    const int64_t columns = shape[shape.rank() - 1], rows = got.size() / columns;
    const bool tall = rows >= columns;
    const int64_t few = std::min(rows, columns), many = std::max(rows, columns);
    auto at = [&](int64_t a, int64_t k) {
      return tall ? got[k * columns + a] : got[a * columns + k];
    };
    for (int64_t a = 0; a < few; ++a) {
      for (int64_t b = 0; b < few; ++b) {
        double dot = 0;
        for (int64_t k = 0; k < many; ++k) dot += at(a, k) * at(b, k);
        EXPECT_NEAR(dot, a == b ? 4 : 0, 1e-5);
      }
    }
  }
}

TEST(Initializers, Identity) {
  Graph g;
  ExpectNear(Session(g).Run(IdentityMatrix(2)({g, Shape{2, 3}, 0})), {2, 0, 0, 0, 2, 0});
  ExpectError([&] { IdentityMatrix()({g, Shape{2}, 0}); }, {"two axes"});
  ExpectError([&] { Orthogonal()({g, Shape{2}, 0}); }, {"two axes"});
}

TEST(Initializers, DependOnSeedAndNameAlone) {
  auto kernels = [](uint64_t scope_seed, uint64_t seed) {
    const SeedScope scope(scope_seed);
    Graph g;
    const auto x = Placeholder<float>(g, {1, 20});
    Dense{20, {}, {.kernel = GlorotUniform(seed)}}(x);
    Dense{20, {}, {.kernel = GlorotUniform(seed)}}(x);
    const auto a = Variable<float>::Of(g, g.FindNode("dense/kernel")).Read();
    const auto b = Variable<float>::Of(g, g.FindNode("dense_1/kernel")).Read();
    const Operation init = InitVariables(g);
    Session session(g);
    session.Run(init);
    const auto first = session.Run(a).ToVector();
    session.Run(init);
    EXPECT_EQ(session.Run(a).ToVector(), first);
    EXPECT_NE(session.Run(b).ToVector(), first);
    return first;
  };
  EXPECT_EQ(kernels(0, 0), kernels(0, 0));
  EXPECT_NE(kernels(0, 0), kernels(1, 0));
  EXPECT_NE(kernels(0, 0), kernels(0, 1));
}

}  // namespace
}  // namespace penstock::nn
