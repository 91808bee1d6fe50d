// Convolutions by straight loops, compiled once per instruction set: for the types and shapes that
// no library takes, and as the oracle of those it does.
//
// The innermost loops run along channels, which lie together. Units of work write disjoint rows of
// the result and sum in an order of their own, so that the threads do not show.
#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "penstock/kernels/conv_candidates.h"
#include "penstock/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/conv_direct.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

using Extents = ConvShape::Extents;

int64_t Flat(const Extents& extents, int64_t i, int64_t j, int64_t k) {
  return (i * extents[1] + j) * extents[2] + k;
}
// The position of tap k from output position o along an axis, in the input.
int64_t Position(const ConvShape& s, int axis, int64_t o, int64_t k) {
  return o * s.stride[axis] - s.pad[axis] + k * s.dilation[axis];
}
bool Inside(int64_t position, int64_t extent) {
  return static_cast<uint64_t>(position) < static_cast<uint64_t>(extent);
}
// The output position whose tap k reads input position i; negative when there is none.
int64_t Reader(const ConvShape& s, int axis, int64_t i, int64_t k) {
  const int64_t at = i + s.pad[axis] - k * s.dilation[axis];
  return at < 0 || at % s.stride[axis] != 0 || at / s.stride[axis] >= s.out[axis]
             ? -1
             : at / s.stride[axis];
}

// Channels of a group.
struct Channels {
  explicit Channels(const ConvShape& s)
      : groups(s.groups), in(s.in_channels / s.groups), out(s.out_channels / s.groups) {}
  bool depthwise() const { return in == 1 && out == 1; }
  const int64_t groups, in, out;
};

