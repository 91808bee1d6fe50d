#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "penstock/core/thread_pool.h"
#include "penstock/kernels/conv.h"
#include "penstock/kernels/conv_candidates.h"
#include "penstock/kernels/targets.h"
#include "penstock/kernels/winograd/plan.h"
//
#include "hwy/highway.h"

namespace penstock::kernels::winograd {
namespace {

constexpr ConvPass kPasses[] = {ConvPass::kForward, ConvPass::kInputGradient,
                                ConvPass::kFilterGradient};

// Runs `check` with each instruction set that this machine has.
template <class Check>
void OnEachTarget(Check check) {
  const int64_t all = hwy::SupportedTargets();
  for (int64_t rest = all & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

struct AlignedFree {
  void operator()(void* p) const { std::free(p); }
};
using Memory = std::unique_ptr<void, AlignedFree>;

// Full of NaNs, which show when they are read.
Memory Allocate(int64_t bytes) {
  const size_t size = static_cast<size_t>((bytes + 127) / 64 * 64);
  Memory memory(std::aligned_alloc(64, size));
  std::fill_n(static_cast<float*>(memory.get()), size / sizeof(float), std::nanf(""));
  return memory;
}

template <class T>
std::vector<T> Noise(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<T> values(static_cast<size_t>(n));
  for (T& value : values) value = static_cast<T>(uniform(random));
  return values;
}

// One pass over noise, in float or double from the same numbers.
template <class T>
std::vector<T> Compute(const Convolution& plan, const ConvProblem& problem, const ParallelFor& each,
                       bool packed = false) {
  const ConvShape& s = problem.shape;
  const auto input = Noise<T>(s.input_size(), 1), filter = Noise<T>(s.filter_size(), 2);
  const auto output = Noise<T>(s.output_size(), 3), bias = Noise<T>(s.out_channels, 4);
  const int64_t sizes[] = {s.output_size(), s.input_size(), s.filter_size()};
  std::vector<T> result(static_cast<size_t>(sizes[static_cast<int>(problem.pass)]),
                        static_cast<T>(std::nan("")));
  ConvOperands operands{input.data(), filter.data(), output.data(),
                        bias.data(),  output.data(), result.data()};
  const Memory form = Allocate(plan.packed_filter_bytes());
  if (packed && plan.packed_filter_bytes() > 0) {
    EXPECT_TRUE(plan.PackFilter(filter.data(), form.get()));
    operands.packed_filter = form.get();
    operands.filter = nullptr;
  }
  const Memory scratch = Allocate(plan.scratch_bytes(each.threads()));
  EXPECT_TRUE(plan.Run(operands, scratch.get(), each));
  return result;
}

ConvShape Planar(int64_t batch, int64_t height, int64_t width, int64_t in, int64_t out,
                 int64_t filter, int64_t top, int64_t left, int64_t more_rows = 0) {
  ConvShape s;
  s.batch = batch;
  s.in_channels = in;
  s.out_channels = out;
  s.in = {1, height, width};
  s.filter = {1, filter, filter};
  s.pad = {0, top, left};
  // As much padding behind as before, and some more rows.
  s.out = {1, height + 2 * top - filter + 1 + more_rows, width + 2 * left - filter + 1};
  return s;
}

std::unique_ptr<Convolution> Make(Form form, const ConvProblem& problem) {
  switch (problem.pass) {
    case ConvPass::kForward:
      return MakeForward(form, problem);
    case ConvPass::kInputGradient:
      return MakeInputGradient(form, problem);
    case ConvPass::kFilterGradient:
      return MakeFilterGradient(form, problem);
  }
  return nullptr;
}

std::vector<double> Exact(const ConvProblem& problem) {
  const ConvProblem exact{problem.pass, DType::kDouble, problem.shape, {}};
  const char* why = nullptr;
  return Compute<double>(*MakeDirectConvolution(exact, &why), exact, ParallelFor());
}

// The largest error beside the largest result.
double WorstError(const std::vector<double>& want, const std::vector<float>& got) {
  EXPECT_EQ(want.size(), got.size());
  double largest = 0, error = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    largest = std::max(largest, std::fabs(want[i]));
    const double off = std::fabs(want[i] - static_cast<double>(got[i]));
    error = std::isnan(off) ? INFINITY : std::max(error, off);
  }
  return largest == 0 ? error : error / largest;
}

const ConvShape kShapes[] = {
    Planar(1, 8, 8, 16, 16, 3, 1, 1),   Planar(2, 13, 14, 32, 48, 3, 1, 1),
    Planar(3, 7, 5, 17, 33, 3, 1, 1),   Planar(1, 9, 30, 16, 40, 3, 0, 2),
    Planar(2, 3, 3, 20, 16, 3, 0, 0),   Planar(2, 6, 11, 1, 3, 3, 1, 0),
    Planar(1, 1, 1, 16, 16, 3, 1, 1),   Planar(1, 10, 9, 16, 64, 3, 3, 2),
    Planar(1, 5, 6, 160, 80, 3, 1, 1),  Planar(1, 8, 8, 24, 24, 3, 1, 1, 3),
    Planar(2, 14, 13, 16, 32, 5, 2, 2), Planar(1, 27, 9, 24, 17, 5, 2, 2),
    Planar(3, 5, 5, 48, 16, 5, 0, 0),   Planar(1, 12, 12, 5, 2, 5, 4, 3),
    Planar(9, 16, 16, 16, 16, 5, 2, 2), Planar(40, 12, 12, 16, 16, 3, 1, 1),
};

TEST(Winograd, AgreesWithExactSums) {
  ThreadPool pool(3);
  for (const ConvShape& shape : kShapes) {
    for (const ConvPass pass : kPasses) {
      const ConvProblem problem{pass, DType::kFloat, shape, {}};
      const std::vector<double> want = Exact(problem);
      for (const Form form : {Form::kF2x3, Form::kF4x3, Form::kF4x5}) {
        if (SizesOf(form).taps != shape.filter[1]) continue;
        SCOPED_TRACE("form " + std::to_string(static_cast<int>(form)) + ", pass " +
                     std::to_string(static_cast<int>(pass)) + ", shape " +
                     std::to_string(&shape - kShapes));
        const auto plan = Make(form, problem);
        OnEachTarget([&] {
          const auto got = Compute<float>(*plan, problem, ParallelFor());
          EXPECT_LE(WorstError(want, got), form == Form::kF4x5 ? 1.2e-5 : 3e-6);
          EXPECT_EQ(got, Compute<float>(*plan, problem, ParallelFor(&pool))) << "threads show";
          EXPECT_EQ(got, Compute<float>(*plan, problem, ParallelFor(), /*packed=*/true));
        });
      }
    }
  }
}

// More channels and tiles than a thread takes at a time, or than fit the memory, on both ways
// through the operands.
TEST(Winograd, CutsLargeProducts) {
  struct Case {
    Form form;
    ConvShape shape;
  };
  const Case cases[] = {
      {Form::kF4x3, Planar(4, 26, 25, 40, 150, 3, 1, 1)},   // more tiles than columns
      {Form::kF4x3, Planar(1, 30, 30, 40, 160, 3, 1, 1)},   // fewer
      {Form::kF4x5, Planar(2, 24, 24, 32, 140, 5, 2, 2)},   //
      {Form::kF2x3, Planar(1, 8, 10, 41000, 16, 3, 1, 1)},  // an input in two parts
      {Form::kF4x3, Planar(1, 5, 5, 3200, 96, 3, 1, 1)},    // sums in two passes
  };
  ThreadPool pool(2);
  for (const auto& [form, shape] : cases) {
    for (const ConvPass pass : kPasses) {
      SCOPED_TRACE(std::to_string(shape.in_channels) + " channels, pass " +
                   std::to_string(static_cast<int>(pass)));
      const ConvProblem problem{pass, DType::kFloat, shape, {}};
      const auto plan = Make(form, problem);
      const auto got = Compute<float>(*plan, problem, ParallelFor());
      EXPECT_LE(WorstError(Exact(problem), got), 1.2e-5);
      EXPECT_EQ(got, Compute<float>(*plan, problem, ParallelFor(&pool))) << "threads show";
    }
  }
}

// The bits of the separate ops, at the edges of images and of panels as well.
TEST(Winograd, FinishesOutputs) {
  const ConvShape shape = Planar(2, 9, 10, 16, 24, 3, 1, 1);
  const ConvProblem plain{ConvPass::kForward, DType::kFloat, shape, {}};
  const auto sums = Compute<float>(*MakeForward(Form::kF4x3, plain), plain, ParallelFor());
  const auto bias = Noise<float>(shape.out_channels, 4);
  const auto addend = Noise<float>(shape.output_size(), 3);
  for (const bool with_bias : {false, true}) {
    for (const bool with_addend : {false, true}) {
      const ConvProblem problem{
          ConvPass::kForward, DType::kFloat, shape, {with_bias, with_addend, Activation::kRelu, 0}};
      auto want = sums;
      ApplyEpilogue(problem.epilogue, shape.output_size() / shape.out_channels, shape.out_channels,
                    want.data(), shape.out_channels, bias.data(), addend.data());
      EXPECT_EQ(want, Compute<float>(*MakeForward(Form::kF4x3, problem), problem, ParallelFor()));
    }
  }
}

// Outputs that are written past the caches are those that are not.
TEST(Winograd, StreamsLargeOutputs) {
  const ConvShape small = Planar(1, 130, 130, 16, 128, 3, 1, 1);
  ConvShape large = small;
  large.batch = 2;
  ASSERT_LT(small.output_size(), int64_t{4} << 20);
  ASSERT_GE(large.output_size(), int64_t{4} << 20);
  const ConvProblem one{ConvPass::kForward, DType::kFloat, small, {}};
  const ConvProblem two{ConvPass::kForward, DType::kFloat, large, {}};
  const auto want = Compute<float>(*MakeForward(Form::kF4x3, one), one, ParallelFor());
  auto got = Compute<float>(*MakeForward(Form::kF4x3, two), two, ParallelFor());
  got.resize(want.size());
  EXPECT_EQ(want, got);
}

TEST(Winograd, TakesWhatItMakesFaster) {
  auto chosen = [](const ConvShape& shape, ConvPass pass = ConvPass::kForward,
                   DType dtype = DType::kFloat) {
    const char* why = nullptr;
    const Form* form = ChooseForm({pass, dtype, shape, {}}, &why);
    EXPECT_EQ(form == nullptr, why != nullptr);
    return form == nullptr ? -1 : static_cast<int>(*form);
  };
  constexpr int kF2x3 = 0, kF4x3 = 1, kF4x5 = 2, kNone = -1;
  for (const ConvPass pass : kPasses) {
    EXPECT_EQ(chosen(Planar(16, 56, 56, 128, 256, 3, 1, 1), pass), kF4x3);
    EXPECT_EQ(chosen(Planar(16, 27, 27, 64, 192, 5, 2, 2), pass), kF4x5);
    EXPECT_EQ(chosen(Planar(16, 28, 28, 256, 64, 1, 0, 0), pass), kNone);
  }
  EXPECT_EQ(chosen(Planar(64, 2, 2, 256, 256, 3, 1, 1)), kF2x3);  // one tile of 2 x 2 each
  EXPECT_EQ(chosen(Planar(1, 7, 7, 512, 512, 3, 1, 1)), kNone);   // the filter outweighs all
  EXPECT_EQ(chosen(Planar(16, 56, 56, 8, 64, 3, 1, 1)), kNone);   // too few channels
  EXPECT_EQ(chosen(Planar(16, 224, 224, 3, 64, 3, 1, 1)), kNone);
  ConvShape strided = Planar(16, 56, 56, 64, 64, 3, 1, 1);
  strided.stride = {1, 2, 2};
  strided.out = {1, 28, 28};
  EXPECT_EQ(chosen(strided), kNone);
  ConvShape grouped = Planar(16, 56, 56, 64, 64, 3, 1, 1);
  grouped.groups = 2;
  EXPECT_EQ(chosen(grouped), kNone);
  EXPECT_EQ(chosen(Planar(16, 56, 56, 64, 64, 3, 1, 1), ConvPass::kForward, DType::kDouble), kNone);
}

}  // namespace
}  // namespace penstock::kernels::winograd
