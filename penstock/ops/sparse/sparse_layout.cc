#include "penstock/ops/sparse/sparse_layout.h"

#include <algorithm>
#include <limits>
#include <span>

#include "penstock/core/checked.h"
#include "penstock/ops/array/row_copies.h"
#include "penstock/ops/gradient_terms.h"
#include "penstock/ops/sparse/sparse_tensor.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

int64_t CountOf(const Shape& indices, const Shape& values) {
  if (indices.has_rank() && indices[0] >= 0) return indices[0];
  return values.has_rank() ? values[0] : Shape::kUnknownDim;
}

Result<int64_t> NumElements(std::span<const int64_t> extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) {
    const auto next = CheckedMul(product, extent);
    if (!next)
      return InvalidArgument("a sparse tensor of more than 2^63 elements cannot be reshaped");
    product = *next;
  }
  return product;
}

// The new extents with the one that is left out filled in.
Result<std::vector<int64_t>> FillIn(std::span<const int64_t> from, std::span<const int64_t> to) {
  std::vector<int64_t> extents(to.begin(), to.end());
  TRY_ASSIGN(const int64_t elements, NumElements(from));
  int64_t product = 1;
  int64_t left_out = -1;
  for (size_t k = 0; k < extents.size(); ++k) {
    if (extents[k] == -1) {
      if (left_out >= 0)
        return InvalidArgument("new_shape may have one extent of -1, got places {} and {}",
                               left_out, k);
      left_out = static_cast<int64_t>(k);
      continue;
    }
    if (extents[k] < 0)
      return InvalidArgument("new_shape must not be negative, got {}", extents[k]);
    const auto next = CheckedMul(product, extents[k]);
    if (!next) return InvalidArgument("new_shape has more than 2^63 elements");
    product = *next;
  }
  if (left_out >= 0) {
    if (product == 0) return InvalidArgument("new_shape cannot have -1 beside an extent of 0");
    extents[left_out] = elements / product;
    product *= extents[left_out];
  }
  if (product != elements) {
    return InvalidArgument("new_shape must have as many elements as the shape: {} vs {}", elements,
                           product);
  }
  return extents;
}

}  // namespace

Result<std::array<Shape, 2>> SparseReorder::InferShape(const Shape& indices, const Shape& values,
                                                       const Shape& extents) const {
  TRY_ASSIGN(const int64_t rank, CheckSparse(indices, values, extents));
  const auto shapes = SparseShapes(CountOf(indices, values), rank);
  return std::array<Shape, 2>{shapes[0], shapes[1]};
}

Status SparseReorder::ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                                 const Tensor&) const {
  const IndexMatrix matrix(indices);
  TRY_ASSIGN(const Tensor order, SortedOrder(context, matrix));
  TRY(NewIndices(context, 0, matrix.rows(), matrix.rank()));
  GatherTensorRows(indices, order.values<int64_t>(), matrix.rank(), context.output(0),
                   context.parallel());
  return SetElements(context, 1, values, order.values<int64_t>());
}

// Numbers put in the same order say where each gradient goes back to.
void SparseReorder::Gradient(Gradients& g) const {
  const Scope& s = g.scope();
  const DType kLong = DType::kInt64;
  const Expr count = Op("Size", g.input(1), {{"out_type", kLong}});
  const Expr numbers = s.Add("Range", {IntScalar(s, 0, kLong), count, IntScalar(s, 1, kLong)});
  const Expr order = s.Add("SparseReorder", {g.input(0), numbers, g.input(2)});
  const Expr places = Op("InvertPermutation", order.valid() ? order.Output(1) : order);
  g.Set(1, Op("GatherV2", g.dy(1), places, IntScalar(s, 0)));
}

Result<std::array<Shape, 2>> SparseReshape::InferShape(const Shape& indices, const Shape& extents,
                                                       const Shape& new_shape) const {
  TRY(CheckSparse(indices, extents));
  TRY(CheckVector(new_shape, "new_shape"));
  const int64_t rank = new_shape.has_rank() ? new_shape[0] : Shape::kUnknownDim;
  if (rank > Shape::kMaxRank)
    return InvalidArgument("a shape has at most {} extents, got {}", Shape::kMaxRank, rank);
  const auto shapes = SparseShapes(indices.has_rank() ? indices[0] : Shape::kUnknownDim, rank);
  return std::array<Shape, 2>{shapes[0], shapes[2]};
}

