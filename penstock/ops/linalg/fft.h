#pragma once

#include "penstock/ops/op_kernel.h"

// Fourier transforms over the last one to three axes. The names with Batch are older ones of the
// same ops.

namespace penstock::ops {

using ComplexNumber = TypeVarOr<"Tcomplex", complex64, complex64, complex128>;
using RealNumber = TypeVarOr<"Treal", float, float, double>;

template <FixedString Name, int Axes, bool Inverse, class T = ComplexNumber>
struct ComplexFft {
  static constexpr auto kName = Name.text;
  static constexpr double kCost = 60;
  using Sig = Signature<In<"input", T>, Out<"output", T>>;

  Result<Shape> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};
using FFT = ComplexFft<"FFT", 1, false>;
using FFT2D = ComplexFft<"FFT2D", 2, false>;
using FFT3D = ComplexFft<"FFT3D", 3, false>;
using IFFT = ComplexFft<"IFFT", 1, true>;
using IFFT2D = ComplexFft<"IFFT2D", 2, true>;
using IFFT3D = ComplexFft<"IFFT3D", 3, true>;
using BatchFFT = ComplexFft<"BatchFFT", 1, false, complex64>;
using BatchFFT2D = ComplexFft<"BatchFFT2D", 2, false, complex64>;
using BatchFFT3D = ComplexFft<"BatchFFT3D", 3, false, complex64>;
using BatchIFFT = ComplexFft<"BatchIFFT", 1, true, complex64>;
using BatchIFFT2D = ComplexFft<"BatchIFFT2D", 2, true, complex64>;
using BatchIFFT3D = ComplexFft<"BatchIFFT3D", 3, true, complex64>;

// Of real numbers. The input is cut to `fft_length`, which it must not fall short of; of the last
// axis half of the values are kept, since they determine the others.
template <FixedString Name, int Axes>
struct RealToComplexFft {
  static constexpr auto kName = Name.text;
  static constexpr double kCost = 60;
  using Sig =
      Signature<In<"input", RealNumber>, In<"fft_length", int32_t>, Out<"output", ComplexNumber>>;

  Result<Shape> InferShape(const Shape& input, const Integers& fft_length) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& fft_length,
                    Tensor& output) const;
};
using RFFT = RealToComplexFft<"RFFT", 1>;
using RFFT2D = RealToComplexFft<"RFFT2D", 2>;
using RFFT3D = RealToComplexFft<"RFFT3D", 3>;

// The inverse of the above.
template <FixedString Name, int Axes>
struct ComplexToRealFft {
  static constexpr auto kName = Name.text;
  static constexpr double kCost = 60;
  using Sig =
      Signature<In<"input", ComplexNumber>, In<"fft_length", int32_t>, Out<"output", RealNumber>>;

  Result<Shape> InferShape(const Shape& input, const Integers& fft_length) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& fft_length,
                    Tensor& output) const;
};
using IRFFT = ComplexToRealFft<"IRFFT", 1>;
using IRFFT2D = ComplexToRealFft<"IRFFT2D", 2>;
using IRFFT3D = ComplexToRealFft<"IRFFT3D", 3>;

}  // namespace penstock::ops
