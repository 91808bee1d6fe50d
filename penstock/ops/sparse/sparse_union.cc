#include "penstock/ops/sparse/sparse_union.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include "penstock/kernels/math_wrap.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/sparse/sparse_tensor.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

constexpr int64_t kNone = -1;

// Which value of a and of b each index of the union has.
struct Union {
  Tensor places;  // [2, na + nb]
  int64_t count = 0;

  int64_t* a() { return places.mutable_data<int64_t>(); }
  int64_t* b() { return a() + places.shape()[1]; }
};

Result<Union> Merge(CpuContext& context, const IndexMatrix& a, const IndexMatrix& b) {
  Union both;
  TRY_ASSIGN(both.places, context.Allocate(DType::kInt64, Shape{2, a.rows() + b.rows()}));
  int64_t i = 0, j = 0;
  while (i < a.rows() || j < b.rows()) {
    const int order = i == a.rows() ? 1 : j == b.rows() ? -1 : a.Compare(i, b[j]);
    both.a()[both.count] = order <= 0 ? i++ : kNone;
    both.b()[both.count] = order >= 0 ? j++ : kNone;
    ++both.count;
  }
  return both;
}

Status CheckSameExtents(const Tensor& a_shape, const Tensor& b_shape) {
  const auto a = a_shape.values<int64_t>(), b = b_shape.values<int64_t>();
  for (size_t k = 0; k < a.size(); ++k) {
    if (a[k] != b[k])
      return InvalidArgument("the shapes must agree: {} vs {} for axis {}", a[k], b[k], k);
  }
  return OkStatus();
}

Result<int64_t> CheckTwo(const Shape& a_indices, const Shape& a_values, const Shape& a_shape,
                         const Shape& b_indices, const Shape& b_values, const Shape& b_shape) {
  TRY_ASSIGN(const int64_t a, CheckSparse(a_indices, a_values, a_shape));
  TRY_ASSIGN(const int64_t b, CheckSparse(b_indices, b_values, b_shape));
  if (a >= 0 && b >= 0 && a != b)
    return InvalidArgument("both sparse tensors must have the same rank: {} vs {}", a, b);
  return std::max(a, b);
}

Status SetUnionIndices(CpuContext& context, const IndexMatrix& a, const IndexMatrix& b,
                       Union& both) {
  TRY_ASSIGN(int64_t * out, NewIndices(context, 0, both.count, a.rank()));
  for (int64_t k = 0; k < both.count; ++k, out += a.rank())
    std::copy_n(both.a()[k] == kNone ? b[both.b()[k]] : a[both.a()[k]], a.rank(), out);
  return OkStatus();
}

template <class T>
double Magnitude(const T& x) {
  if constexpr (requires { x.imag(); }) {
    return static_cast<double>(std::abs(x));
  } else {
    return std::abs(static_cast<double>(x));
  }
}

// Leaves out sums that are too small.
template <class T>
void DropSmall(const T* a, const T* b, double threshold, Union& both) {
  int64_t kept = 0;
  for (int64_t k = 0; k < both.count; ++k) {
    const int64_t i = both.a()[k], j = both.b()[k];
    if (i != kNone && j != kNone && !(threshold <= Magnitude(math::Add(a[i], b[j])))) continue;
    both.a()[kept] = i;
    both.b()[kept++] = j;
  }
  both.count = kept;
}

// Output 1: combine(x, y), where a value that is not there is zero.
template <class T, class Combine>
Status SetUnionValues(CpuContext& context, const Tensor& a, const Tensor& b, Union& both,
                      Combine combine) {
  TRY(context.AllocateOutput(1, a.dtype(), Shape{both.count}));
  T* out = context.output(1).mutable_data<T>();
  for (int64_t k = 0; k < both.count; ++k) {
    const int64_t i = both.a()[k], j = both.b()[k];
    out[k] = combine(i == kNone ? T() : a.data<T>()[i], j == kNone ? T() : b.data<T>()[j]);
  }
  return OkStatus();
}

Result<double> ThresholdOf(const Tensor& thresh) {
  double value = 0;
  TRY(ForDType(thresh.dtype(), PlainRealNumbers(), [&]<class T>() {
    value = static_cast<double>(*thresh.data<T>());
    return OkStatus();
  }));
  return value;
}

// Copies the gradients of those indices that the sum has.
void CopyKept(const IndexMatrix& mine, const IndexMatrix& sum, const Tensor& grad, Tensor& out) {
  int64_t k = 0;
  for (int64_t i = 0; i < mine.rows(); ++i) {
    while (k < sum.rows() && sum.Compare(k, mine[i]) < 0) ++k;
    if (k < sum.rows() && sum.Compare(k, mine[i]) == 0) CopyRun(grad, k, out, i, 1, ParallelFor());
  }
}

}  // namespace

Result<std::array<Shape, 3>> SparseAdd::InferShape(const Shape& a_indices, const Shape& a_values,
                                                   const Shape& a_shape, const Shape& b_indices,
                                                   const Shape& b_values, const Shape& b_shape,
                                                   const Shape& thresh) const {
  TRY_ASSIGN(const int64_t rank,
             CheckTwo(a_indices, a_values, a_shape, b_indices, b_values, b_shape));
  TRY(CheckScalar(thresh, "thresh"));
  return SparseShapes(Shape::kUnknownDim, rank);
}

