#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/elementwise_test.cc"
#include "penstock/kernels/targets.h"
//
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"
#include "penstock/kernels/elementwise-inl.h"
#include "penstock/kernels/math_rounding.h"

#ifndef PENSTOCK_KERNELS_ELEMENTWISE_TEST_OPS_
#define PENSTOCK_KERNELS_ELEMENTWISE_TEST_OPS_
namespace penstock::kernels {
struct NegateOp {
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x) {
    return -x;
  }
};
struct SubtractOp {
  template <class V>
  PENSTOCK_SCALAR static V Eval(V x, V y) {
    return x - y;
  }
};
struct LessOp {
  template <class V>
  PENSTOCK_SCALAR static bool Eval(V x, V y) {
    return x < y;
  }
};
struct SelectOp {
  template <class V>
  PENSTOCK_SCALAR static V Eval(bool c, V x, V y) {
    return math::Select(c, x, y);
  }
};
struct AndOp {
  PENSTOCK_SCALAR static bool Eval(bool x, bool y) { return x && y; }
};
struct TestBlocks {
  BlockFn negate_float, negate_half, negate_double;
  BlockFn subtract_float, subtract_half, subtract_bfloat16, subtract_int64;
  BlockFn less_float, less_half;
  BlockFn select_float, select_half;
  BlockFn and_bool, select_bool;
};
}  // namespace penstock::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
TestBlocks Blocks() {
  return {&Block<NegateOp, float, float>,
          &Block<NegateOp, half, half>,
          &Block<NegateOp, double, double>,
          &Block<SubtractOp, float, float, float>,
          &Block<SubtractOp, half, half, half>,
          &Block<SubtractOp, bfloat16, bfloat16, bfloat16>,
          &Block<SubtractOp, int64_t, int64_t, int64_t>,
          &Block<LessOp, bool, float, float>,
          &Block<LessOp, bool, half, half>,
          &Block<SelectOp, float, bool, float, float>,
          &Block<SelectOp, half, bool, half, half>,
          &Block<AndOp, bool, bool, bool>,
          &Block<SelectOp, bool, bool, bool, bool>};
}
}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace penstock::kernels {
HWY_EXPORT(Blocks);

// Runs `check` with the blocks of each instruction set that this machine has.
template <class Check>
void OnEachTarget(Check check) {
  const int64_t all = hwy::SupportedTargets();
  for (int64_t rest = all & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    check(HWY_DYNAMIC_DISPATCH(Blocks)());
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Values that all the types hold exactly, so that results are compared bit for bit.
template <class T>
std::vector<T> Values(int64_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(n);
  for (auto& v : values) v = static_cast<T>(static_cast<float>(random() % 64) - 32);
  return values;
}
template <>
std::vector<bool> Values<bool>(int64_t n, unsigned seed) = delete;

template <class T>
void CheckUnary(BlockFn fn) {
  for (int64_t n = 0; n <= 67; ++n) {
    for (uint32_t mask = 0; mask < 2; ++mask) {
      const auto x = Values<T>(n + 1, n);
      std::vector<T> out(n + 1, T(99));
      const void* inputs[] = {x.data()};
      fn(inputs, mask, out.data(), n);
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(float(out[i]), -float(x[mask ? 0 : i])) << n << " " << mask;
      ASSERT_EQ(float(out[n]), 99.0f) << "wrote past the end, n = " << n;
    }
  }
}

template <class R, class T, class Expected>
void CheckBinary(BlockFn fn, Expected expected) {
  for (int64_t n = 0; n <= 67; ++n) {
    for (uint32_t mask = 0; mask < 4; ++mask) {
      const auto x = Values<T>(n + 1, n), y = Values<T>(n + 1, n + 100);
      auto out = std::make_unique<R[]>(n + 1);
      out[n] = R(1);
      const void* inputs[] = {x.data(), y.data()};
      fn(inputs, mask, out.get(), n);
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(out[i], R(expected(x[mask & 1 ? 0 : i], y[mask & 2 ? 0 : i])))
            << n << " " << mask;
      }
      ASSERT_EQ(out[n], R(1)) << "wrote past the end, n = " << n;
    }
  }
}

template <class T>
void CheckSelect(BlockFn fn) {
  for (int64_t n : {0, 1, 2, 3, 31, 67, 255, 256, 257, 1000}) {
    for (uint32_t mask = 0; mask < 8; ++mask) {
      auto c = std::make_unique<bool[]>(n + 1);
      for (int64_t i = 0; i < n; ++i) c[i] = (i * 7 + n) % 3 == 0;
      const auto x = Values<T>(n + 1, 1), y = Values<T>(n + 1, 2);
      std::vector<T> out(n + 1, T(99));
      const void* inputs[] = {c.get(), x.data(), y.data()};
      fn(inputs, mask, out.data(), n);
      for (int64_t i = 0; i < n; ++i) {
        const T expected = c[mask & 1 ? 0 : i] ? x[mask & 2 ? 0 : i] : y[mask & 4 ? 0 : i];
        ASSERT_EQ(out[i], expected) << n << " " << mask;
      }
      ASSERT_EQ(float(out[n]), 99.0f);
    }
  }
}

TEST(Elementwise, Unary) {
  OnEachTarget([](const TestBlocks& blocks) {
    CheckUnary<float>(blocks.negate_float);
    CheckUnary<half>(blocks.negate_half);
    CheckUnary<double>(blocks.negate_double);
  });
}

TEST(Elementwise, BinaryAllMasks) {
  const auto subtract = [](auto x, auto y) { return x - y; };
  const auto less = [](auto x, auto y) { return x < y; };
  OnEachTarget([&](const TestBlocks& blocks) {
    CheckBinary<float, float>(blocks.subtract_float, subtract);
    CheckBinary<half, half>(blocks.subtract_half, subtract);
    CheckBinary<bfloat16, bfloat16>(blocks.subtract_bfloat16, subtract);
    CheckBinary<int64_t, int64_t>(blocks.subtract_int64, subtract);
    CheckBinary<bool, float>(blocks.less_float, less);
    CheckBinary<bool, half>(blocks.less_half, less);
  });
}

TEST(Elementwise, TernaryAllMasks) {
  OnEachTarget([](const TestBlocks& blocks) {
    CheckSelect<float>(blocks.select_float);
    CheckSelect<half>(blocks.select_half);
  });
}

// Any byte but 0 is true.
TEST(Elementwise, BoolsAreReadAsBytes) {
  OnEachTarget([](const TestBlocks& blocks) {
    const uint8_t x[] = {0, 1, 2, 255, 0, 1, 2, 255, 1}, y[] = {1, 1, 1, 1, 0, 0, 0, 0, 128};
    const void* inputs[] = {x, y, x};
    for (int64_t n : {1, 4, 9}) {
      bool both[9], either[9];
      blocks.and_bool(inputs, 0, both, n);
      blocks.select_bool(inputs, 0, either, n);
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(both[i], x[i] != 0 && y[i] != 0);
        ASSERT_EQ(either[i], x[i] != 0 ? y[i] != 0 : x[i] != 0);
      }
    }
  });
}

TEST(Elementwise, OutputMayBeAnOperand) {
  OnEachTarget([](const TestBlocks& blocks) {
    for (int64_t n = 1; n <= 67; ++n) {
      for (int which = 0; which < 2; ++which) {
        for (uint32_t mask : {0u, which == 0 ? 2u : 1u}) {
          std::vector<float> operands[] = {Values<float>(n, 3), Values<float>(n, 4)};
          const auto x = operands[0], y = operands[1];
          const void* inputs[] = {operands[0].data(), operands[1].data()};
          blocks.subtract_float(inputs, mask, operands[which].data(), n);
          for (int64_t i = 0; i < n; ++i) {
            ASSERT_EQ(operands[which][i], x[mask & 1 ? 0 : i] - y[mask & 2 ? 0 : i]);
          }
        }
      }
    }
  });
}

}  // namespace penstock::kernels
#endif