Status SparseReshape::ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& extents,
                                 const Tensor& new_shape) const {
  TRY_ASSIGN(const std::vector<int64_t> from, ReadExtents(extents));
  TRY_ASSIGN(const std::vector<int64_t> to, FillIn(from, new_shape.values<int64_t>()));
  TRY(SetVector(context, 1, to));
  const IndexMatrix matrix(indices);
  TRY_ASSIGN(int64_t * out, NewIndices(context, 0, matrix.rows(), static_cast<int64_t>(to.size())));
  if (from == to) {
    std::copy_n(matrix[0], indices.num_elements(), out);
    return OkStatus();
  }
  TRY(CheckWithin(matrix, from, "input_indices"));
  const std::vector<int64_t> from_strides = DenseStrides(from), to_strides = DenseStrides(to);
  const double cost = 10.0 * static_cast<double>(from.size() + to.size());
  context.parallel()(matrix.rows(), cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t place = 0;
      for (size_t k = 0; k < from.size(); ++k) place += matrix[i][k] * from_strides[k];
      int64_t* index = out + i * static_cast<int64_t>(to.size());
      for (size_t k = 0; k < to.size(); ++k) {
        index[k] = place / to_strides[k];
        place %= to_strides[k];
      }
    }
  });
  return OkStatus();
}

Result<std::array<Shape, 3>> SparseSlice::InferShape(const Shape& indices, const Shape& values,
                                                     const Shape& extents, const Shape& start,
                                                     const Shape& size) const {
  TRY_ASSIGN(const int64_t rank, CheckSparse(indices, values, extents));
  TRY(CheckVector(start, "start"));
  TRY(CheckVector(size, "size"));
  for (const Shape* given : {&start, &size}) {
    if (rank >= 0 && given->has_rank() && !Shape{rank}.IsCompatibleWith(*given))
      return InvalidArgument("start and size must have {} elements, got shape {}", rank, *given);
  }
  return SparseShapes(Shape::kUnknownDim, rank);
}

Status SparseSlice::ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                               const Tensor& extents, const Tensor& start,
                               const Tensor& size) const {
  TRY_ASSIGN(std::vector<int64_t> part, ReadExtents(extents));
  const auto first = start.values<int64_t>(), most = size.values<int64_t>();
  std::vector<int64_t> last(part.size());  // one beyond
  for (size_t k = 0; k < part.size(); ++k) {
    if (most[k] < 0) return InvalidArgument("size must not be negative, got {}", most[k]);
    const auto end = CheckedAdd(first[k], most[k]);
    last[k] = end ? *end : std::numeric_limits<int64_t>::max();
    // A start before the first element is taken as it is, as TensorFlow does.
    int64_t room = 0;
    if (first[k] < part[k] && __builtin_sub_overflow(part[k], first[k], &room)) room = most[k];
    part[k] = std::min(most[k], room);
  }
  const IndexMatrix matrix(indices);
  TRY_ASSIGN(Tensor chosen, context.Allocate(DType::kInt64, Shape{matrix.rows()}));
  int64_t count = 0;
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    bool is_within = true;
    for (size_t k = 0; k < part.size(); ++k)
      is_within &= matrix[i][k] >= first[k] && matrix[i][k] < last[k];
    chosen.mutable_data<int64_t>()[count] = i;
    count += is_within ? 1 : 0;
  }
  const auto places = chosen.values<int64_t>().first(count);
  TRY_ASSIGN(int64_t * out, NewIndices(context, 0, count, matrix.rank()));
  for (const int64_t i : places) {
    for (size_t k = 0; k < part.size(); ++k) *out++ = matrix[i][k] - first[k];
  }
  TRY(SetElements(context, 1, values, places));
  return SetVector(context, 2, part);
}

void SparseSlice::Gradient(Gradients& g) const {
  g.Set(1, g.scope().Add("SparseSliceGrad", {g.dy(1), g.input(0), g.input(3), g.output(0)}));
}