Status SparseAdd::ComputeCpu(CpuContext& context, const Tensor& a_indices, const Tensor& a_values,
                             const Tensor& a_shape, const Tensor& b_indices, const Tensor& b_values,
                             const Tensor& b_shape, const Tensor& thresh) const {
  TRY(CheckSameExtents(a_shape, b_shape));
  const IndexMatrix a(a_indices), b(b_indices);
  TRY_ASSIGN(Union both, Merge(context, a, b));
  TRY_ASSIGN(const double threshold, ThresholdOf(thresh));
  TRY(ForDType(a_values.dtype(), PlainNumbers(), [&]<class T>() {
    DropSmall(a_values.data<T>(), b_values.data<T>(), threshold, both);
    return SetUnionValues<T>(context, a_values, b_values, both,
                             [](const T& x, const T& y) { return math::Add(x, y); });
  }));
  TRY(SetUnionIndices(context, a, b, both));
  return SetVector(context, 2, a_shape.values<int64_t>());
}

void SparseAdd::Gradient(Gradients& g) const {
  const Expr d = g.scope().Add("SparseAddGrad", {g.dy(1), g.input(0), g.input(3), g.output(0)});
  if (!d.valid()) return;
  g.Set(1, d.Output(0));
  g.Set(4, d.Output(1));
}

Result<std::array<Shape, 2>> SparseAddGrad::InferShape(const Shape& grad, const Shape& a_indices,
                                                       const Shape& b_indices,
                                                       const Shape& sum_indices) const {
  TRY(CheckVector(grad, "backprop_val_grad"));
  TRY(CheckRank(a_indices, 2, "a_indices"));
  TRY(CheckRank(b_indices, 2, "b_indices"));
  TRY(CheckRank(sum_indices, 2, "sum_indices"));
  int64_t columns = -1;
  for (const Shape* indices : {&a_indices, &b_indices, &sum_indices}) {
    if (!indices->has_rank() || (*indices)[1] < 0) continue;
    if (columns >= 0 && (*indices)[1] != columns) {
      return InvalidArgument("all indices must have the same number of columns: {} vs {}", columns,
                             (*indices)[1]);
    }
    columns = (*indices)[1];
  }
  if (grad.has_rank() && sum_indices.has_rank() &&
      !sum_indices.Slice(0, 1).IsCompatibleWith(grad)) {
    return InvalidArgument("sum_indices must have a row for each gradient: {} vs {}", sum_indices,
                           grad);
  }
  return std::array<Shape, 2>{a_indices.has_rank() ? a_indices.Slice(0, 1) : Shape{-1},
                              b_indices.has_rank() ? b_indices.Slice(0, 1) : Shape{-1}};
}

Status SparseAddGrad::ComputeCpu(CpuContext& context, const Tensor& grad, const Tensor& a_indices,
                                 const Tensor& b_indices, const Tensor& sum_indices,
                                 Tensor& a_val_grad, Tensor& b_val_grad) const {
  ZeroElements(a_val_grad, context.parallel());
  ZeroElements(b_val_grad, context.parallel());
  const IndexMatrix sum(sum_indices);
  CopyKept(IndexMatrix(a_indices), sum, grad, a_val_grad);
  CopyKept(IndexMatrix(b_indices), sum, grad, b_val_grad);
  return OkStatus();
}

Result<std::array<Shape, 2>> InferSparseExtreme(const Shape& a_indices, const Shape& a_values,
                                                const Shape& a_shape, const Shape& b_indices,
                                                const Shape& b_values, const Shape& b_shape) {
  TRY_ASSIGN(const int64_t rank,
             CheckTwo(a_indices, a_values, a_shape, b_indices, b_values, b_shape));
  const auto shapes = SparseShapes(Shape::kUnknownDim, rank);
  return std::array<Shape, 2>{shapes[0], shapes[1]};
}

Status SparseExtremeOf(CpuContext& context, bool is_max, const Tensor& a_indices,
                       const Tensor& a_values, const Tensor& a_shape, const Tensor& b_indices,
                       const Tensor& b_values, const Tensor& b_shape) {
  TRY(CheckSameExtents(a_shape, b_shape));
  const IndexMatrix a(a_indices), b(b_indices);
  TRY_ASSIGN(Union both, Merge(context, a, b));
  TRY(SetUnionIndices(context, a, b, both));
  return ForDType(a_values.dtype(), PlainRealNumbers(), [&]<class T>() {
    return SetUnionValues<T>(context, a_values, b_values, both, [is_max](const T& x, const T& y) {
      return (is_max ? x < y : y < x) ? y : x;
    });
  });
}

void RegisterSparseUnion(Registrar& registrar) {
  registrar.AddAll<SparseAdd, SparseAddGrad, SparseSparseMaximum, SparseSparseMinimum>();
}

}  // namespace penstock::ops
