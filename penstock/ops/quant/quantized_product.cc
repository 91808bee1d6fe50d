#include "penstock/ops/quant/quantized_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "penstock/kernels/quantized_gemm.h"
#include "penstock/ops/matmul.h"

namespace penstock::ops {
namespace {

// An operand: numbers of 8 bits and the range that all of them together stand for.
struct Operand {
  const Tensor& values;
  float min;
  float max;

  bool is_signed() const { return values.dtype() == DType::kQint8; }
  int64_t lowest() const { return is_signed() ? -128 : 0; }
  // How much one step stands for.
  float step() const { return (max - min) / 255; }
  // The number that stands for 0, which may lie outside the 8 bits.
  int64_t zero() const {
    const double scale = 256 / ((static_cast<double>(max) - min) * (256.0 / 255.0));
    const double steps = std::round(static_cast<double>(min) * scale);
    return lowest() - static_cast<int64_t>(std::clamp(steps, -2147483648.0, 2147483647.0));
  }

  Status Check(std::string_view what) const {
    if (values.dtype() != DType::kQint8 && values.dtype() != DType::kQuint8) {
      return Unimplemented("{} must be qint8 or quint8, got {}", what, values.dtype());
    }
    if (!std::isfinite(min) || !std::isfinite(max) || !(min < max)) {
      return InvalidArgument(
          "the range of {} must be finite and its maximum the larger, got {} "
          "and {}",
          what, min, max);
    }
    return OkStatus();
  }
};

Status CheckOperands(const Operand& left, const Operand& right, const Tensor& out) {
  TRY(left.Check("the left operand"));
  TRY(right.Check("the right operand"));
  if (out.dtype() != DType::kQint32) {
    return Unimplemented("the result must be qint32, got {}", out.dtype());
  }
  return OkStatus();
}

// Writes the range that all 32-bit results together stand for.
void StoreRange(const Operand& left, const Operand& right, Tensor& min_out, Tensor& max_out) {
  const float step = left.step() * right.step();
  *min_out.mutable_data<float>() = step * static_cast<float>(std::numeric_limits<int32_t>::min());
  *max_out.mutable_data<float>() = step * static_cast<float>(std::numeric_limits<int32_t>::max());
}

Status CheckScalars(std::initializer_list<const Shape*> shapes) {
  for (const Shape* shape : shapes) TRY(CheckScalar(*shape, "a bound of a range"));
  return OkStatus();
}

// Multiplies the rows that `rows` writes with b.
Status Multiply(CpuContext& context, const kernels::QuantizedGemmShape& shape,
                const kernels::ByteRows& rows, const Operand& a, const Operand& b, bool transpose_b,
                Tensor& out) {
  TRY_ASSIGN(Tensor scratch,
             context.Allocate(DType::kUint8, Shape{kernels::QuantizedGemmScratch(
                                                 shape, context.parallel().threads())}));
  const kernels::QuantizedMatrix right{b.values.raw(), b.is_signed(), transpose_b};
  // Rows of numbers with a sign are written plus 128.
  if (!kernels::QuantizedGemm(shape, rows, a.zero() - a.lowest(), right, b.zero(),
                              static_cast<int32_t*>(out.mutable_raw()), scratch.mutable_raw(),
                              context.parallel())) {
    return Internal("the library for products of bytes failed");
  }
  return OkStatus();
}

// Writes n bytes, plus 128 where they have a sign.
void CopyBytes(const uint8_t* from, int64_t n, uint8_t flip, uint8_t* to) {
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] ^ flip;
}

// Writes what output position `row`, counted over the batch, reads: the channels of every tap.
void WriteWindow(const kernels::ConvShape& s, const uint8_t* input, int64_t row, uint8_t flip,
                 uint8_t outside, uint8_t* to) {
  const int64_t x = row % s.out[2], y = row / s.out[2] % s.out[1], n = row / s.out[2] / s.out[1];
  for (int64_t ky = 0; ky < s.filter[1]; ++ky) {
    const int64_t iy = y * s.stride[1] - s.pad[1] + ky * s.dilation[1];
    for (int64_t kx = 0; kx < s.filter[2]; ++kx, to += s.in_channels) {
      const int64_t ix = x * s.stride[2] - s.pad[2] + kx * s.dilation[2];
      if (!InRange(iy, s.in[1]) || !InRange(ix, s.in[2])) {
        std::memset(to, outside, static_cast<size_t>(s.in_channels));
        continue;
      }
      const int64_t at = ((n * s.in[1] + iy) * s.in[2] + ix) * s.in_channels;
      CopyBytes(input + at, s.in_channels, flip, to);
    }
  }
}

}  // namespace

