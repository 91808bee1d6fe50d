#include <gtest/gtest.h>

#include <random>

#include "penstock/penstock.h"

// A recurrent cell as one node computes what its parts do.

namespace penstock {
namespace {

Array<float> Draw(const Shape& shape, std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<size_t>(shape.num_elements()));
  for (float& value : values) value = uniform(random);
  return Array<float>(shape, values);
}

// Two outputs of a cell of `units` units over `rows` rows, with and without the pass.
void Compare(int64_t rows, int64_t units, int threads) {
  std::mt19937 random(static_cast<unsigned>(rows * 100 + units));
  Graph g;
  const auto x = Placeholder<float>(g, {rows, 24});
  const auto c = Placeholder<float>(g, {rows, units});
  const auto weights = Constant(g, Draw({24, 3 * units}, random));
  const auto bias = Constant(g, Draw({3 * units}, random));
  const auto peephole = Constant(g, Draw({units}, random));
  const auto gates = Split(MatMul(x, weights) + bias, 3, 1);
  const auto cell = c * Sigmoid(gates[2] + 1.f) + Sigmoid(gates[0]) * Tanh(gates[1]) * peephole;
  const auto out = Tanh(cell);
  const Array<float> x_value = Draw({rows, 24}, random), c_value = Draw({rows, units}, random);
  Session fused(g, {.threads = threads, .memory_limit = 0, .disabled_passes = {}});
  Session plain(g, {.threads = threads, .memory_limit = 0, .disabled_passes = {"gates"}});
  const auto [a, b] = fused.Run({{x, x_value}, {c, c_value}}, Fetch(cell, out));
  const auto [d, e] = plain.Run({{x, x_value}, {c, c_value}}, Fetch(cell, out));
  for (int64_t i = 0; i < rows * units; ++i) {
    const auto at = static_cast<size_t>(i);
    ASSERT_NEAR(a.ToVector()[at], d.ToVector()[at], 2e-6) << rows << "x" << units << " at " << i;
    ASSERT_NEAR(b.ToVector()[at], e.ToVector()[at], 2e-6) << rows << "x" << units << " at " << i;
  }
}

TEST(Gates, ComputeWhatTheirPartsDo) {
  Compare(16, 128, 2);
  Compare(9, 208, 2);  // neither a whole number of blocks nor of rows
  Compare(32, 48, 1);
}

}  // namespace
}  // namespace penstock