Result<Shape> SparseSliceGrad::InferShape(const Shape& grad, const Shape& input_indices,
                                          const Shape& start, const Shape& output_indices) const {
  TRY_ASSIGN(const int64_t rank, CheckSparse(input_indices, start));
  TRY_ASSIGN(const int64_t output_rank, CheckSparse(output_indices, grad, start));
  if (rank >= 0 && output_rank >= 0 && rank != output_rank) {
    return InvalidArgument("input_indices and output_indices must have the same columns: {} vs {}",
                           rank, output_rank);
  }
  return Shape{input_indices.has_rank() ? input_indices[0] : Shape::kUnknownDim};
}

Status SparseSliceGrad::ComputeCpu(CpuContext& context, const Tensor& grad,
                                   const Tensor& input_indices, const Tensor& start,
                                   const Tensor& output_indices, Tensor& val_grad) const {
  ZeroElements(val_grad, context.parallel());
  const IndexMatrix from(input_indices), to(output_indices);
  const auto first = start.values<int64_t>();
  std::vector<int64_t> moved(first.size());
  int64_t next = 0;
  for (int64_t i = 0; i < from.rows() && next < to.rows(); ++i) {
    for (size_t k = 0; k < moved.size(); ++k) {
      if (__builtin_sub_overflow(from[i][k], first[k], &moved[k])) moved[k] = -1;
    }
    if (to.Compare(next, moved.data()) != 0) continue;
    CopyRun(grad, next, val_grad, i, 1, ParallelFor());
    ++next;
  }
  if (next == to.rows()) return OkStatus();
  return InvalidArgument("every output index must come from an input index, {} of {} did", next,
                         to.rows());
}

Result<std::array<Shape, 3>> SparseConcat::InferShape(std::span<const Known> indices,
                                                      std::span<const Known> values,
                                                      std::span<const Known> extents) const {
  int64_t rank = -1, count = 0;
  for (size_t m = 0; m < indices.size(); ++m) {
    TRY_ASSIGN(const int64_t one,
               CheckSparse(*indices[m].shape, *values[m].shape, *extents[m].shape));
    if (rank >= 0 && one >= 0 && rank != one)
      return InvalidArgument("all sparse tensors must have one rank: {} vs {}", rank, one);
    rank = std::max(rank, one);
    const int64_t more = CountOf(*indices[m].shape, *values[m].shape);
    const auto sum = count < 0 || more < 0 ? Shape::kUnknownDim : CheckedAdd(count, more);
    if (!sum) return InvalidArgument("there are more than 2^63 values");
    count = *sum;
  }
  if (rank >= 0) TRY(ResolveAxis(concat_dim, static_cast<int>(rank)));
  return SparseShapes(count, rank);
}

Status SparseConcat::ComputeCpu(CpuContext& context, std::span<Tensor* const> indices,
                                std::span<Tensor* const> values,
                                std::span<Tensor* const> extents) const {
  TRY_ASSIGN(std::vector<int64_t> whole, ReadExtents(*extents[0]));
  const auto rank = static_cast<int64_t>(whole.size());
  TRY_ASSIGN(const int axis, ResolveAxis(concat_dim, static_cast<int>(rank)));
  int64_t count = 0;
  std::vector<int64_t> offsets{0};
  for (size_t m = 0; m < indices.size(); ++m) {
    TRY_ASSIGN(const std::vector<int64_t> part, ReadExtents(*extents[m]));
    for (int k = 0; k < rank; ++k) {
      if (k != axis && part[k] != whole[k]) {
        return InvalidArgument("extents of axis {} must agree: {} vs {}", k, whole[k], part[k]);
      }
    }
    const auto sum = CheckedAdd(offsets.back(), part[axis]);
    if (!sum) return InvalidArgument("the sum of the extents of axis {} is too large", axis);
    offsets.push_back(*sum);
    count += indices[m]->shape()[0];
  }
  whole[axis] = offsets.back();
  // All joined, then sorted.
  TRY_ASSIGN(Tensor joined, context.Allocate(DType::kInt64, Shape{count, rank}));
  TRY_ASSIGN(Tensor all_values, context.Allocate(values[0]->dtype(), Shape{count}));
  int64_t* to = joined.mutable_data<int64_t>();
  int64_t at = 0;
  for (size_t m = 0; m < indices.size(); ++m) {
    const IndexMatrix matrix(*indices[m]);
    for (int64_t i = 0; i < matrix.rows(); ++i, to += rank) {
      std::copy_n(matrix[i], rank, to);
      if (__builtin_add_overflow(to[axis], offsets[m], &to[axis]))
        return IndexNotWithin(matrix, i, whole);
    }
    CopyRun(*values[m], 0, all_values, at, matrix.rows(), context.parallel());
    at += matrix.rows();
  }
  TRY_ASSIGN(const Tensor order, SortedOrder(context, IndexMatrix(joined)));
  TRY(NewIndices(context, 0, count, rank));
  GatherTensorRows(joined, order.values<int64_t>(), rank, context.output(0), context.parallel());
  TRY(SetElements(context, 1, all_values, order.values<int64_t>()));
  return SetVector(context, 2, whole);
}

