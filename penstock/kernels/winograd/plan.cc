#include "penstock/kernels/winograd/plan.h"

#include <utility>

#include "penstock/kernels/winograd/units.h"

namespace penstock::kernels {
namespace winograd {
namespace {

constexpr Form kForms[] = {Form::kF2x3, Form::kF4x3, Form::kF4x5};

const char* Unfit(const ConvProblem& problem) {
  const ConvShape& s = problem.shape;
  if (problem.dtype != DType::kFloat) return "it computes in float only";
  if (s.groups != 1) return "the channels are in groups";
  if (s.in[0] != 1 || s.filter[0] != 1 || s.out[0] != 1 || s.pad[0] != 0) {
    return "it has three axes";
  }
  const ConvShape::Extents ones = {1, 1, 1};
  if (s.stride != ones || s.dilation != ones) return "its stride or dilation is not 1";
  if (s.filter[1] != s.filter[2] || (s.filter[1] != 3 && s.filter[1] != 5)) {
    return "the filter is neither 3x3 nor 5x5";
  }
  if (s.in_channels < kPanel || s.out_channels < kPanel) return "it has fewer than 16 channels";
  constexpr int64_t kMost = int64_t{1} << 31;
  if (s.input_size() / s.batch >= kMost || s.output_size() / s.batch >= kMost ||
      s.filter_size() >= kMost / 4) {
    return "an image or the filter has too many elements";
  }
  return nullptr;
}

// In units of one multiplication of a large product. The constants were fitted to times on AVX-512:
// a value at a point costs so much to compute from a tile or to turn into one, and to compute from
// a filter.
double Cost(const Sizes& s) {
  constexpr double kPerTile = 12, kPerFilter = 32;
  const double T = static_cast<double>(s.T), C = static_cast<double>(s.C);
  const double K = static_cast<double>(s.K);
  return static_cast<double>(s.planes) * (T * C * K + kPerTile * T * (C + K) + kPerFilter * C * K);
}

}  // namespace

Sizes::Sizes(Form form, const ConvShape& shape)
    : form(form), C(shape.in_channels), K(shape.out_channels) {
  const FormSizes sizes = SizesOf(form);
  taps = sizes.taps * sizes.taps;
  planes = sizes.points * sizes.points;
  output = {shape.out[1],
            shape.out[2],
            K,
            0,
            0,
            sizes.tile,
            CeilDiv(shape.out[1], sizes.tile),
            CeilDiv(shape.out[2], sizes.tile)};
  input = output;
  input.height = shape.in[1];
  input.width = shape.in[2];
  input.channels = C;
  input.top = shape.pad[1];
  input.left = shape.pad[2];
  T = shape.batch * output.tiles_y * output.tiles_x;
}

const Form* ChooseForm(const ConvProblem& problem, const char** why) {
  *why = Unfit(problem);
  if (*why != nullptr) return nullptr;
  // What a form must save at least, so that an error of the estimate costs nothing.
  constexpr double kWorth = 0.85;
  const bool mirrored = problem.pass == ConvPass::kInputGradient;
  const ConvShape shape = mirrored ? Mirrored(problem.shape) : problem.shape;
  double least = kWorth * problem.shape.multiplications();
  const Form* best = nullptr;
  for (const Form& form : kForms) {
    if (SizesOf(form).taps != problem.shape.filter[1]) continue;
    const double cost = Cost(Sizes(form, shape));
    if (cost >= least) continue;
    least = cost;
    best = &form;
  }
  if (best == nullptr) *why = "a direct convolution is expected to be faster";
  return best;
}

ConvShape Mirrored(const ConvShape& shape) {
  ConvShape mirrored = shape;
  std::swap(mirrored.in, mirrored.out);
  std::swap(mirrored.in_channels, mirrored.out_channels);
  for (int axis = 0; axis < ConvShape::kAxes; ++axis) {
    mirrored.pad[axis] = shape.filter[axis] - 1 - shape.pad[axis];
  }
  return mirrored;
}

}  // namespace winograd

std::unique_ptr<Convolution> MakeWinogradConvolution(const ConvProblem& problem, const char** why) {
  const winograd::Form* form = winograd::ChooseForm(problem, why);
  if (form == nullptr) return nullptr;
  switch (problem.pass) {
    case ConvPass::kForward:
      return winograd::MakeForward(*form, problem);
    case ConvPass::kInputGradient:
      return winograd::MakeInputGradient(*form, problem);
    case ConvPass::kFilterGradient:
      return winograd::MakeFilterGradient(*form, problem);
  }
  return nullptr;
}

}  // namespace penstock::kernels
