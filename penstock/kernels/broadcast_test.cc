#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/broadcast_test.cc"
#include "penstock/kernels/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/kernels/elementwise-inl.h"

#ifndef PENSTOCK_KERNELS_BROADCAST_TEST_OPS_
#define PENSTOCK_KERNELS_BROADCAST_TEST_OPS_
#include <complex>

namespace penstock::kernels {
// Tells operands and their order apart.
struct MixOp {
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x, V y) {
    return x * V(3) - y;
  }
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x, V y, V z) {
    return x * V(3) - y * V(5) + z;
  }
};
struct MixBlocks {
  BlockFn binary[5];  // of 1, 2, 4, 8 and 16 bytes
  BlockFn ternary_float;
};
}  // namespace penstock::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
MixBlocks Mix() {
  using Complex = std::complex<double>;
  return {{&Block<MixOp, uint8_t, uint8_t, uint8_t>, &Block<MixOp, int16_t, int16_t, int16_t>,
           &Block<MixOp, float, float, float>, &Block<MixOp, double, double, double>,
           &Block<MixOp, Complex, Complex, Complex>},
          &Block<MixOp, float, float, float, float>};
}
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "penstock/core/thread_pool.h"
#include "penstock/kernels/broadcast.h"
#include "penstock/kernels/broadcast_plan.h"

namespace penstock::kernels {
HWY_EXPORT(Mix);

namespace {

using Shape = std::vector<int64_t>;

int64_t Count(const Shape& shape) {
  int64_t n = 1;
  for (int64_t dim : shape) n *= dim;
  return n;
}

Shape BroadcastShape(const std::vector<Shape>& shapes) {
  Shape all;
  for (const Shape& shape : shapes) {
    if (shape.size() > all.size()) all.insert(all.begin(), shape.size() - all.size(), 1);
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t& dim = all[all.size() - shape.size() + i];
      if (dim == 1) dim = shape[i];
    }
  }
  return all;
}

// The element of an operand that an output element reads, by the definition of broadcasting.
int64_t Source(const Shape& shape, const Shape& output_shape, int64_t index) {
  int64_t source = 0, stride = 1;
  for (size_t d = output_shape.size(); d-- > 0;) {
    const int64_t coordinate = index % output_shape[d];
    index /= output_shape[d];
    if (d < output_shape.size() - shape.size()) break;
    const int64_t dim = shape[d - (output_shape.size() - shape.size())];
    if (dim != 1) source += coordinate * stride;
    stride *= dim;
  }
  return source;
}

template <class T>
std::vector<T> Sequence(int64_t n, int start) {
  std::vector<T> values(n);
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<T>((i * 7 + start) % 61);
  return values;
}

// Compares RunElementwise with the definition, for float and as many operands as there are shapes.
template <class T>
void Check(BlockFn fn, const std::vector<Shape>& shapes, const ParallelFor& each) {
  const Shape output_shape = BroadcastShape(shapes);
  const int64_t n = Count(output_shape);
  std::vector<std::vector<T>> data;
  std::vector<std::vector<int64_t>> strides;
  std::vector<Operand> operands;
  for (size_t k = 0; k < shapes.size(); ++k) {
    data.push_back(Sequence<T>(Count(shapes[k]), static_cast<int>(k)));
    strides.emplace_back(output_shape.size() + 1);
    BroadcastStrides(shapes[k], output_shape, strides[k].data());
  }
  for (size_t k = 0; k < shapes.size(); ++k) {
    operands.push_back(Operand::Strided(data[k].data(), sizeof(T), strides[k].data()));
  }
  std::vector<T> out(n + 1, T(99));
  RunElementwise(fn, operands, output_shape, out.data(), sizeof(T), 1.0, each);
  for (int64_t i = 0; i < n; ++i) {
    std::vector<T> x;
    for (size_t k = 0; k < shapes.size(); ++k)
      x.push_back(data[k][Source(shapes[k], output_shape, i)]);
    const T expected =
        shapes.size() == 2 ? T(MixOp::Eval(x[0], x[1])) : T(MixOp::Eval(x[0], x[1], x[2]));
    ASSERT_EQ(out[i], expected) << "element " << i << " of " << n;
  }
  ASSERT_EQ(out[n], T(99)) << "wrote past the end";
}

void CheckAllSizes(const Shape& a, const Shape& b, const ParallelFor& each) {
  const MixBlocks mix = HWY_DYNAMIC_DISPATCH(Mix)();
  Check<uint8_t>(mix.binary[0], {a, b}, each);
  Check<int16_t>(mix.binary[1], {a, b}, each);
  Check<float>(mix.binary[2], {a, b}, each);
  Check<double>(mix.binary[3], {a, b}, each);
  Check<std::complex<double>>(mix.binary[4], {a, b}, each);
}

TEST(Broadcast, UsualShapes) {
  ThreadPool pool(3);
  for (const ParallelFor& each : {ParallelFor(), ParallelFor(&pool)}) {
    CheckAllSizes({}, {}, each);
    CheckAllSizes({0, 3}, {3}, each);
    CheckAllSizes({2, 1}, {1, 0}, each);
    CheckAllSizes({5}, {}, each);
    CheckAllSizes({1000, 3}, {3}, each);
    CheckAllSizes({1000, 1}, {1, 3}, each);
    CheckAllSizes({1000, 1}, {1000, 7}, each);
    CheckAllSizes({100, 64}, {64}, each);
    CheckAllSizes({100, 64}, {100, 1}, each);
    CheckAllSizes({7, 3000}, {3000}, each);
    CheckAllSizes({7, 3000}, {7, 1}, each);
    CheckAllSizes({4, 5, 300}, {5, 1}, each);
    CheckAllSizes({30, 50, 30}, {50, 1}, each);
    CheckAllSizes({2, 1, 4}, {3, 1}, each);
    CheckAllSizes({2, 3, 1, 2}, {1, 1, 5, 2}, each);
    CheckAllSizes({1, 2, 1, 2, 1}, {2, 1, 2, 1, 3}, each);
  }
}

TEST(Broadcast, RandomShapes) {
  const MixBlocks mix = HWY_DYNAMIC_DISPATCH(Mix)();
  ThreadPool pool(2);
  std::mt19937 random(1);
  for (int trial = 0; trial < 400; ++trial) {
    const int rank = static_cast<int>(random() % 6);
    Shape full(rank);
    for (auto& dim : full) dim = std::vector<int64_t>{1, 2, 3, 4, 7, 33}[random() % 6];
    if (rank > 0 && trial % 7 == 0) full[rank - 1] = 500 + random() % 700;
    if (Count(full) > 300'000) continue;
    std::vector<Shape> shapes(3, full);
    for (Shape& shape : shapes) {
      for (auto& dim : shape) {
        if (random() % 3 == 0) dim = 1;
      }
      shape.erase(shape.begin(), shape.begin() + random() % (shape.size() + 1));
    }
    shapes[random() % 3] = full;
    Check<float>(mix.ternary_float, shapes, trial % 2 ? ParallelFor(&pool) : ParallelFor());
    if (HasFatalFailure()) FAIL() << "trial " << trial;
  }
}

// As many dimensions as a tensor may have, and as many as can be left of them.
TEST(Broadcast, ManyDimensions) {
  Shape a(254, 1), b(254, 1);
  a[3] = 5, a[100] = 4, b[100] = 4, b[200] = 6, a[253] = 3;
  CheckAllSizes(a, b, ParallelFor());
  Shape checker_a, checker_b;
  for (int d = 0; d < 12; ++d) {
    checker_a.push_back(d % 2 ? 2 : 1);
    checker_b.push_back(d % 2 ? 1 : 2);
  }
  CheckAllSizes(checker_a, checker_b, ParallelFor());
}

TEST(Broadcast, StridesOtherThanOne) {
  const MixBlocks mix = HWY_DYNAMIC_DISPATCH(Mix)();
  // x transposed, and every second element of y.
  const int64_t rows = 40, columns = 700;
  const auto x = Sequence<float>(rows * columns, 1), y = Sequence<float>(2 * columns, 2);
  std::vector<float> out(rows * columns);
  const int64_t x_strides[] = {1, rows}, y_strides[] = {0, 2};
  const Operand operands[] = {Operand::Strided(x.data(), 4, x_strides),
                              Operand::Strided(y.data(), 4, y_strides)};
  const int64_t shape[] = {rows, columns};
  RunElementwise(mix.binary[2], operands, shape, out.data(), 4, 1.0, ParallelFor());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      ASSERT_EQ(out[r * columns + c], x[c * rows + r] * 3 - y[2 * c]) << r << " " << c;
    }
  }
}

