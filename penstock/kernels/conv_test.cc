#include "penstock/kernels/conv.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "penstock/core/thread_pool.h"
#include "penstock/kernels/conv_candidates.h"
#include "penstock/kernels/conv_parts.h"

namespace penstock::kernels {
namespace {

struct AlignedFree {
  void operator()(void* p) const { std::free(p); }
};

std::vector<float> Noise(int64_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& value : values) value = uniform(random);
  return values;
}

// One convolution's tensors; what a pass computes goes to a vector of its own.
struct Tensors {
  explicit Tensors(const ConvShape& shape)
      : input(Noise(shape.input_size(), 1)),
        filter(Noise(shape.filter_size(), 2)),
        output(Noise(shape.output_size(), 3)),
        bias(Noise(shape.out_channels, 4)) {}

  std::vector<float> Run(const Convolution& plan, ConvPass pass, const ParallelFor& each,
                         bool packed = false) const {
    std::vector<float> result((pass == ConvPass::kForward         ? output
                               : pass == ConvPass::kInputGradient ? input
                                                                  : filter)
                                  .size());
    auto allocate = [](int64_t bytes) {
      return std::unique_ptr<void, AlignedFree>(
          std::aligned_alloc(64, static_cast<size_t>((bytes + 127) / 64 * 64)));
    };
    const auto scratch = allocate(plan.scratch_bytes(each.threads()));
    ConvOperands operands{input.data(), filter.data(), output.data(),
                          bias.data(),  output.data(), result.data()};
    const auto form = allocate(plan.packed_filter_bytes());
    if (packed && plan.packed_filter_bytes() > 0) {
      EXPECT_TRUE(plan.PackFilter(filter.data(), form.get()));
      operands.packed_filter = form.get();
      operands.filter = nullptr;
    }
    EXPECT_TRUE(plan.Run(operands, scratch.get(), each));
    return result;
  }

  std::vector<float> input, filter, output, bias;
};

void ExpectNear(const std::vector<float>& want, const std::vector<float>& got, double scale) {
  ASSERT_EQ(want.size(), got.size());
  double worst = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(want[i]) - got[i]));
  }
  EXPECT_LE(worst, 1e-6 * scale);
}

ConvShape Planar(int64_t batch, int64_t extent, int64_t in, int64_t out, int64_t filter,
                 int64_t stride, int64_t dilation, int64_t groups) {
  ConvShape s;
  s.batch = batch;
  s.in_channels = in;
  s.out_channels = out;
  s.groups = groups;
  s.in = {1, extent, extent + 1};
  s.filter = {1, filter, filter};
  s.stride = {1, stride, stride};
  s.dilation = {1, dilation, dilation};
  for (int axis = 1; axis < 3; ++axis) {
    s.out[axis] = (s.in[axis] - 1) / stride + 1;
    const int64_t needed = (s.out[axis] - 1) * stride + (filter - 1) * dilation + 1 - s.in[axis];
    s.pad[axis] = std::max<int64_t>(0, needed) / 2;
  }
  return s;
}

ConvShape Solid() {
  ConvShape s = Planar(2, 9, 4, 6, 3, 2, 1, 1);
  s.in[0] = 8;
  s.filter[0] = 2;
  s.out[0] = 7;
  return s;
}

const ConvShape kShapes[] = {
    Planar(3, 12, 16, 32, 3, 1, 1, 1),  Planar(1, 64, 32, 48, 3, 1, 1, 1),
    Planar(2, 33, 24, 40, 5, 2, 1, 1),  Planar(4, 20, 64, 16, 1, 1, 1, 1),
    Planar(2, 21, 64, 64, 1, 2, 1, 1),  Planar(1, 56, 3, 64, 7, 2, 1, 1),
    Planar(2, 24, 16, 16, 3, 1, 2, 1),  Planar(2, 15, 32, 32, 3, 1, 1, 32),
    Planar(2, 15, 12, 24, 3, 2, 1, 12), Planar(2, 15, 32, 48, 3, 1, 1, 4),
    Planar(20, 5, 5, 7, 3, 1, 1, 1),    Solid(),
};

