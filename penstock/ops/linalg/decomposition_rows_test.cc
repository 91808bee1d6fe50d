#include "penstock/ops/linalg/solve.h"
#include "penstock/ops/linalg/spectral.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

// Matrices [batch, n, n] that are far from singular: numbers of [-1, 1) and 3 on the diagonal.
// Symmetric ones mirror their lower triangle.
template <class T = float>
Value Regular(int64_t batch, int64_t n, bool symmetric = false) {
  return [=](uint64_t seed) {
    Tensor tensor = Uniform<T>({batch, n, n})(seed);
    T* a = tensor.mutable_data<T>();
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < i && symmetric; ++j) {
          a[(b * n + j) * n + i] = a[(b * n + i) * n + j];
        }
        a[(b * n + i) * n + i] += T(3 + i);
      }
    }
    return tensor;
  };
}

const OpRows kSolveRows{
    Row(MatrixInverse{})
        .Inputs(Values<float>({2, 2}, {2, 0, 1, 4}))
        .Expect(Values<float>({2, 2}, {0.5, 0, -0.125, 0.25}))
        .Gradient(),
    Row(MatrixInverse{.adjoint = true}).Inputs(Regular(3, 4)).Gradient(),
    Row(MatrixInverse{})
        .Inputs(Values<half>({1, 1}, {half(4.0f)}))
        .Expect(Values<half>({1, 1}, {half(0.25f)}))
        .NoGradient(),
    Row(MatrixInverse{}).Inputs(Empty({2, 0, 0})).Expect(Empty({2, 0, 0})),
    Row(MatrixInverse{})
        .Inputs(Values<float>({2, 2}, {1, 2, 2, 4}))
        .Fails(Code::kInvalidArgument, "not invertible"),
    Row(MatrixInverse{}).Inputs(Uniform({2, 3})).Fails(Code::kInvalidArgument, "square"),
    Row(MatrixSolve{}).Inputs(Regular(2, 3), Uniform({2, 3, 2})).Gradient(),
    Row(MatrixSolve{.adjoint = true}).Inputs(Regular(2, 3), Uniform({2, 3, 2})).Gradient(),
    Row(MatrixSolve{})
        .Inputs(Values<complex64>({1, 1}, {{0, 2}}), Values<complex64>({1, 1}, {{4, 0}}))
        .Expect(Values<complex64>({1, 1}, {{0, -2}})),
    Row(MatrixSolve{})
        .Inputs(Uniform({2, 2}), Uniform({3, 1}))
        .Fails(Code::kInvalidArgument, "2 vs 3"),
    Row(MatrixSolve{})
        .Inputs(Values<float>({1, 1}, {0}), Uniform({1, 1}))
        .Fails(Code::kInvalidArgument, "not invertible"),
    Row(MatrixTriangularSolve{}).Inputs(Regular(1, 3), Uniform({2, 3, 2})).Gradient(),
    Row(MatrixTriangularSolve{.lower = false, .adjoint = true})
        .Inputs(Regular(2, 3), Uniform({3, 2}))
        .Gradient(),
    Row(MatrixTriangularSolve{}).Inputs(Empty({0, 2, 2}), Uniform({2, 1})).Expect(Empty({0, 2, 1})),
    Row(MatrixTriangularSolve{})
        .Inputs(Uniform({2, 1}), Uniform({2, 1}))
        .Fails(Code::kInvalidArgument, "square"),
    Row(MatrixTriangularSolve{})
        .Inputs(Uniform({2}), Uniform({2, 1}))
        .Fails(Code::kInvalidArgument, "rank"),
    Row(MatrixSolveLs{}).Inputs(Uniform({4, 2}), Uniform({4, 1}), Scalar(0.5)).NoGradient(),
    Row(MatrixSolveLs{}).Inputs(Uniform({2, 4}), Uniform({2, 1}), Scalar(0.5)).NoGradient(),
    Row(MatrixSolveLs{.fast = false})
        .Inputs(Values<float>({2, 2}, {1, 2, 2, 4}), Values<float>({2, 1}, {1, 2}), Scalar(0.0))
        .Expect(Values<float>({2, 1}, {0.2, 0.4}))
        .NoGradient(),
    Row(MatrixSolveLs{})
        .Inputs(Values<float>({2, 2}, {1, 2, 2, 4}), Uniform({2, 1}), Scalar(0.0))
        .Fails(Code::kInvalidArgument, "rank deficient"),
    Row(MatrixSolveLs{})
        .Inputs(Uniform({2, 2}), Uniform({2, 1}), Scalar(-1.0))
        .Fails(Code::kInvalidArgument, ">= 0"),
    Row(MatrixDeterminant{})
        .Inputs(Values<float>({2, 2}, {1, 2, 3, 4}))
        .Expect(Scalar<float>(-2))
        .Gradient(),
    Row(MatrixDeterminant{}).Inputs(Empty({2, 0, 0})).Expect(Vector<float>({1, 1})).NoGradient(),
    Row(MatrixDeterminant{}).Inputs(Uniform({3})).Fails(Code::kInvalidArgument, "rank"),
    Row(MatrixDeterminant{}).Inputs(Uniform({3, 2})).Fails(Code::kInvalidArgument, "square"),
    Row(LogMatrixDeterminant{}).Inputs(Regular(2, 3)).NoGradient(),
    Row(LogMatrixDeterminant{}).Inputs(Uniform({3, 2})).Fails(Code::kInvalidArgument, "square"),
    Row(LogMatrixDeterminant{}).Inputs(Uniform({})).Fails(Code::kInvalidArgument, "rank"),
    Row(Lu{})
        .Inputs(Values<float>({2, 2}, {1, 2, 4, 4}))
        .Expect(Values<float>({2, 2}, {4, 4, 0.25, 1}), Vector<int32_t>({1, 0}))
        .Gradient(),
    Row(Lu{}).Inputs(Regular(2, 4)).Gradient(),
    Row(Lu{}).Inputs(Values<float>({1, 1}, {0})).Fails(Code::kInvalidArgument, "not invertible"),
    Row(Lu{}).Inputs(Uniform({3, 2})).Fails(Code::kInvalidArgument, "square"),
    Row(Cholesky{})
        .Inputs(Values<float>({2, 2}, {4, 2, 2, 5}))
        .Expect(Values<float>({2, 2}, {2, 0, 1, 2}))
        .NoGradient(),
    Row(Cholesky{}).Inputs(Uniform({3, 2})).Fails(Code::kInvalidArgument, "square"),
    Row(Cholesky{}).Inputs(Uniform({3})).Fails(Code::kInvalidArgument, "rank"),
    Row(CholeskyGrad{})
        .Inputs(Values<float>({1, 1}, {2}), Values<float>({1, 1}, {1}))
        .Expect(Values<float>({1, 1}, {0.25})),
    Row(CholeskyGrad{}).Inputs(Uniform({2, 2}), Uniform({3, 3})).Fails(Code::kInvalidArgument, ""),
    Row(CholeskyGrad{})
        .Inputs(Uniform({2, 1}), Uniform({2, 1}))
        .Fails(Code::kInvalidArgument, "square"),
};

