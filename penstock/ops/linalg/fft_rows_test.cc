#include <cmath>
#include <numbers>

#include "penstock/ops/linalg/fft.h"
#include "penstock/ops/linalg/tridiagonal.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

// Complex numbers whose imaginary parts are not 0.
Value Turning(Shape shape) {
  return [shape](uint64_t seed) {
    Tensor tensor(DType::kComplex128, shape);
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      tensor.mutable_data<complex128>()[i] = {UniformAt(seed, 2 * i) - 0.5,
                                              UniformAt(seed, 2 * i + 1) - 0.5};
    }
    return tensor;
  };
}

// The transform of Turning({n}) by its definition.
Value ByDefinition(int64_t n, double sign) {
  return [=](uint64_t) {
    const Tensor in = Turning({n})(0);
    Tensor out(DType::kComplex128, Shape{n});
    for (int64_t k = 0; k < n; ++k) {
      std::complex<long double> sum = 0;
      for (int64_t j = 0; j < n; ++j) {
        const long double angle =
            sign * 2 * std::numbers::pi_v<long double> * static_cast<long double>(j * k % n) / n;
        sum += std::complex<long double>(in.data<complex128>()[j]) *
               std::complex<long double>(std::cos(angle), std::sin(angle));
      }
      out.mutable_data<complex128>()[k] = complex128(sign > 0 ? sum / (long double)(n) : sum);
    }
    return out;
  };
}

Value Fixed(Value value) {
  return [value](uint64_t) { return value(0); };
}

Row Forward(int64_t n) {
  return Row(FFT{}).Inputs(Fixed(Turning({n}))).Expect(ByDefinition(n, -1)).Tolerance(1e-12);
}
Row Backward(int64_t n) {
  return Row(IFFT{}).Inputs(Fixed(Turning({n}))).Expect(ByDefinition(n, 1)).Tolerance(1e-12);
}

const OpRows kFftRows{
    // Every radix, products of them, primes, and twice a prime.
    Forward(1),
    Forward(2),
    Forward(3),
    Forward(8),
    Forward(13),
    Forward(60),
    Forward(77),
    Forward(128),
    Forward(17),
    Forward(101),
    Forward(262),
    Forward(1009),
    Backward(6),
    Backward(64),
    Backward(19),
    Backward(143),
    Row(FFT2D{}).Inputs(Turning({2, 3, 4})),
    Row(FFT3D{}).Inputs(Turning({9, 3, 5, 4})),
    Row(IFFT3D{}).Inputs(Turning({3, 5, 4})),
    Row(IFFT2D{}).Inputs(Empty<complex64>({0, 3, 4})).Expect(Empty<complex64>({0, 3, 4})),
    Row(FFT{}).Inputs(Scalar<complex64>({1, 0})).Fails(Code::kInvalidArgument, "rank"),
    Row(FFT3D{}).Inputs(Uniform<complex64>({2, 2})).Fails(Code::kInvalidArgument, "rank"),
    Row(RFFT{})
        .Inputs(Vector<float>({1, 2, 3, 4, 9}), Vector<int32_t>({4}))
        .Attr("Tcomplex", DType::kComplex64)
        .Expect(Values<complex64>({3}, {{10, 0}, {-2, 2}, {-2, 0}}))
        .NoGradient(),
    Row(RFFT2D{})
        .Inputs(Uniform<double>({2, 4, 5}), Vector<int32_t>({3, 5}))
        .Attr("Tcomplex", DType::kComplex128),
    Row(RFFT{})
        .Inputs(Uniform({3}), Vector<int32_t>({4}))
        .Attr("Tcomplex", DType::kComplex64)
        .Fails(Code::kInvalidArgument, "at least 4"),
    Row(RFFT{})
        .Inputs(Uniform({3}), Vector<int32_t>({-1}))
        .Attr("Tcomplex", DType::kComplex64)
        .Fails(Code::kInvalidArgument, "negative"),
    Row(RFFT{})
        .Inputs(Uniform({3}), Vector<int32_t>({0}))
        .Attr("Tcomplex", DType::kComplex64)
        .Expect(Empty<complex64>({0}))
        .NoGradient(),
    Row(IRFFT{})
        .Inputs(Values<complex64>({3}, {{10, 0}, {-2, 2}, {-2, 0}}), Vector<int32_t>({4}))
        .Attr("Treal", DType::kFloat)
        .Expect(Vector<float>({1, 2, 3, 4}))
        .NoGradient(),
    Row(IRFFT3D{})
        .Inputs(Turning({2, 2, 4, 3}), Vector<int32_t>({2, 4, 5}))
        .Attr("Treal", DType::kDouble),
    Row(IRFFT{})
        .Inputs(Turning({2}), Vector<int32_t>({4}))
        .Attr("Treal", DType::kDouble)
        .Fails(Code::kInvalidArgument, "at least 3"),
    Row(IRFFT{})
        .Inputs(Turning({2}), Vector<int32_t>({1, 2}))
        .Attr("Treal", DType::kDouble)
        .Fails(Code::kInvalidArgument, "1 elements"),
};

const OpRows kTridiagonalRows{
    Row(TridiagonalSolve{})
        .Inputs(Values<double>({3, 3}, {1, 2, 0, 0, 5, 6, 0, 3, 1}), Uniform<double>({3, 2}))
        .Gradient()
        .Named("exchanged"),
    Row(TridiagonalSolve{.partial_pivoting = false})
        .Inputs(Uniform<double>({2, 3, 4}, 1, 2), Uniform<double>({2, 4, 1}))
        .Gradient(),
    Row(TridiagonalSolve{}).Inputs(Empty({0, 3, 2}), Empty({0, 2, 1})).Expect(Empty({0, 2, 1})),
    Row(TridiagonalSolve{})
        .Inputs(Uniform({2, 3}), Uniform({3, 1}))
        .Fails(Code::kInvalidArgument, "3 vs 2"),
    Row(TridiagonalSolve{})
        .Inputs(Values<float>({3, 1}, {0, 0, 0}), Uniform({1, 1}))
        .Fails(Code::kInvalidArgument, "not invertible"),
    Row(TridiagonalMatMul{})
        .Inputs(Uniform<double>({2, 1, 4}), Uniform<double>({2, 1, 4}), Uniform<double>({2, 1, 4}),
                Uniform<double>({2, 4, 3}))
        .Gradient(),
    Row(TridiagonalMatMul{})
        .Inputs(Uniform({2, 4}), Uniform({1, 4}), Uniform({1, 4}), Uniform({4, 3}))
        .Fails(Code::kInvalidArgument, "1 vs 2"),
    Row(TridiagonalMatMul{})
        .Inputs(Uniform({1, 4}), Uniform({1, 4}), Uniform({1, 4}), Uniform({3, 3}))
        .Fails(Code::kInvalidArgument, "4 vs 3"),
};

}  // namespace
}  // namespace penstock::rows
