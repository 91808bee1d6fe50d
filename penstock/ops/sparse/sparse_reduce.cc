#include "penstock/ops/sparse/sparse_reduce.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/kernels/math_wrap.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/sparse/sparse_tensor.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

// Which axes are reduced. One may be named twice.
Result<std::vector<bool>> ReducedAxes(const Integers& axes, int64_t rank) {
  std::vector<bool> reduced(static_cast<size_t>(rank), false);
  for (const int64_t axis : axes.values()) {
    TRY_ASSIGN(const int at, ResolveAxis(axis, static_cast<int>(rank)));
    reduced[at] = true;
  }
  return reduced;
}

// The extents that are left.
std::vector<int64_t> KeptExtents(std::span<const int64_t> extents, const std::vector<bool>& reduced,
                                 bool keep_dims) {
  std::vector<int64_t> kept;
  for (size_t k = 0; k < extents.size(); ++k) {
    if (!reduced[k]) kept.push_back(extents[k]);
    if (reduced[k] && keep_dims) kept.push_back(1);
  }
  return kept;
}

template <class T>
T Joined(SparseFold fold, const T& a, const T& b) {
  if constexpr (requires { a < b; }) {
    if (fold == SparseFold::kMax) return a < b ? b : a;
  }
  return math::Add(a, b);
}

// Folds the values of each place.
template <class T>
Status FoldAt(SparseFold fold, const Tensor& values, std::span<const int64_t> places,
              std::span<bool> seen, Tensor& output) {
  std::fill(seen.begin(), seen.end(), false);
  const T* from = values.data<T>();
  T* to = output.mutable_data<T>();
  for (size_t i = 0; i < places.size(); ++i) {
    const int64_t at = places[i];
    to[at] = seen[at] ? Joined(fold, to[at], from[i]) : from[i];
    seen[at] = true;
  }
  return OkStatus();
}

Status FoldPlaces(CpuContext& context, SparseFold fold, const Tensor& values,
                  std::span<const int64_t> places, Tensor& output) {
  TRY_ASSIGN(Tensor seen, context.Allocate(DType::kBool, Shape{output.num_elements()}));
  return ForDType(values.dtype(), PlainNumbers(), [&]<class T>() {
    return FoldAt<T>(fold, values, places, seen.mutable_values<bool>(), output);
  });
}

// The indices with the reduced axes left out, or set to 0.
Result<Tensor> KeptIndices(CpuContext& context, const IndexMatrix& indices,
                           const std::vector<bool>& reduced, bool keep_dims) {
  const int64_t kept =
      keep_dims ? indices.rank() : std::count(reduced.begin(), reduced.end(), false);
  TRY_ASSIGN(Tensor tensor, context.Allocate(DType::kInt64, Shape{indices.rows(), kept}));
  int64_t* out = tensor.mutable_data<int64_t>();
  for (int64_t i = 0; i < indices.rows(); ++i) {
    for (int64_t k = 0; k < indices.rank(); ++k) {
      if (!reduced[k]) *out++ = indices[i][k];
      if (reduced[k] && keep_dims) *out++ = 0;
    }
  }
  return tensor;
}

}  // namespace

Result<Shape> InferSparseReduce(const Shape& indices, const Shape& values, const Integers& extents,
                                const Integers& axes, bool keep_dims) {
  TRY_ASSIGN(const int64_t rank, CheckSparse(indices, values, extents.shape()));
  if (axes.shape().has_rank() && axes.shape().rank() > 1)
    return InvalidArgument("reduction_axes must be a scalar or vector, got shape {}", axes.shape());
  if (rank < 0 || !axes.known()) {
    return keep_dims && rank >= 0 ? Shape::UnknownOfRank(static_cast<int>(rank)) : Shape::Unknown();
  }
  TRY_ASSIGN(const std::vector<bool> reduced, ReducedAxes(axes, rank));
  if (extents.known()) {
    for (const int64_t extent : extents.values()) {
      if (extent < 0) return InvalidArgument("input_shape must not be negative, got {}", extent);
    }
    return Shape::Make(KeptExtents(extents.values(), reduced, keep_dims));
  }
  const std::vector<int64_t> unknown(static_cast<size_t>(rank), Shape::kUnknownDim);
  return Shape::Make(KeptExtents(unknown, reduced, keep_dims));
}

Status ReduceToDense(CpuContext& context, SparseFold fold, const Tensor& indices,
                     const Tensor& values, const Tensor& extents, const Integers& axes,
                     Tensor& output) {
  const IndexMatrix matrix(indices);
  TRY_ASSIGN(const std::vector<bool> reduced, ReducedAxes(axes, matrix.rank()));
  const std::vector<int64_t> all(extents.data<int64_t>(), extents.data<int64_t>() + matrix.rank());
  ZeroElements(output, context.parallel());
  std::vector<int64_t> strides(all.size(), 0);
  int64_t step = 1;
  for (size_t k = all.size(); k-- > 0;) {
    if (reduced[k]) continue;
    strides[k] = step;
    step *= std::max<int64_t>(all[k], 1);  // fits: the output has that shape
  }
  TRY_ASSIGN(Tensor places, context.Allocate(DType::kInt64, Shape{matrix.rows()}));
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    int64_t place = 0;
    for (int64_t k = 0; k < matrix.rank(); ++k) {
      if (reduced[k]) continue;
      if (!InRange(matrix[i][k], all[k])) return IndexNotWithin(matrix, i, all, "input_indices");
      place += matrix[i][k] * strides[k];
    }
    places.mutable_data<int64_t>()[i] = place;
  }
  return FoldPlaces(context, fold, values, places.values<int64_t>(), output);
}