const OpRows kSpectralRows{
    Row(Qr{}).Inputs(Uniform({2, 4, 3})).Gradient().Tolerance(1e-4),
    Row(Qr{}).Inputs(Uniform({3, 5})).Gradient().Tolerance(1e-4).Named("wide"),
    Row(Qr{.full_matrices = true})
        .Inputs(Empty({2, 0}))
        .Expect(Values<float>({2, 2}, {1, 0, 0, 1}), Empty({2, 0}))
        .NoGradient(),
    Row(Qr{}).Inputs(Uniform({3})).Fails(Code::kInvalidArgument, "rank"),
    Row(Svd{}).Inputs(Uniform({2, 3, 3})).Gradient().Tolerance(1e-4),
    Row(Svd{}).Inputs(Uniform({4, 3})).Gradient().Tolerance(1e-4).Named("tall"),
    Row(Svd{}).Inputs(Uniform({20, 18})).NoGradient().Named("divided"),
    Row(Svd{.full_matrices = true}).Inputs(Uniform({3, 4})).NoGradient().Named("full"),
    Row(Svd{.compute_uv = false}).Inputs(Uniform({2, 3})).Gradient(),
    Row(Svd{}).Inputs(Uniform({3})).Fails(Code::kInvalidArgument, "rank"),
    Row(SelfAdjointEigV2{.compute_v = false})
        .Inputs(Values<float>({2, 2}, {2, 9, 1, 2}))
        .Expect(Vector<float>({1, 3}), Scalar<float>(0))
        .Gradient(),
    Row(SelfAdjointEigV2{}).Inputs(Regular(2, 3, true)).NoGradient(),
    Row(SelfAdjointEigV2{}).Inputs(Uniform({3, 2})).Fails(Code::kInvalidArgument, "square"),
    Row(SelfAdjointEigV2{}).Inputs(Uniform({3})).Fails(Code::kInvalidArgument, "rank"),
    Row(Eig{.compute_v = false})
        .Inputs(Values<float>({2, 2}, {0, -1, 1, 0}))
        .Attr("Tout", DType::kComplex64)
        .NoGradient(),
    Row(Eig{})
        .Inputs(Uniform({3, 2}))
        .Attr("Tout", DType::kComplex64)
        .Fails(Code::kInvalidArgument, "square"),
    Row(Eig{})
        .Inputs(Uniform({2, 2}))
        .Attr("Tout", DType::kComplex128)
        .Fails(Code::kInvalidArgument, "complex type"),
    Row(MatrixSquareRoot{})
        .Inputs(Values<float>({2, 2}, {4, 0, 0, 9}))
        .Expect(Values<float>({2, 2}, {2, 0, 0, 3})),
    Row(MatrixSquareRoot{}).Inputs(Regular(2, 3, true)).Gradient().Tolerance(1e-4),
    Row(MatrixSquareRoot{}).Inputs(Uniform({3, 2})).Fails(Code::kInvalidArgument, "square"),
    Row(MatrixSquareRoot{}).Inputs(Uniform({3})).Fails(Code::kInvalidArgument, "rank"),
    Row(MatrixLogarithm{})
        .Inputs(Values<complex64>({1, 1}, {{1, 0}}))
        .Expect(Values<complex64>({1, 1}, {{0, 0}})),
    Row(MatrixLogarithm{})
        .Inputs(Uniform<complex64>({3, 2}))
        .Fails(Code::kInvalidArgument, "square"),
    Row(MatrixLogarithm{}).Inputs(Uniform<complex64>({3})).Fails(Code::kInvalidArgument, "rank"),
};

}  // namespace
}  // namespace penstock::rows