template <class T>
void MultiplyAdd(const T* a, const T* b, int64_t n, T* sum) {
  for (int64_t i = 0; i < n; ++i) sum[i] += a[i] * b[i];
}
template <class T>
void AddScaled(T a, const T* b, int64_t n, T* sum) {
  for (int64_t i = 0; i < n; ++i) sum[i] += a * b[i];
}
// Half is summed in order, each step rounded.
template <class T>
T Dot(const T* a, const T* b, int64_t n) {
  T sum{};
  int64_t i = 0;
  if constexpr (!kIsFloat16<T>) {
    constexpr int64_t kLanes = 16;
    T lanes[kLanes] = {};
    for (; i + kLanes <= n; i += kLanes) {
      for (int64_t l = 0; l < kLanes; ++l) lanes[l] += a[i + l] * b[i + l];
    }
    for (const T lane : lanes) sum += lane;
  }
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// Unit: a row of the output, counted over batch and the outer two axes.
template <class T>
void Forward(const ConvShape& s, const T* input, const T* filter, T* output, int64_t row) {
  const Channels c(s);
  const int64_t y = row % s.out[1], z = row / s.out[1] % s.out[0], n = row / s.out[1] / s.out[0];
  for (int64_t x = 0; x < s.out[2]; ++x) {
    T* to = output + (row * s.out[2] + x) * s.out_channels;
    std::fill_n(to, s.out_channels, T{});
    for (int64_t kz = 0; kz < s.filter[0]; ++kz) {
      const int64_t iz = Position(s, 0, z, kz);
      if (!Inside(iz, s.in[0])) continue;
      for (int64_t ky = 0; ky < s.filter[1]; ++ky) {
        const int64_t iy = Position(s, 1, y, ky);
        if (!Inside(iy, s.in[1])) continue;
        for (int64_t kx = 0; kx < s.filter[2]; ++kx) {
          const int64_t ix = Position(s, 2, x, kx);
          if (!Inside(ix, s.in[2])) continue;
          const T* from = input + Flat(s.in, n * s.in[0] + iz, iy, ix) * s.in_channels;
          const T* tap = filter + Flat(s.filter, kz, ky, kx) * c.in * s.out_channels;
          if (c.depthwise()) {
            MultiplyAdd(from, tap, s.out_channels, to);
            continue;
          }
          for (int64_t g = 0; g < c.groups; ++g) {
            for (int64_t i = 0; i < c.in; ++i) {
              AddScaled(from[g * c.in + i], tap + i * s.out_channels + g * c.out, c.out,
                        to + g * c.out);
            }
          }
        }
      }
    }
  }
}

// Unit: a row of the input. Taps are taken from the last on: that is the order of the output
// positions that read the element.
template <class T>
void InputGradient(const ConvShape& s, const T* filter, const T* output, T* input, int64_t row) {
  const Channels c(s);
  const int64_t y = row % s.in[1], z = row / s.in[1] % s.in[0], n = row / s.in[1] / s.in[0];
  for (int64_t x = 0; x < s.in[2]; ++x) {
    T* to = input + (row * s.in[2] + x) * s.in_channels;
    std::fill_n(to, s.in_channels, T{});
    for (int64_t kz = s.filter[0] - 1; kz >= 0; --kz) {
      const int64_t oz = Reader(s, 0, z, kz);
      if (oz < 0) continue;
      for (int64_t ky = s.filter[1] - 1; ky >= 0; --ky) {
        const int64_t oy = Reader(s, 1, y, ky);
        if (oy < 0) continue;
        for (int64_t kx = s.filter[2] - 1; kx >= 0; --kx) {
          const int64_t ox = Reader(s, 2, x, kx);
          if (ox < 0) continue;
          const T* from = output + Flat(s.out, n * s.out[0] + oz, oy, ox) * s.out_channels;
          const T* tap = filter + Flat(s.filter, kz, ky, kx) * c.in * s.out_channels;
          if (c.depthwise()) {
            MultiplyAdd(from, tap, s.in_channels, to);
            continue;
          }
          for (int64_t g = 0; g < c.groups; ++g) {
            for (int64_t i = 0; i < c.in; ++i) {
              to[g * c.in + i] +=
                  Dot(from + g * c.out, tap + i * s.out_channels + g * c.out, c.out);
            }
          }
        }
      }
    }
  }
}

// How many output channels of a filter's gradient a unit sums.
constexpr int64_t kChunk = 256;

int64_t FilterChunks(const ConvShape& s) { return (s.out_channels + kChunk - 1) / kChunk; }

// Unit: up to kChunk output channels of one tap and one input channel of the groups. Each row of an
// image is summed on its own, which keeps long sums exact.
template <class T>
void FilterGradient(const ConvShape& s, const T* input, const T* output, T* filter, int64_t unit) {
  const Channels c(s);
  const int64_t chunks = FilterChunks(s);
  const int64_t begin = unit % chunks * kChunk, i = unit / chunks % c.in;
  const int64_t tap = unit / chunks / c.in;
  const int64_t width = std::min(kChunk, s.out_channels - begin);
  const int64_t kx = tap % s.filter[2], ky = tap / s.filter[2] % s.filter[1];
  const int64_t kz = tap / s.filter[2] / s.filter[1];
  T sums[kChunk] = {};
  T row_sums[kChunk];
  for (int64_t n = 0; n < s.batch; ++n) {
    for (int64_t z = 0; z < s.out[0]; ++z) {
      const int64_t iz = Position(s, 0, z, kz);
      if (!Inside(iz, s.in[0])) continue;
      for (int64_t y = 0; y < s.out[1]; ++y) {
        const int64_t iy = Position(s, 1, y, ky);
        if (!Inside(iy, s.in[1])) continue;
        std::fill_n(row_sums, width, T{});
        for (int64_t x = 0; x < s.out[2]; ++x) {
          const int64_t ix = Position(s, 2, x, kx);
          if (!Inside(ix, s.in[2])) continue;
          const T* from = input + Flat(s.in, n * s.in[0] + iz, iy, ix) * s.in_channels + i;
          const T* dy = output + Flat(s.out, n * s.out[0] + z, y, x) * s.out_channels + begin;
          if (c.depthwise()) {
            MultiplyAdd(from + begin, dy, width, row_sums);
          } else if (c.groups == 1) {
            AddScaled(*from, dy, width, row_sums);
          } else {
            for (int64_t o = 0; o < width; ++o) {
              row_sums[o] += from[(begin + o) / c.out * c.in] * dy[o];
            }
          }
        }
        for (int64_t o = 0; o < width; ++o) sums[o] += row_sums[o];
      }
    }
  }
  std::copy_n(sums, width, filter + (tap * c.in + i) * s.out_channels + begin);
}

int64_t Units(ConvPass pass, const ConvShape& s) {
  switch (pass) {
    case ConvPass::kForward:
      return s.batch * s.out[0] * s.out[1];
    case ConvPass::kInputGradient:
      return s.batch * s.in[0] * s.in[1];
    case ConvPass::kFilterGradient:
      return s.taps() * (s.in_channels / s.groups) * FilterChunks(s);
  }
  return 0;
}

// Finishes the output row that Forward wrote.
void Finish(const ConvShape& s, const Epilogue& epilogue, const ConvOperands& operands,
            int64_t row) {
  if (epilogue.none()) return;
  const int64_t at = row * s.out[2] * s.out_channels;
  const auto* addend = static_cast<const float*>(operands.addend);
  ApplyEpilogue(epilogue, s.out[2], s.out_channels, static_cast<float*>(operands.result) + at,
                s.out_channels, static_cast<const float*>(operands.bias),
                epilogue.addend ? addend + at : nullptr);
}

template <class T>
void RunUnits(const ConvProblem& problem, const ConvOperands& operands, const ParallelFor& each) {
  const ConvShape& s = problem.shape;
  const auto* input = static_cast<const T*>(operands.input);
  const auto* filter = static_cast<const T*>(operands.filter);
  const auto* output = static_cast<const T*>(operands.output);
  auto* result = static_cast<T*>(operands.result);
  const int64_t units = Units(problem.pass, s);
  each(units, s.multiplications() / 4 / static_cast<double>(units),
       [&](int64_t begin, int64_t end) {
         for (int64_t unit = begin; unit < end; ++unit) {
           switch (problem.pass) {
             case ConvPass::kForward:
               Forward(s, input, filter, result, unit);
               if constexpr (std::is_same_v<T, float>) Finish(s, problem.epilogue, operands, unit);
               break;
             case ConvPass::kInputGradient:
               InputGradient(s, filter, output, result, unit);
               break;
             case ConvPass::kFilterGradient:
               FilterGradient(s, input, output, result, unit);
               break;
           }
         }
       });
}

}  // namespace

void DirectConvolve(const ConvProblem& problem, const ConvOperands& operands,
                    const ParallelFor& each) {
  if (problem.dtype == DType::kFloat) return RunUnits<float>(problem, operands, each);
  if (problem.dtype == DType::kDouble) return RunUnits<double>(problem, operands, each);
  if (problem.dtype == DType::kHalf) return RunUnits<half>(problem, operands, each);
  RunUnits<uint32_t>(problem, operands, each);  // wraps, as int32 may not
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {
namespace {

HWY_EXPORT(DirectConvolve);

class DirectConvolution final : public Convolution {
 public:
  explicit DirectConvolution(const ConvProblem& problem) : problem_(problem) {}
  int64_t scratch_bytes(int) const override { return 0; }
  bool Run(const ConvOperands& operands, void*, const ParallelFor& each) const override {
    HWY_DYNAMIC_DISPATCH(DirectConvolve)(problem_, operands, each);
    return true;
  }

 private:
  const ConvProblem problem_;
};

}  // namespace

std::unique_ptr<Convolution> MakeDirectConvolution(const ConvProblem& problem, const char** why) {
  *why = nullptr;
  return std::make_unique<DirectConvolution>(problem);
}

}  // namespace penstock::kernels
#endif