Result<std::vector<Shape>> SparseSplit::InferShape(const Integers& split_dim, const Shape& indices,
                                                   const Shape& values,
                                                   const Shape& extents) const {
  TRY_ASSIGN(const int64_t rank, CheckSparse(indices, values, extents));
  if (split_dim.shape().has_rank() && split_dim.shape().rank() > 1)
    return InvalidArgument("split_dim must be a scalar, got shape {}", split_dim.shape());
  if (split_dim.known()) {
    if (split_dim.size() != 1)
      return InvalidArgument("split_dim must be one number, got {}", split_dim.size());
    if (rank >= 0) TRY(ResolveAxis(split_dim[0], static_cast<int>(rank)));
  }
  const auto one = SparseShapes(Shape::kUnknownDim, rank);
  std::vector<Shape> shapes;
  for (const Shape& shape : one) shapes.insert(shapes.end(), static_cast<size_t>(num_split), shape);
  return shapes;
}

Status SparseSplit::ComputeCpu(CpuContext& context, const Tensor& split_dim, const Tensor& indices,
                               const Tensor& values, const Tensor& extents) const {
  TRY_ASSIGN(const std::vector<int64_t> whole, ReadExtents(extents));
  TRY_ASSIGN(const int axis,
             ResolveAxis(*split_dim.data<int64_t>(), static_cast<int>(whole.size())));
  if (num_split > whole[axis]) {
    return InvalidArgument("num_split must be at most the extent {} of axis {}, got {}",
                           whole[axis], axis, num_split);
  }
  const IndexMatrix matrix(indices);
  TRY(CheckWithin(matrix, whole));
  const int64_t size = whole[axis] / num_split, longer = whole[axis] % num_split;
  const int parts = static_cast<int>(num_split);
  TRY_ASSIGN(Tensor chosen, context.Allocate(DType::kInt64, Shape{matrix.rows()}));
  int64_t begin = 0;
  for (int p = 0; p < parts; ++p) {
    std::vector<int64_t> part = whole;
    part[axis] = size + (p < longer ? 1 : 0);
    int64_t count = 0;
    for (int64_t i = 0; i < matrix.rows(); ++i) {
      if (InRange(matrix[i][axis] - begin, part[axis])) chosen.mutable_data<int64_t>()[count++] = i;
    }
    const auto places = chosen.values<int64_t>().first(count);
    TRY_ASSIGN(int64_t * out, NewIndices(context, p, count, matrix.rank()));
    for (const int64_t i : places) {
      std::copy_n(matrix[i], matrix.rank(), out);
      out[axis] -= begin;
      out += matrix.rank();
    }
    TRY(SetElements(context, parts + p, values, places));
    TRY(SetVector(context, 2 * parts + p, part));
    begin += part[axis];
  }
  return OkStatus();
}

void RegisterSparseLayout(Registrar& registrar) {
  registrar.AddAll<SparseReorder, SparseReshape, SparseSlice, SparseSliceGrad, SparseConcat,
                   SparseSplit>();
}

}  // namespace penstock::ops
