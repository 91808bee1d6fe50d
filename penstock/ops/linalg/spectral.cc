#include "penstock/ops/linalg/spectral.h"

#include <algorithm>

#include "penstock/kernels/linalg/real_eig.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// What is not asked for is one zero: TensorFlow's kernels leave a scalar of any value there.
const Shape kNothing;

int64_t MinExtent(int64_t a, int64_t b) {
  return a < 0 || b < 0 ? Shape::kUnknownDim : std::min(a, b);
}

MatrixWork EigenvalueWork(const MatrixExtents& m, DType dtype) {
  MatrixWork work = CubicWork(m, 20, 4, dtype);
  work.if_failed = "Eigen decomposition was not successful. The input might not be valid.";
  return work;
}

// Ones on the diagonals of matrices.
template <class V>
void FillIdentity(Tensor& matrices, const ParallelFor& each) {
  ZeroElements(matrices, each);
  const MatrixExtents m(matrices.shape());
  for (int64_t i = 0; i < m.count; ++i) {
    for (int64_t k = 0; k < std::min(m.rows, m.cols); ++k) {
      matrices.mutable_data<V>()[i * m.size() + k * (m.cols + 1)] = V(1);
    }
  }
}

}  // namespace

Result<std::array<Shape, 2>> Qr::InferShape(const Shape& input) const {
  TRY(CheckRankAtLeast(input, 2, "input"));
  if (!input.has_rank()) return std::array<Shape, 2>{input, input};
  const int64_t rows = RowsOf(input), cols = ColsOf(input);
  const int64_t inner = full_matrices ? rows : MinExtent(rows, cols);
  TRY_ASSIGN(const Shape q, MatricesOf(BatchOf(input), rows, inner));
  TRY_ASSIGN(const Shape r, MatricesOf(BatchOf(input), inner, cols));
  return std::array<Shape, 2>{q, r};
}

Status Qr::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& q, Tensor& r) const {
  const MatrixExtents m(input.shape()), left(q.shape()), right(r.shape());
  if (input.dtype() == DType::kHalf) {
    TRY_ASSIGN(const Tensor wide, CopyAs(context, input, DType::kFloat));
    TRY_ASSIGN(Tensor wide_q, context.Allocate(DType::kFloat, q.shape()));
    TRY_ASSIGN(Tensor wide_r, context.Allocate(DType::kFloat, r.shape()));
    TRY(ComputeCpu(context, wide, wide_q, wide_r));
    ConvertInto(context, wide_q, q);
    ConvertInto(context, wide_r, r);
    return OkStatus();
  }
  return ForDType(input.dtype(), DecomposedTypes(), [&]<class V>() {
    if (m.empty()) {
      FillIdentity<V>(q, context.parallel());
      return OkStatus();
    }
    return ForEachMatrix(context, m.count, CubicWork(m, 4, 3, input.dtype()), [&](int64_t i) {
      return kernels::Qr(input.data<V>() + i * m.size(), m.rows, m.cols, full_matrices,
                         q.mutable_data<V>() + i * left.size(),
                         r.mutable_data<V>() + i * right.size());
    });
  });
}

template <FixedString Name, class T>
Result<std::array<Shape, 3>> SvdOp<Name, T>::InferShape(const Shape& input) const {
  TRY(CheckRankAtLeast(input, 2, "input"));
  if (!input.has_rank()) {
    if (!compute_uv) return std::array<Shape, 3>{input, kNothing, kNothing};
    return std::array<Shape, 3>{input, input, input};
  }
  const int64_t rows = RowsOf(input), cols = ColsOf(input), inner = MinExtent(rows, cols);
  Shape s = BatchOf(input);
  s.Append(inner);
  if (!compute_uv) return std::array<Shape, 3>{s, kNothing, kNothing};
  TRY_ASSIGN(const Shape u, MatricesOf(BatchOf(input), rows, full_matrices ? rows : inner));
  TRY_ASSIGN(const Shape v, MatricesOf(BatchOf(input), cols, full_matrices ? cols : inner));
  return std::array<Shape, 3>{s, u, v};
}

template <FixedString Name, class T>
Status SvdOp<Name, T>::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& s, Tensor& u,
                                  Tensor& v) const {
  const MatrixExtents m(input.shape());
  if (!compute_uv) {
    ZeroElements(u, context.parallel());
    ZeroElements(v, context.parallel());
  }
  return ForDType(input.dtype(), DecomposedTypes(), [&]<class V>() {
    if (m.empty()) {
      if (compute_uv) FillIdentity<V>(u, context.parallel());
      if (compute_uv) FillIdentity<V>(v, context.parallel());
      return OkStatus();
    }
    const int64_t inner = std::min(m.rows, m.cols);
    const int64_t u_size = m.rows * (full_matrices ? m.rows : inner);
    const int64_t v_size = m.cols * (full_matrices ? m.cols : inner);
    return ForEachMatrix(context, m.count, CubicWork(m, 30, 5, input.dtype()), [&](int64_t i) {
      return kernels::Svd<V>(input.data<V>() + i * m.size(), m.rows, m.cols, full_matrices,
                             s.mutable_data<V>() + i * inner,
                             compute_uv ? u.mutable_data<V>() + i * u_size : nullptr,
                             compute_uv ? v.mutable_data<V>() + i * v_size : nullptr);
    });
  });
}

