#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "penstock/core/dtype.h"
#include "penstock/core/parallel.h"
#include "penstock/kernels/epilogue.h"

namespace penstock::kernels {

// Which way a convolution is computed. The gradients are linear maps as the convolution is.
enum class ConvPass { kForward, kInputGradient, kFilterGradient };

// A convolution, channels last:
//   input  [batch, in..., in_channels]
//   filter [filter..., in_channels / groups, out_channels]
//   output [batch, out..., out_channels]
// over up to three spatial axes; of those not used, which lead, all extents are 1. Output position
// o reads input positions o * stride - pad + k * dilation for k in [0, filter); those outside are
// zeros. With as many groups as input channels it is a depth-wise one, whose filter
// [filter..., in_channels, multiplier] has the same elements in the same order.
struct ConvShape {
  static constexpr int kAxes = 3;
  using Extents = std::array<int64_t, kAxes>;

  int64_t batch = 0;
  int64_t in_channels = 0;
  int64_t out_channels = 0;
  int64_t groups = 1;
  Extents in = {1, 1, 1};
  Extents filter = {1, 1, 1};
  Extents out = {1, 1, 1};
  Extents stride = {1, 1, 1};
  Extents dilation = {1, 1, 1};
  Extents pad = {0, 0, 0};  // before the first position

  // Elements, and multiplications of a pass.
  int64_t input_size() const { return batch * in[0] * in[1] * in[2] * in_channels; }
  int64_t output_size() const { return batch * out[0] * out[1] * out[2] * out_channels; }
  int64_t taps() const { return filter[0] * filter[1] * filter[2]; }
  int64_t filter_size() const { return taps() * (in_channels / groups) * out_channels; }
  double multiplications() const {
    return static_cast<double>(output_size()) * static_cast<double>(taps()) *
           static_cast<double>(in_channels / groups);
  }
  bool operator==(const ConvShape&) const = default;
};

// Where the operands of a pass lie. The one that the pass computes is written, the others are read.
struct ConvOperands {
  const void* input = nullptr;
  const void* filter = nullptr;
  const void* output = nullptr;
  const void* bias = nullptr;  // of the epilogue
  const void* addend = nullptr;
  void* result = nullptr;
  // What PackFilter wrote; then `filter` is not read.
  const void* packed_filter = nullptr;
};

// A way to compute one pass of convolutions of one shape. Results depend on the operands and the
// instruction set, never on the number of threads. Threads: may run on many at once.
class Convolution {
 public:
  virtual ~Convolution() = default;
  // The scratch memory that Run wants when it is given `threads`, aligned to 64 bytes.
  virtual int64_t scratch_bytes(int threads) const = 0;
  // False when the library refused; nothing is then known of the result.
  virtual bool Run(const ConvOperands& operands, void* scratch, const ParallelFor& each) const = 0;

  // For filters that do not change: the size of the form that the implementation works on (0: it
  // works on the filter as it is), and the conversion.
  virtual int64_t packed_filter_bytes() const { return 0; }
  virtual bool PackFilter(const void* /*filter*/, void* /*packed*/) const { return true; }
};

// The first implementation that can take the pass; made once a shape, of which the last used are
// kept. PENSTOCK_VERBOSE_KERNELS=1 prints which it is and why those before it were skipped.
// REQUIRES: every extent, stride and dilation is positive, and sizes fit in an int64; an epilogue
// only of a forward pass. dtype: float, double, int32; and half, which rounds every product and
// sum.
std::shared_ptr<const Convolution> PlanConvolution(ConvPass pass, DType dtype,
                                                   const ConvShape& shape,
                                                   const Epilogue& epilogue = {});

}  // namespace penstock::kernels
