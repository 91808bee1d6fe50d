#include "penstock/ops/matmul.h"

#include <array>
#include <complex>

#include "penstock/kernels/broadcast.h"
#include "penstock/kernels/gemm.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/index_rows.h"

// M rows and N columns of a product, K its inner dimension.

namespace penstock::ops {
namespace {

using GemmTypes = Types<float, double, half, bfloat16, int32_t, int64_t, complex64, complex128>;
using SmallIntegers = Types<int8_t, int16_t, uint8_t, uint16_t>;

// The small integers are rare: they are multiplied plainly, and wrap.
template <class T>
void PlainProduct(const kernels::GemmBatch& batch, bool transpose_a, bool transpose_b, int64_t M,
                  int64_t N, int64_t K, const T* a, const T* b, T* c, const ParallelFor& each) {
  each(batch.count * M, 2.0 * static_cast<double>(N) * static_cast<double>(K),
       [&](int64_t begin, int64_t end) {
         for (int64_t i = begin; i < end; ++i) {
           const int64_t item = i / M, m = i % M;
           const T* left = a + batch.a_offsets[item];
           const T* right = b + batch.b_offsets[item];
           for (int64_t n = 0; n < N; ++n) {
             uint32_t sum = 0;
             for (int64_t k = 0; k < K; ++k) {
               sum += static_cast<uint32_t>(left[transpose_a ? k * M + m : m * K + k]) *
                      static_cast<uint32_t>(right[transpose_b ? n * K + k : k * N + n]);
             }
             c[i * N + n] = static_cast<T>(sum);
           }
         }
       });
}

template <class T>
Result<Tensor> Conjugated(CpuContext& context, const Tensor& x) {
  TRY_ASSIGN(Tensor out, context.Allocate(x.dtype(), x.shape()));
  const T* from = x.data<T>();
  T* to = out.mutable_data<T>();
  context.parallel()(x.num_elements(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = std::conj(from[i]);
  });
  return out;
}

Result<Tensor> ConjugatedIf(bool adjoint, CpuContext& context, const Tensor& x) {
  if (adjoint && x.dtype() == DType::kComplex64) return Conjugated<complex64>(context, x);
  if (adjoint && x.dtype() == DType::kComplex128) return Conjugated<complex128>(context, x);
  return x;
}

// Where in `operand` each matrix of the output's batch begins.
void FillOffsets(const Shape& operand, const Shape& output, int64_t* offsets) {
  const int axes = output.rank() - 2;
  const int64_t matrix = ProductOf(operand, operand.rank() - 2, operand.rank());
  int64_t strides[Shape::kMaxRank];
  kernels::BroadcastStrides(operand.dims().first(static_cast<size_t>(operand.rank() - 2)),
                            output.dims().first(static_cast<size_t>(axes)), strides);
  int64_t index[Shape::kMaxRank] = {};
  int64_t at = 0;
  const int64_t count = ProductOf(output, 0, axes);
  for (int64_t i = 0; i < count; ++i) {
    offsets[i] = at * matrix;
    for (int axis = axes - 1; axis >= 0; --axis) {
      at += strides[axis];
      if (++index[axis] < output.dim(axis)) break;
      at -= strides[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

// Unsigned numbers wrap like signed ones, bit for bit.
DType SignedOf(DType dtype) {
  if (dtype == DType::kUint32) return DType::kInt32;
  return dtype == DType::kUint64 ? DType::kInt64 : dtype;
}

Status MultiplyAdjoint(CpuContext& context, const Tensor& x, const Tensor& y, bool adj_x,
                       bool adj_y, Tensor& output) {
  if (x.dtype() != output.dtype() || y.dtype() != output.dtype()) {
    return Unimplemented("the types of a product must be equal, got {}, {} and {}", x.dtype(),
                         y.dtype(), output.dtype());
  }
  TRY_ASSIGN(const Tensor left, ConjugatedIf(adj_x, context, x));
  TRY_ASSIGN(const Tensor right, ConjugatedIf(adj_y, context, y));
  return MultiplyMatrices(context, left, right, adj_x, adj_y, output);
}

// The factors of a product and whether each is transposed (or adjoint).
struct Product {
  Expr left, right;
  bool transpose_left, transpose_right;
};

// d(op(x) op(y)) for each factor, for the four combinations of op.
std::array<Product, 2> Derivatives(const Expr& x, const Expr& y, const Expr& dz, bool transpose_x,
                                   bool transpose_y) {
  return {transpose_x ? Product{y, dz, transpose_y, true} : Product{dz, y, false, !transpose_y},
          transpose_y ? Product{dz, x, true, transpose_x} : Product{x, dz, !transpose_x, false}};
}

// The batch axes of a shape, as a vector.
Expr BatchAxes(const Expr& x) {
  const Scope& s = x.scope();
  return s.Add("StridedSlice",
               {ShapeOf(x), IntVector(s, {0}), IntVector(s, {-2}), IntVector(s, {1})},
               {{"begin_mask", 1}});
}

// Whether an operand is known to have the output's batch axes as they are.
bool HasBatchOf(const Shape& operand, const Shape& output) {
  if (!operand.IsFullyKnown() || !output.IsFullyKnown() || operand.rank() != output.rank()) {
    return false;
  }
  return operand.Slice(0, operand.rank() - 2) == output.Slice(0, output.rank() - 2);
}

// Where the batch is broadcast, sums over the axes along which an input was repeated.
template <class BatchOp>
void BatchGradient(const BatchOp& op, Gradients& g, bool broadcast) {
  const auto products = Derivatives(g.input(0), g.input(1), g.dy(), op.adj_x, op.adj_y);
  for (int i = 0; i < 2; ++i) {
    const Product& p = products[static_cast<size_t>(i)];
    AttrMap attrs = {{"adj_x", p.transpose_left},
                     {"adj_y", p.transpose_right},
                     {i == 0 ? "grad_x" : "grad_y", true}};
    if constexpr (std::is_same_v<BatchOp, BatchMatMulV3>)
      SetAttr(attrs, "Tout", g.input(i).dtype());
    const Expr product = penstock::Op(BatchOp::kName, p.left, p.right, std::move(attrs));
    if (!broadcast || HasBatchOf(g.input(i).shape(), g.output(0).shape())) {
      g.Set(i, product);
      continue;
    }
    const Expr repeated =
        penstock::Op("BroadcastGradientArgs", BatchAxes(g.input(i)), BatchAxes(g.input(1 - i)));
    g.Set(i, ReshapeLike(penstock::Op("Sum", product, repeated), g.input(i)));
  }
}

}  // namespace

Result<Shape> BatchMatMulShape(const Shape& x, const Shape& y, bool transpose_x, bool transpose_y,
                               bool broadcast) {
  TRY(CheckRankAtLeast(x, 2, "the left matrix"));
  TRY(CheckRankAtLeast(y, 2, "the right matrix"));
  auto extent = [](const Shape& shape, int from_end) {
    return shape.has_rank() ? shape.dim(shape.rank() - from_end) : Shape::kUnknownDim;
  };
  const int64_t left = extent(x, transpose_x ? 2 : 1);
  const int64_t right = extent(y, transpose_y ? 1 : 2);
  if (left >= 0 && right >= 0 && left != right) {
    return InvalidArgument(
        "Matrix size-incompatible: inner dimensions must agree: {} vs {}, in shapes {} and {}",
        left, right, x, y);
  }
  if (!x.has_rank() || !y.has_rank()) {
    if (!broadcast && (x.has_rank() || y.has_rank())) {
      return Shape::UnknownOfRank(x.has_rank() ? x.rank() : y.rank());
    }
    return Shape::Unknown();
  }
  const Shape x_batch = x.Slice(0, x.rank() - 2), y_batch = y.Slice(0, y.rank() - 2);
  TRY_ASSIGN(Shape out,
             broadcast ? BroadcastShapes(x_batch, y_batch) : MergeShapes(x_batch, y_batch));
  if (out.rank() + 2 > Shape::kMaxRank) {
    return InvalidArgument("a product has at most {} dimensions", Shape::kMaxRank);
  }
  out.Append(extent(x, transpose_x ? 1 : 2));
  out.Append(extent(y, transpose_y ? 2 : 1));
  return Shape::Make(out.dims());  // outer dimensions alone may overflow
}

Status MultiplyMatrices(CpuContext& context, const Tensor& x, const Tensor& y, bool transpose_x,
                        bool transpose_y, Tensor& output) {
  if (output.num_elements() == 0) return OkStatus();
  const Shape& shape = output.shape();
  int64_t M = shape.dim(shape.rank() - 2);
  const int64_t N = shape.dim(shape.rank() - 1);
  const int64_t K = x.shape().dim(x.shape().rank() - (transpose_x ? 2 : 1));
  const int64_t lda = transpose_x ? M : K, ldb = transpose_y ? K : N;
  int64_t count = ProductOf(shape, 0, shape.rank() - 2);
  if (!transpose_x && count > 1 && ProductOf(y.shape(), 0, y.shape().rank() - 2) == 1 &&
      ProductOf(x.shape(), 0, x.shape().rank() - 2) == count) {
    M *= count;  // many matrices times one are one tall matrix times it
    count = 1;
  }
  TRY_ASSIGN(Tensor offsets, context.Allocate(DType::kInt64, Shape{2, count}));
  int64_t* x_offsets = offsets.mutable_data<int64_t>();
  int64_t* y_offsets = x_offsets + count;
  if (count == 1) {
    x_offsets[0] = y_offsets[0] = 0;
  } else {
    FillOffsets(x.shape(), shape, x_offsets);
    FillOffsets(y.shape(), shape, y_offsets);
  }
  const kernels::GemmBatch batch{count, x_offsets, y_offsets, M * N};
  const DType dtype = SignedOf(output.dtype());
  if (IsInteger(dtype) && SizeOf(dtype) <= 2) {
    return ForDType(dtype, SmallIntegers(), [&]<class T>() {
      PlainProduct<T>(batch, transpose_x, transpose_y, M, N, K, x.data<T>(), y.data<T>(),
                      output.mutable_data<T>(), context.parallel());
      return OkStatus();
    });
  }
  return ForDType(dtype, GemmTypes(), [&]<class T>() {
    kernels::BatchedGemm<T>(batch, transpose_x, transpose_y, M, N, K, x.data<T>(), lda, y.data<T>(),
                            ldb, output.mutable_data<T>(), N, 0, context.parallel());
    return OkStatus();
  });
}

Status MatMul::ComputeCpu(CpuContext& context, const Tensor& a, const Tensor& b,
                          Tensor& product) const {
  return MultiplyMatrices(context, a, b, transpose_a, transpose_b, product);
}

Status BatchMatMul::ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& y,
                               Tensor& output) const {
  return MultiplyAdjoint(context, x, y, adj_x, adj_y, output);
}

Status BatchMatMulV2::ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& y,
                                 Tensor& output) const {
  return MultiplyAdjoint(context, x, y, adj_x, adj_y, output);
}

Status BatchMatMulV3::ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& y,
                                 Tensor& output) const {
  return MultiplyAdjoint(context, x, y, adj_x, adj_y, output);
}

void MatMul::Gradient(Gradients& g) const {
  const auto products =
      Derivatives(Conj(g.input(0)), Conj(g.input(1)), g.dy(), transpose_a, transpose_b);
  for (int i = 0; i < 2; ++i) {
    const Product& p = products[static_cast<size_t>(i)];
    g.Set(i, Op("MatMul", p.left, p.right,
                {{"transpose_a", p.transpose_left},
                 {"transpose_b", p.transpose_right},
                 {i == 0 ? "grad_a" : "grad_b", true}}));
  }
}

void BatchMatMul::Gradient(Gradients& g) const { BatchGradient(*this, g, false); }

void BatchMatMulV2::Gradient(Gradients& g) const { BatchGradient(*this, g, true); }

void BatchMatMulV3::Gradient(Gradients& g) const { BatchGradient(*this, g, true); }

void RegisterMatMul(Registrar& registrar) {
  registrar.AddAll<MatMul, BatchMatMul, BatchMatMulV2, BatchMatMulV3>();
}

}  // namespace penstock::ops
