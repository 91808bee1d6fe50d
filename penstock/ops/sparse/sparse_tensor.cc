#include "penstock/ops/sparse/sparse_tensor.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "penstock/ops/array/row_copies.h"

namespace penstock::ops {
namespace {

std::string ToText(std::span<const int64_t> values) {
  std::string text = "[";
  for (size_t k = 0; k < values.size(); ++k)
    text += (k == 0 ? "" : ", ") + std::to_string(values[k]);
  return text + "]";
}

}  // namespace

Result<int64_t> CheckSparse(const Shape& indices, const Shape& extents) {
  TRY(CheckRank(indices, 2, "indices"));
  TRY(CheckVector(extents, "the shape of a sparse tensor"));
  const int64_t columns = indices.has_rank() ? indices[1] : Shape::kUnknownDim;
  const int64_t rank = extents.has_rank() ? extents[0] : Shape::kUnknownDim;
  if (columns >= 0 && rank >= 0 && columns != rank) {
    return InvalidArgument("indices must have as many columns as the shape has extents: {} vs {}",
                           columns, rank);
  }
  if (rank > Shape::kMaxRank)
    return InvalidArgument("a shape has at most {} extents, got {}", Shape::kMaxRank, rank);
  return std::max(columns, rank);
}

Result<int64_t> CheckSparse(const Shape& indices, const Shape& values, const Shape& extents) {
  TRY_ASSIGN(const int64_t rank, CheckSparse(indices, extents));
  TRY(CheckVector(values, "values"));
  if (indices.has_rank() && values.has_rank() && !indices.Slice(0, 1).IsCompatibleWith(values)) {
    return InvalidArgument("indices must have one row for each value: {} vs {}", indices, values);
  }
  return rank;
}

std::array<Shape, 3> SparseShapes(int64_t count, int64_t rank) {
  return {Shape{count, rank}, Shape{count}, Shape{rank}};
}

Result<std::vector<int64_t>> ReadExtents(const Tensor& extents) {
  const Integers integers(Known{&extents.shape(), extents.dtype(), &extents});
  for (const int64_t extent : integers.values()) {
    if (extent < 0)
      return InvalidArgument("the shape of a sparse tensor must not be negative, got {}", extent);
  }
  return integers.values();
}

int IndexMatrix::Compare(int64_t row, const int64_t* other) const {
  const int64_t* mine = (*this)[row];
  for (int64_t k = 0; k < rank_; ++k) {
    if (mine[k] != other[k]) return mine[k] < other[k] ? -1 : 1;
  }
  return 0;
}

bool IndexMatrix::InBounds(int64_t row, std::span<const int64_t> extents) const {
  const int64_t* index = (*this)[row];
  bool within = true;
  for (int64_t k = 0; k < rank_; ++k) within &= index[k] >= 0 && index[k] < extents[k];
  return within;
}

bool IndexMatrix::IsSorted() const {
  for (int64_t i = 1; i < rows_; ++i) {
    if (Compare(i - 1, (*this)[i]) > 0) return false;
  }
  return true;
}

Status IndexNotWithin(const IndexMatrix& indices, int64_t row, std::span<const int64_t> extents,
                      std::string_view what) {
  return InvalidArgument("{}[{}] = {} is not within {}", what, row,
                         ToText({indices[row], static_cast<size_t>(indices.rank())}),
                         ToText(extents));
}

Status CheckWithin(const IndexMatrix& indices, std::span<const int64_t> extents,
                   std::string_view what) {
  for (int64_t i = 0; i < indices.rows(); ++i) {
    if (!indices.InBounds(i, extents)) return IndexNotWithin(indices, i, extents, what);
  }
  return OkStatus();
}

Result<Tensor> SortedOrder(KernelContext& context, const IndexMatrix& indices) {
  TRY_ASSIGN(Tensor tensor, context.Allocate(DType::kInt64, Shape{indices.rows()}));
  const auto order = tensor.mutable_values<int64_t>();
  std::iota(order.begin(), order.end(), 0);
  if (!indices.IsSorted()) {
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return indices.Compare(a, indices[b]) < 0; });
  }
  return tensor;
}

Status SetVector(KernelContext& context, int i, std::span<const int64_t> values) {
  TRY(context.AllocateOutput(i, DType::kInt64, Shape{static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), context.output(i).mutable_data<int64_t>());
  return OkStatus();
}

Status SetElements(KernelContext& context, int i, const Tensor& from,
                   std::span<const int64_t> places) {
  TRY(context.AllocateOutput(i, from.dtype(), Shape{static_cast<int64_t>(places.size())}));
  GatherTensorRows(from, places, 1, context.output(i), context.parallel());
  return OkStatus();
}

Result<int64_t*> NewIndices(KernelContext& context, int i, int64_t rows, int64_t rank) {
  const int64_t dims[] = {rows, rank};
  TRY_ASSIGN(const Shape shape, Shape::Make(dims));
  TRY(context.AllocateOutput(i, DType::kInt64, shape));
  return context.output(i).mutable_data<int64_t>();
}

}  // namespace penstock::ops