template <FixedString Name, class T>
Result<std::array<Shape, 2>> SelfAdjointEigV2Op<Name, T>::InferShape(const Shape& input) const {
  TRY_ASSIGN(const Shape square, CheckSquare(input, "input"));
  const Shape e = square.has_rank() ? square.Slice(0, square.rank() - 1) : square;
  return std::array<Shape, 2>{e, compute_v ? square : kNothing};
}

template <FixedString Name, class T>
Status SelfAdjointEigV2Op<Name, T>::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& e,
                                               Tensor& v) const {
  const MatrixExtents m(input.shape());
  if (!compute_v) ZeroElements(v, context.parallel());
  if (m.empty()) return OkStatus();
  MatrixWork work = EigenvalueWork(m, input.dtype());
  work.if_failed =
      "Self-adjoint eigen decomposition was not successful. The input might not be valid.";
  return ForDType(input.dtype(), DecomposedTypes(), [&]<class V>() {
    return ForEachMatrix(context, m.count, work, [&](int64_t i) {
      return kernels::SelfAdjointEig<V>(input.data<V>() + i * m.size(), m.rows,
                                        e.mutable_data<V>() + i * m.rows,
                                        compute_v ? v.mutable_data<V>() + i * m.size() : nullptr);
    });
  });
}

template <FixedString Name, class T>
Result<Shape> SelfAdjointEigOp<Name, T>::InferShape(const Shape& input) const {
  TRY_ASSIGN(const Shape square, CheckSquare(input, "input"));
  if (!square.has_rank()) return square;
  const int64_t n = ColsOf(square);
  return MatricesOf(BatchOf(square), n < 0 ? n : n + 1, n);
}

template <FixedString Name, class T>
Status SelfAdjointEigOp<Name, T>::ComputeCpu(CpuContext& context, const Tensor& input,
                                             Tensor& output) const {
  const MatrixExtents m(input.shape());
  if (m.empty()) return OkStatus();
  return ForDType(input.dtype(), Types<float, double>(), [&]<class V>() {
    return ForEachMatrix(context, m.count, EigenvalueWork(m, input.dtype()), [&](int64_t i) {
      V* e = output.mutable_data<V>() + i * (m.size() + m.cols);
      return kernels::SelfAdjointEig<V>(input.data<V>() + i * m.size(), m.rows, e, e + m.cols);
    });
  });
}

Result<std::array<Shape, 2>> Eig::InferShape(const Shape& input) const {
  return SelfAdjointEigV2{.compute_v = compute_v}.InferShape(input);
}

Status Eig::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& e, Tensor& v) const {
  const MatrixExtents m(input.shape());
  if (!compute_v) ZeroElements(v, context.parallel());
  if (m.empty()) return OkStatus();
  return ForDType(e.dtype(), Types<complex64, complex128>(), [&]<class C>() {
    return ForDType(input.dtype(), DecomposedTypes(), [&]<class V>() {
      if constexpr (!std::is_same_v<V, C> && !std::is_same_v<V, typename C::value_type>) {
        return InvalidArgument("Tout must be the complex type of T, got {} for {}", e.dtype(),
                               input.dtype());
      } else {
        return ForEachMatrix(context, m.count, EigenvalueWork(m, input.dtype()), [&](int64_t i) {
          const V* a = input.data<V>() + i * m.size();
          C* values = e.mutable_data<C>() + i * m.rows;
          C* vectors = compute_v ? v.mutable_data<C>() + i * m.size() : nullptr;
          if constexpr (std::is_same_v<V, C>) {
            return kernels::Eig<C>(a, m.rows, values, vectors);
          } else {
            return kernels::RealEig<V>(a, m.rows, values, vectors);
          }
        });
      }
    });
  });
}

Status MatrixSquareRoot::ComputeCpu(CpuContext& context, const Tensor& input,
                                    Tensor& output) const {
  const MatrixExtents m(input.shape());
  if (m.empty()) return OkStatus();
  return ForDType(input.dtype(), DecomposedTypes(), [&]<class V>() {
    return ForEachMatrix(context, m.count, CubicWork(m, 40, 4, input.dtype()), [&](int64_t i) {
      return kernels::MatrixSquareRoot(input.data<V>() + i * m.size(), m.rows,
                                       output.mutable_data<V>() + i * m.size());
    });
  });
}

Status MatrixLogarithm::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const {
  const MatrixExtents m(input.shape());
  if (m.empty()) return OkStatus();
  return ForDType(input.dtype(), Types<complex64, complex128>(), [&]<class V>() {
    return ForEachMatrix(context, m.count, CubicWork(m, 40, 6, input.dtype()), [&](int64_t i) {
      return kernels::MatrixLogarithm(input.data<V>() + i * m.size(), m.rows,
                                      output.mutable_data<V>() + i * m.size());
    });
  });
}

void RegisterSpectral(Registrar& registrar) {
  registrar.AddAll<Qr, Svd, BatchSvd, SelfAdjointEigV2, BatchSelfAdjointEigV2, SelfAdjointEig,
                   BatchSelfAdjointEig, Eig, MatrixSquareRoot, MatrixLogarithm>();
}

}  // namespace penstock::ops
