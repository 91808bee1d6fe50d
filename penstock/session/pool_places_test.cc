#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "penstock/session/session.h"

// Max pooling that hands its places to its derivative gives the bits of one that does not.

namespace penstock {
namespace {

struct PoolCase {
  Shape x;
  int64_t window;
  int64_t stride;
  std::string padding;
  std::string data_format = "NHWC";
};

// Few values, so that there are ties, with zeros of both signs, infinities and NaNs among them.
Tensor ManyEquals(const Shape& shape, bool special) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kValues[] = {0.f, -0.f, 1, -1, 2, -kInfinity, -kInfinity, kInfinity, kNan, kNan};
  std::mt19937 random(7);
  Tensor out(DType::kFloat, shape);
  for (int64_t i = 0; i < out.num_elements(); ++i)
    out.mutable_data<float>()[i] = kValues[random() % (special ? 10 : 5)];
  return out;
}

Tensor Uneven(const Shape& shape) {
  Tensor out(DType::kFloat, shape);
  for (int64_t i = 0; i < out.num_elements(); ++i)
    out.mutable_data<float>()[i] = 1.f / static_cast<float>(3 + i % 101);
  return out;
}

// y and dx of x, computed with or without the pass; `is_fed` hides the shape from the compiler.
std::vector<Tensor> PoolBothWays(const PoolCase& c, const Tensor& x, bool with_pass, bool is_fed) {
  Graph graph;
  const bool first = c.data_format == "NCHW";
  const std::vector<int64_t> ksize{1, first ? 1 : c.window, c.window, first ? c.window : 1};
  const std::vector<int64_t> strides{1, first ? 1 : c.stride, c.stride, first ? c.stride : 1};
  AttrMap attrs{{"ksize", ksize},
                {"strides", strides},
                {"padding", c.padding},
                {"data_format", c.data_format}};
  if (c.padding == "EXPLICIT")
    attrs.emplace_back("explicit_paddings", std::vector<int64_t>{0, 0, 1, 0, 0, 1, 0, 0});
  const auto add = [&](NodeSpec spec) {
    Result<NodeId> id = graph.AddNode(std::move(spec));
    EXPECT_TRUE(id.ok()) << id.status().ToString();
    return OutputRef{id.ok() ? *id : kNoNode, 0};
  };
  const Shape known = is_fed ? Shape::Unknown() : x.shape();
  const auto placeholder = [&](const Shape& shape) {
    return add({.op = "Placeholder", .attrs = {{"dtype", DType::kFloat}, {"shape", shape}}});
  };
  const OutputRef in = placeholder(known);
  const OutputRef y = add({.op = "MaxPool", .inputs = {in}, .attrs = attrs});
  const OutputRef dy = placeholder(Shape::Unknown());
  const OutputRef dx = add({.op = "MaxPoolGrad", .inputs = {in, y, dy}, .attrs = attrs});

  LocalSessionOptions options;
  options.threads = 2;
  if (!with_pass) options.disabled_passes = {"pool"};
  const auto session = MakeLocalSession(graph, options);
  auto pooled = session->Run({{in}, {y}, {}}, {&x, 1}, {}, nullptr);
  EXPECT_TRUE(pooled.ok()) << pooled.status().ToString();
  if (!pooled.ok()) return {};
  const std::vector<Tensor> feeds{x, Uneven((*pooled)[0].shape())};
  auto out = session->Run({{in, dy}, {y, dx}, {}}, feeds, {}, nullptr);
  EXPECT_TRUE(out.ok()) << out.status().ToString();
  return out.ok() ? *out : std::vector<Tensor>();
}

TEST(PoolPlaces, KeepTheBits) {
  std::vector<PoolCase> cases;
  for (const int64_t stride : {1, 2, 3}) {
    for (const int64_t channels : {1, 7, 64, 133}) {
      cases.push_back({{2, 9, 8, channels}, 3, stride, "SAME"});
      cases.push_back({{5, 7, 11, channels}, 2, stride, "VALID"});
    }
  }
  cases.push_back({{1, 20, 20, 65}, 16, 1, "SAME"});
  cases.push_back({{2, 7, 6, 64}, 3, 2, "EXPLICIT"});
  cases.push_back({{2, 3, 7, 9}, 3, 2, "SAME", "NCHW"});
  cases.push_back({{0, 7, 6, 5}, 3, 2, "SAME"});
  cases.push_back({{2, 2, 2, 3}, 1, 3, "VALID"});
  for (const PoolCase& c : cases) {
    for (const bool special : {false, true}) {
      const Tensor x = ManyEquals(c.x, special);
      const std::vector<Tensor> wanted = PoolBothWays(c, x, false, false);
      ASSERT_EQ(wanted.size(), 2u);
      for (const bool is_fed : {false, true}) {
        const std::vector<Tensor> got = PoolBothWays(c, x, true, is_fed);
        ASSERT_EQ(got.size(), 2u);
        for (size_t i = 0; i < 2; ++i) {
          EXPECT_TRUE(SameContent(got[i], wanted[i]))
              << (i == 0 ? "y" : "dx") << " of " << c.x.ToString() << ", window " << c.window
              << ", stride " << c.stride << ", " << c.padding << (special ? ", special" : "");
        }
      }
    }
  }
}

}  // namespace
}  // namespace penstock