Result<std::array<Shape, 3>> QuantizedMatMul::InferShape(const Shape& a, const Shape& b,
                                                         const Shape& min_a, const Shape& max_a,
                                                         const Shape& min_b,
                                                         const Shape& max_b) const {
  TRY(CheckScalars({&min_a, &max_a, &min_b, &max_b}));
  const MatMul plain{.transpose_a = transpose_a, .transpose_b = transpose_b};
  TRY_ASSIGN(Shape product, plain.InferShape(a, b));
  return std::array{product, Shape{}, Shape{}};
}

Status QuantizedMatMul::ComputeCpu(CpuContext& context, const Tensor& a, const Tensor& b,
                                   float min_a, float max_a, float min_b, float max_b, Tensor& out,
                                   Tensor& min_out, Tensor& max_out) const {
  const Operand left{a, min_a, max_a}, right{b, min_b, max_b};
  TRY(CheckOperands(left, right, out));
  StoreRange(left, right, min_out, max_out);
  const kernels::QuantizedGemmShape shape{out.shape().dim(0), out.shape().dim(1),
                                          a.shape().dim(transpose_a ? 0 : 1)};
  const auto* from = static_cast<const uint8_t*>(a.raw());
  const uint8_t flip = left.is_signed() ? 0x80 : 0;
  return Multiply(
      context, shape,
      [&](int64_t begin, int64_t rows, uint8_t* to) {
        if (!transpose_a) return CopyBytes(from + begin * shape.K, rows * shape.K, flip, to);
        for (int64_t i = 0; i < rows; ++i) {
          for (int64_t k = 0; k < shape.K; ++k) {
            to[i * shape.K + k] = from[k * shape.M + begin + i] ^ flip;
          }
        }
      },
      left, right, transpose_b, out);
}

Result<std::array<Shape, 3>> QuantizedConv2D::InferShape(const Shape& input, const Shape& filter,
                                                         const Shape& min_input,
                                                         const Shape& max_input,
                                                         const Shape& min_filter,
                                                         const Shape& max_filter) const {
  TRY(CheckScalars({&min_input, &max_input, &min_filter, &max_filter}));
  TRY_ASSIGN(ConvGeometry geometry, ResolveConv(Rules(), input, filter));
  if (geometry.shape.groups > 1) {
    return InvalidArgument(
        "the filter must be for as many channels as the input has, got {} and {}", filter, input);
  }
  return std::array{geometry.output, Shape{}, Shape{}};
}

Status QuantizedConv2D::ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& filter,
                                   float min_input, float max_input, float min_filter,
                                   float max_filter, Tensor& output, Tensor& min_output,
                                   Tensor& max_output) const {
  const Operand images{input, min_input, max_input}, taps{filter, min_filter, max_filter};
  TRY(CheckOperands(images, taps, output));
  StoreRange(images, taps, min_output, max_output);
  if (output.num_elements() == 0) return OkStatus();
  TRY_ASSIGN(const ConvGeometry geometry, ResolveConv(Rules(), input.shape(), filter.shape()));
  const kernels::ConvShape& s = geometry.shape;
  const int64_t zero = images.zero() - images.lowest();
  if (!InRange(zero, 256) && padding == "SAME") {
    return InvalidArgument("the range of an input that is padded must contain 0, got {} and {}",
                           min_input, max_input);
  }
  const auto outside = static_cast<uint8_t>(zero);
  const auto* from = static_cast<const uint8_t*>(input.raw());
  const uint8_t flip = images.is_signed() ? 0x80 : 0;
  const int64_t K = s.taps() * s.in_channels;
  const kernels::QuantizedGemmShape shape{output.num_elements() / s.out_channels, s.out_channels,
                                          K};
  return Multiply(
      context, shape,
      [&](int64_t begin, int64_t rows, uint8_t* to) {
        for (int64_t i = 0; i < rows; ++i) {
          WriteWindow(s, from, begin + i, flip, outside, to + i * K);
        }
      },
      images, taps, false, output);
}

void RegisterQuantizedProducts(Registrar& registrar) {
  registrar.AddAll<QuantizedMatMul, QuantizedConv2D>();
}

}  // namespace penstock::ops