TEST(Conv, LibraryAgreesWithLoops) {
  ThreadPool pool(3);
  int taken = 0;
  for (const ConvShape& shape : kShapes) {
    const Tensors tensors(shape);
    for (const ConvPass pass :
         {ConvPass::kForward, ConvPass::kInputGradient, ConvPass::kFilterGradient}) {
      SCOPED_TRACE("pass " + std::to_string(static_cast<int>(pass)) + ", shape " +
                   std::to_string(&shape - kShapes));
      const ConvProblem problem{pass, DType::kFloat, shape, {}};
      const char* why = nullptr;
      const auto direct = MakeDirectConvolution(problem, &why);
      const auto library = MakeOneDnnConvolution(problem, &why);
      if (library == nullptr) continue;
      ++taken;
      const auto got = tensors.Run(*library, pass, ParallelFor());
      const double terms = pass == ConvPass::kFilterGradient
                               ? static_cast<double>(shape.output_size() / shape.out_channels)
                               : static_cast<double>(shape.filter_size());
      ExpectNear(tensors.Run(*direct, pass, ParallelFor()), got, 4 + std::sqrt(terms) * 4);
      EXPECT_EQ(got, tensors.Run(*library, pass, ParallelFor(&pool))) << "threads show";
      EXPECT_EQ(got, tensors.Run(*library, pass, ParallelFor(), /*packed=*/true));
    }
  }
  EXPECT_GT(taken, 20);
}

TEST(Conv, EpiloguesAgree) {
  const ConvShape shape = Planar(2, 14, 16, 32, 3, 1, 1, 1);
  const Tensors tensors(shape);
  for (const Activation activation :
       {Activation::kNone, Activation::kRelu, Activation::kRelu6, Activation::kElu,
        Activation::kTanh, Activation::kSigmoid, Activation::kLeakyRelu}) {
    for (const bool addend : {false, true}) {
      const ConvProblem problem{
          ConvPass::kForward, DType::kFloat, shape, {true, addend, activation, 0.2f}};
      const char* why = nullptr;
      const auto direct = MakeDirectConvolution(problem, &why);
      const auto library = MakeOneDnnConvolution(problem, &why);
      ASSERT_NE(library, nullptr) << why;
      ExpectNear(tensors.Run(*direct, problem.pass, ParallelFor()),
                 tensors.Run(*library, problem.pass, ParallelFor()), 30);
    }
  }
}

// The parts write, each alone, what the whole writes.
TEST(Conv, PartsMakeTheWhole) {
  for (ConvShape shape : {Planar(1, 90, 32, 48, 3, 1, 1, 1), Planar(2, 91, 32, 32, 5, 2, 1, 1),
                          Planar(3, 200, 16, 32, 3, 3, 2, 1)}) {
    const Tensors tensors(shape);
    for (const ConvPass pass :
         {ConvPass::kForward, ConvPass::kInputGradient, ConvPass::kFilterGradient}) {
      const char* why = nullptr;
      const auto parts = SplitConvolution(pass, shape);
      EXPECT_GT(parts.size(), static_cast<size_t>(shape.batch));
      const auto whole = MakeDirectConvolution({pass, DType::kFloat, shape, {}}, &why);
      const auto want = tensors.Run(*whole, pass, ParallelFor());
      std::vector<float> got(want.size());
      for (const ConvPart& part : parts) {
        const auto plan = MakeDirectConvolution({pass, DType::kFloat, part.shape, {}}, &why);
        ConvOperands operands;
        operands.input = tensors.input.data() + part.input_offset;
        operands.filter = tensors.filter.data();
        operands.output = tensors.output.data() + part.output_offset;
        std::vector<float> own(got.size());
        operands.result = pass == ConvPass::kForward         ? got.data() + part.output_offset
                          : pass == ConvPass::kInputGradient ? got.data() + part.input_offset
                                                             : own.data();
        ASSERT_TRUE(plan->Run(operands, nullptr, ParallelFor()));
        if (pass != ConvPass::kFilterGradient) continue;
        for (size_t i = 0; i < own.size(); ++i) got[i] += own[i];
      }
      ExpectNear(want, got, 300);
    }
  }
}

}  // namespace
}  // namespace penstock::kernels
