#include "penstock/kernels/scatter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "penstock/core/thread_pool.h"

namespace penstock::kernels {
namespace {

void AddFloats(const void* const* inputs, uint32_t scalar_mask, void* output, int64_t n) {
  const auto* a = static_cast<const float*>(inputs[0]);
  const auto* b = static_cast<const float*>(inputs[1]);
  for (int64_t i = 0; i < n; ++i) {
    static_cast<float*>(output)[i] = a[i] + b[(scalar_mask & 2) != 0 ? 0 : i];
  }
}

struct Case {
  int64_t rows, columns, updates;
  bool is_scalar;
};

class ScatterTest : public testing::TestWithParam<Case> {};

// Sums of floats depend on their order: equal bits mean equal order.
TEST_P(ScatterTest, HasTheSameBitsForAnyNumberOfThreads) {
  const auto [rows, columns, updates, is_scalar] = GetParam();
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> table(rows * columns), changes(is_scalar ? 1 : updates * columns);
  for (float& x : table) x = uniform(random);
  for (float& x : changes) x = uniform(random);
  std::vector<int64_t> at(updates);
  for (int64_t& row : at) row = static_cast<int64_t>(random() % (rows + 1)) - 1;
  for (const BlockFn fn : {BlockFn(nullptr), BlockFn(&AddFloats)}) {
    std::vector<float> want = table;
    for (int64_t i = 0; i < updates; ++i) {
      for (int64_t c = 0; at[i] >= 0 && c < columns; ++c) {
        const float change = changes[is_scalar ? 0 : i * columns + c];
        float& place = want[at[i] * columns + c];
        place = fn == nullptr ? change : place + change;
      }
    }
    for (const int threads : {1, 2, 3, 7}) {
      ThreadPool pool(threads);
      std::vector<float> got = table;
      const Scatter scatter{got.data(), rows,    columns,        sizeof(float),
                            at.data(),  updates, changes.data(), is_scalar};
      ScatterRows(scatter, fn, 1000, ParallelFor(&pool));
      EXPECT_EQ(got, want) << threads;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ScatterTest,
                         testing::Values(Case{1, 1, 3, false}, Case{5, 3, 0, false},
                                         Case{5, 0, 4, false}, Case{100, 64, 5000, false},
                                         Case{100, 64, 500, true}, Case{3000, 1, 5000, false},
                                         Case{3, 5000, 40, false}, Case{3, 5000, 40, true}));

TEST(FirstOutOfRangeTest, FindsTheFirst) {
  std::vector<int64_t> indices(5000, 3);
  EXPECT_EQ(FirstOutOfRange(indices.data(), 5000, 4), -1);
  EXPECT_EQ(FirstOutOfRange(indices.data(), 0, 0), -1);
  EXPECT_EQ(FirstOutOfRange(indices.data(), 5000, 3), 0);
  indices[4001] = -1;
  indices[4500] = 4;
  EXPECT_EQ(FirstOutOfRange(indices.data(), 5000, 4), 4001);
}

}  // namespace
}  // namespace penstock::kernels
