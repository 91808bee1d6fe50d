#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/fused_test.cc"
#include "penstock/kernels/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/kernels/elementwise-inl.h"
#include "penstock/kernels/math.h"

#ifndef PENSTOCK_KERNELS_FUSED_TEST_OPS_
#define PENSTOCK_KERNELS_FUSED_TEST_OPS_
namespace penstock::kernels {
struct FusedAdd {
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x, V y) {
    return x + y;
  }
};
struct FusedSubtract {
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x, V y) {
    return x - y;
  }
};
struct FusedMultiply {
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x, V y) {
    return x * y;
  }
};
struct FusedTanh {
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x) {
    return math::Tanh(x);
  }
};
struct FusedLess {
  template <class V>
  PENSTOCK_SCALAR static bool Eval(V x, V y) {
    return x < y;
  }
};
struct FusedSelect {
  template <class V>
  PENSTOCK_SCALAR static V Eval(bool c, V x, V y) {
    return math::Select(c, x, y);
  }
};
struct FusedTwice {  // float to double
  PENSTOCK_SCALAR static double Eval(float x) { return 2.0 * x; }
};
struct FusedHalf {  // double to float
  PENSTOCK_SCALAR static float Eval(double x) { return static_cast<float>(0.5 * x); }
};
struct FusedBlocks {
  BlockFn add, subtract, multiply, tanh, less, select, twice, half;
};
}  // namespace penstock::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
FusedBlocks FusedBlocksOf() {
  return {
      &Block<FusedAdd, float, float, float>,      &Block<FusedSubtract, float, float, float>,
      &Block<FusedMultiply, float, float, float>, &Block<FusedTanh, float, float>,
      &Block<FusedLess, bool, float, float>,      &Block<FusedSelect, float, bool, float, float>,
      &Block<FusedTwice, double, float>,          &Block<FusedHalf, float, double>};
}
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "penstock/core/thread_pool.h"
#include "penstock/kernels/fused.h"