TEST(Broadcast, DenseAndScalarOperandsInPlace) {
  const MixBlocks mix = HWY_DYNAMIC_DISPATCH(Mix)();
  ThreadPool pool(2);
  const float two = 2;
  for (int64_t n : {0, 1, 3, 1023, 1024, 1025, 100'000}) {
    for (const ParallelFor& each : {ParallelFor(), ParallelFor(&pool)}) {
      const int64_t shape[] = {n};
      auto x = Sequence<float>(n, 1);
      const auto before = x;
      const Operand right[] = {Operand::Dense(x.data(), 4), Operand::Scalar(&two, 4)};
      RunElementwise(mix.binary[2], right, shape, x.data(), 4, 1.0, each);
      const Operand left[] = {Operand::Scalar(&two, 4), Operand::Dense(x.data(), 4)};
      RunElementwise(mix.binary[2], left, shape, x.data(), 4, 1.0, each);
      for (int64_t i = 0; i < n; ++i) ASSERT_EQ(x[i], 6 - (before[i] * 3 - 2));
    }
  }
}

TEST(BroadcastPlan, MergesWhatAllOperandsWalkThroughAsOne) {
  const int64_t shape[] = {4, 1, 5, 6, 7};
  const int64_t bias[] = {0, 0, 0, 7, 1}, column[] = {30, 0, 6, 1, 0};
  {
    const Operand operands[] = {Operand::Dense(nullptr, 4), Operand::Strided(nullptr, 4, bias)};
    const BroadcastPlan plan(shape, operands);
    ASSERT_EQ(plan.rank(), 2);
    EXPECT_EQ(plan.dim(0), 42);
    EXPECT_EQ(plan.dim(1), 20);
    EXPECT_EQ(plan.kind(0), BroadcastPlan::Kind::kDense);
    EXPECT_EQ(plan.kind(1), BroadcastPlan::Kind::kPeriodic);
    EXPECT_EQ(plan.period(1), 42);
  }
  {
    const Operand operands[] = {Operand::Strided(nullptr, 4, column), Operand::Scalar(nullptr, 4)};
    const BroadcastPlan plan(shape, operands);
    ASSERT_EQ(plan.rank(), 2);
    EXPECT_EQ(plan.dim(0), 7);
    EXPECT_EQ(plan.dim(1), 120);
    EXPECT_EQ(plan.kind(0), BroadcastPlan::Kind::kGeneral);
    EXPECT_EQ(plan.kind(1), BroadcastPlan::Kind::kScalar);
  }
}

}  // namespace
}  // namespace penstock::kernels
#endif