Result<std::array<Shape, 3>> InferSparseReduceSparse(const Shape& indices, const Shape& values,
                                                     const Shape& extents, const Integers& axes,
                                                     bool keep_dims) {
  TRY_ASSIGN(int64_t rank, CheckSparse(indices, values, extents));
  if (axes.shape().has_rank() && axes.shape().rank() > 1)
    return InvalidArgument("reduction_axes must be a scalar or vector, got shape {}", axes.shape());
  int64_t kept = keep_dims ? rank : -1;
  if (rank >= 0 && axes.known()) {
    TRY_ASSIGN(const std::vector<bool> reduced, ReducedAxes(axes, rank));
    if (!keep_dims) kept = std::count(reduced.begin(), reduced.end(), false);
  }
  return SparseShapes(Shape::kUnknownDim, kept);
}

Status ReduceToSparse(CpuContext& context, SparseFold fold, const Tensor& indices,
                      const Tensor& values, const Tensor& extents, const Integers& axes,
                      bool keep_dims) {
  const IndexMatrix matrix(indices);
  TRY_ASSIGN(const std::vector<bool> reduced, ReducedAxes(axes, matrix.rank()));
  TRY_ASSIGN(const std::vector<int64_t> all, ReadExtents(extents));
  TRY_ASSIGN(const Tensor kept_tensor, KeptIndices(context, matrix, reduced, keep_dims));
  const IndexMatrix kept(kept_tensor);
  TRY_ASSIGN(const Tensor order_tensor, SortedOrder(context, kept));
  const auto order = order_tensor.values<int64_t>();
  // Equal indices follow each other: their number is their place.
  TRY_ASSIGN(Tensor places, context.Allocate(DType::kInt64, Shape{matrix.rows()}));
  int64_t groups = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    if (k == 0 || kept.Compare(order[k], kept[order[k - 1]]) != 0) ++groups;
    places.mutable_data<int64_t>()[order[k]] = groups - 1;
  }
  TRY_ASSIGN(int64_t * out, NewIndices(context, 0, groups, kept.rank()));
  for (int64_t i = 0; i < kept.rows(); ++i) {
    const int64_t at = places.data<int64_t>()[i];
    std::copy_n(kept[i], kept.rank(), out + at * kept.rank());
  }
  TRY(context.AllocateOutput(1, values.dtype(), Shape{groups}));
  TRY(FoldPlaces(context, fold, values, places.values<int64_t>(), context.output(1)));
  return SetVector(context, 2, KeptExtents(all, reduced, keep_dims));
}

// Each value gets the gradient at its index, in which reduced axes are 0.
void SparseReduceSumGradient(Gradients& g) {
  const Scope& s = g.scope();
  const DType kLong = DType::kInt64;
  const Expr indices = g.input(0), extents = g.input(2);
  const Expr one = IntScalar(s, 1, kLong);
  const Expr rank = Op("Size", extents, {{"out_type", kLong}});
  const Expr axes = Op("FloorMod", CastTo(g.input(3), kLong), Op("Maximum", rank, one));
  const Expr rows = Op("Reshape", axes, IntVector(s, {-1, 1}));
  const Expr ones = Op("OnesLike", Op("Reshape", axes, IntVector(s, {-1})));
  const Expr is_reduced =
      Op("Minimum", Op("ScatterNd", rows, ones, Op("Reshape", rank, IntVector(s, {1}))), one);
  const Expr is_kept = one - is_reduced;
  const Expr dy = Op("Reshape", g.dy(), extents * is_kept + is_reduced);
  g.Set(1, Op("GatherNd", dy, indices * is_kept));
}

Result<Shape> SparseSoftmax::InferShape(const Shape& indices, const Shape& values,
                                        const Shape& extents) const {
  TRY_ASSIGN(const int64_t rank, CheckSparse(indices, values, extents));
  if (rank >= 0 && rank < 2)
    return InvalidArgument("sp_shape must have at least 2 extents, got {}", rank);
  if (values.has_rank()) return values;
  return Shape{indices.has_rank() ? indices[0] : Shape::kUnknownDim};
}

template <class T>
Status SparseSoftmax::ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                                 const Tensor&, Tensor& output) const {
  using Number = ComputeType<T>;
  const IndexMatrix matrix(indices);
  TRY_ASSIGN(const Tensor order_tensor, SortedOrder(context, matrix));
  const auto order = order_tensor.values<int64_t>();
  const auto same_row = [&](int64_t a, int64_t b) {
    return std::equal(matrix[a], matrix[a] + matrix.rank() - 1, matrix[b]);
  };
  const auto value = [&](size_t k) { return static_cast<Number>(values.data<T>()[order[k]]); };
  T* out = output.mutable_data<T>();
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    Number most = value(begin);
    for (end = begin + 1; end < order.size() && same_row(order[begin], order[end]); ++end)
      most = std::max(most, value(end));
    Number sum = 0;
    for (size_t k = begin; k < end; ++k) sum += std::exp(value(k) - most);
    for (size_t k = begin; k < end; ++k)
      out[order[k]] = static_cast<T>(std::exp(value(k) - most) / sum);
  }
  return OkStatus();
}

// dx = y * (dy - sum over the row of y * dy).
void SparseSoftmax::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const Expr indices = g.input(0), extents = g.input(2), y = g.output(0), dy = g.dy();
  const Expr sums = s.Add("SparseReduceSum", {indices, y * dy, extents, IntVector(s, {-1})},
                          {{"keep_dims", true}});
  g.Set(1, y * s.Add("SparseDenseCwiseAdd", {indices, dy, extents, -sums}));
}

void RegisterSparseReduce(Registrar& registrar) {
  registrar.AddAll<SparseReduceSum, SparseReduceMax, SparseReduceSumSparse, SparseReduceMaxSparse,
                   SparseSoftmax>();
}

}  // namespace penstock::ops