namespace penstock::kernels {
HWY_EXPORT(FusedBlocksOf);

namespace {

using Shape = std::vector<int64_t>;

FusedBlocks Blocks() { return HWY_DYNAMIC_DISPATCH(FusedBlocksOf)(); }

std::vector<float> Values(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(n);
  for (float& v : values) v = static_cast<float>(random() % 4001) / 1000 - 2;
  return values;
}

int64_t Count(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

// An input of any shape, together with what it is read through.
struct Input {
  Input(const Shape& shape, const Shape& output_shape, unsigned seed)
      : data(Values(Count(shape), seed)), strides(output_shape.size() + 1) {
    BroadcastStrides(shape, output_shape, strides.data());
  }
  Operand operand() const { return Operand::Strided(data.data(), 4, strides.data()); }
  // The element that output element i reads.
  float at(const Shape& output_shape, int64_t i) const {
    int64_t offset = 0;
    for (size_t d = output_shape.size(); d-- > 0; i /= output_shape[d]) {
      offset += i % output_shape[d] * strides[d];
    }
    return data[offset];
  }
  std::vector<float> data;
  std::vector<int64_t> strides;
};

// x * w + b, tanh, and where it is less than x, x.
FusedProgram Chain() {
  const FusedBlocks b = Blocks();
  FusedProgram program{.num_inputs = 3,
                       .instructions = {{b.multiply, 2, {0, 1}, 3, 4},
                                        {b.add, 2, {3, 2}, 4, 4},
                                        {b.tanh, 1, {4}, 5, 4},
                                        {b.less, 2, {5, 0}, 6, 1},
                                        {b.select, 3, {6, 0, 5}, 7, 4}},
                       .outputs = {7}};
  AssignRegisters(program);
  return program;
}
// The same one element at a time, by the same block functions, so that results are compared
// exactly.
float ChainOf(const FusedBlocks& blocks, float x, float w, float b) {
  const auto binary = [](BlockFn fn, float left, float right) {
    const void* inputs[] = {&left, &right};
    float result;
    fn(inputs, 0, &result, 1);
    return result;
  };
  const float sum = binary(blocks.add, binary(blocks.multiply, x, w), b);
  const void* inputs[] = {&sum};
  float y;
  blocks.tanh(inputs, 0, &y, 1);
  return y < x ? x : y;
}

TEST(Fused, RegistersAreUsedAgain) {
  const FusedProgram program = Chain();
  EXPECT_EQ(program.num_registers, 2);  // one for the floats, and the bool beside it
  EXPECT_EQ(program.register_bytes, 4);
  EXPECT_EQ(program.places[3].register_index, program.places[4].register_index);
  EXPECT_NE(program.places[5].register_index, program.places[6].register_index);
  EXPECT_EQ(program.places[7].output, 0);
  EXPECT_TRUE(MayShareBuffer(program, 0, 0));
}

TEST(Fused, SharingABufferNeedsAnInputThatIsDone) {
  const FusedBlocks b = Blocks();
  FusedProgram program{.num_inputs = 2,
                       .instructions = {{b.add, 2, {0, 1}, 2, 4}, {b.add, 2, {2, 1}, 3, 4}},
                       .outputs = {2, 3}};
  EXPECT_TRUE(MayShareBuffer(program, 0, 0));
  EXPECT_FALSE(MayShareBuffer(program, 0, 1));
  EXPECT_TRUE(MayShareBuffer(program, 1, 1));
}

void CheckChain(const std::vector<Shape>& shapes, const Shape& output_shape,
                const ParallelFor& each) {
  const FusedBlocks blocks = Blocks();
  const FusedProgram program = Chain();
  std::vector<Input> inputs;
  std::vector<Operand> operands;
  for (size_t k = 0; k < 3; ++k)
    inputs.emplace_back(shapes[k], output_shape, static_cast<unsigned>(k));
  for (const Input& input : inputs) operands.push_back(input.operand());
  const int64_t n = Count(output_shape);
  std::vector<float> out(n + 1, 99.0f);
  void* outputs[] = {out.data()};
  RunFused(program, operands, output_shape, outputs, 4.0, each);
  for (int64_t i = 0; i < n; ++i) {
    const auto at = [&](int k) { return inputs[k].at(output_shape, i); };
    ASSERT_EQ(out[i], ChainOf(blocks, at(0), at(1), at(2))) << "element " << i << " of " << n;
  }
  ASSERT_EQ(out[n], 99.0f) << "wrote past the end";
}

TEST(Fused, AgreesWithAPlainLoop) {
  ThreadPool pool(3);
  for (const ParallelFor& each : {ParallelFor(), ParallelFor(&pool)}) {
    for (int64_t n = 0; n <= 67; ++n) CheckChain({{n}, {n}, {n}}, {n}, each);
    CheckChain({{100'001}, {}, {1}}, {100'001}, each);
    CheckChain({{300, 200}, {200}, {300, 1}}, {300, 200}, each);
    CheckChain({{5000, 3}, {3}, {5000, 1}}, {5000, 3}, each);
    CheckChain({{1}, {1, 700}, {40, 1}}, {40, 700}, each);
    CheckChain({{4, 5000}, {5000}, {4, 1}}, {4, 5000}, each);
    CheckChain({{2, 1, 4}, {3, 1}, {}}, {2, 3, 4}, each);
    CheckChain({{}, {}, {}}, {7, 3}, each);
  }
}

TEST(Fused, RandomShapes) {
  ThreadPool pool(2);
  std::mt19937 random(3);
  for (int trial = 0; trial < 200; ++trial) {
    Shape full(random() % 5);
    for (auto& dim : full) dim = std::vector<int64_t>{1, 2, 3, 7, 40}[random() % 5];
    if (!full.empty() && trial % 5 == 0) full.back() = 300 + random() % 1000;
    if (Count(full) > 200'000) continue;
    std::vector<Shape> shapes(3, full);
    for (Shape& shape : shapes) {
      for (auto& dim : shape) {
        if (random() % 3 == 0) dim = 1;
      }
      shape.erase(shape.begin(), shape.begin() + random() % (shape.size() + 1));
    }
    CheckChain(shapes, full, trial % 2 ? ParallelFor(&pool) : ParallelFor());
    if (HasFatalFailure()) FAIL() << "trial " << trial;
  }
}

TEST(Fused, SeveralOutputsAndElementSizesInPlace) {
  const FusedBlocks b = Blocks();
  FusedProgram program{.num_inputs = 2,
                       .instructions = {{b.add, 2, {0, 1}, 2, 4},
                                        {b.twice, 1, {2}, 3, 8},
                                        {b.half, 1, {3}, 4, 4},
                                        {b.multiply, 2, {4, 4}, 5, 4},
                                        {b.subtract, 2, {5, 2}, 6, 4}},
                       .outputs = {2, 3, 6}};
  AssignRegisters(program);
  const int64_t n = 10'007;
  auto x = Values(n, 1), y = Values(n, 2);
  const auto x0 = x, y0 = y;
  std::vector<double> doubled(n);
  const Operand inputs[] = {Operand::Dense(x.data(), 4), Operand::Dense(y.data(), 4)};
  void* outputs[] = {x.data(), doubled.data(), y.data()};
  const int64_t shape[] = {n};
  RunFused(program, inputs, shape, outputs, 4.0, ParallelFor());
  for (int64_t i = 0; i < n; ++i) {
    const float sum = x0[i] + y0[i];
    const volatile float square = sum * sum;
    ASSERT_EQ(x[i], sum);
    ASSERT_EQ(doubled[i], 2.0 * sum);
    ASSERT_EQ(y[i], square - sum);
  }
}

// sum, mean, max of (x - y)^2 over the innermost dimensions or all, against double.
void CheckReduction(const Shape& shape, int num_dims, ReduceKind kind) {
  const FusedBlocks b = Blocks();
  FusedProgram program{
      .num_inputs = 2,
      .instructions = {{b.subtract, 2, {0, 1}, 2, 4}, {b.multiply, 2, {2, 2}, 3, 4}},
      .reduction = FusedReduction{FoldKernelsOf<float>(kind), 3, 4, num_dims}};
  AssignRegisters(program);
  const Input x(shape, shape, 1), y(shape.empty() ? Shape{} : Shape{shape.back()}, shape, 2);
  const Operand inputs[] = {x.operand(), y.operand()};
  int64_t row = 1;
  const size_t reduced = num_dims < 0 ? shape.size() : num_dims;
  for (size_t d = shape.size() - reduced; d < shape.size(); ++d) row *= shape[d];
  int64_t rows = 1;
  for (size_t d = 0; d < shape.size() - reduced; ++d) rows *= shape[d];

  std::vector<std::vector<float>> results;
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    std::vector<float> out(rows + 1, 99.0f);
    void* outputs[] = {out.data()};
    RunFused(program, inputs, shape, outputs, 4.0, ParallelFor(&pool));
    ASSERT_EQ(out[rows], 99.0f);
    results.push_back(out);
  }
  for (int other : {1, 2}) {  // bit for bit: a NaN equals itself
    EXPECT_EQ(std::memcmp(results[0].data(), results[other].data(), rows * sizeof(float)), 0);
  }
  for (int64_t r = 0; r < rows; ++r) {
    double sum = 0, max = -INFINITY;
    for (int64_t i = r * row; i < (r + 1) * row; ++i) {
      const float difference = x.at(shape, i) - y.at(shape, i);
      sum += difference * difference;
      max = std::max<double>(max, difference * difference);
    }
    const double expected = kind == ReduceKind::kMax   ? max
                            : kind == ReduceKind::kSum ? sum
                                                       : sum / row;
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(results[0][r]));
    } else if (std::isinf(expected)) {
      ASSERT_EQ(results[0][r], expected);
    } else {
      ASSERT_NEAR(results[0][r], expected, 1e-6 * std::fabs(expected))
          << "row " << r << " of " << rows;
    }
  }
}

TEST(Fused, Reduction) {
  for (ReduceKind kind : {ReduceKind::kSum, ReduceKind::kMean, ReduceKind::kMax}) {
    CheckReduction({}, -1, kind);
    CheckReduction({1000}, -1, kind);
    CheckReduction({700, 1000}, -1, kind);
    CheckReduction({1'000'003}, -1, kind);
    CheckReduction({100, 3}, 1, kind);
    CheckReduction({50'000, 3}, 1, kind);
    CheckReduction({50, 40, 30}, 1, kind);
    CheckReduction({50, 40, 30}, 2, kind);
    CheckReduction({50, 40, 30}, 0, kind);
    CheckReduction({7, 3000}, 1, kind);
    CheckReduction({3, 200'000}, 1, kind);
    CheckReduction({5, 0}, 1, kind);
    CheckReduction({0, 5}, 1, kind);
    CheckReduction({0}, -1, kind);
    CheckReduction({300, 1, 257}, 1, kind);
  }
}

}  // namespace
}  // namespace penstock::kernels
#endif
