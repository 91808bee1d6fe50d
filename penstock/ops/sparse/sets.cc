#include "penstock/ops/sparse/sets.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/kernels/bucket_order.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/sparse/sparse_tensor.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

using SetTypes = Types<int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, std::string>;

// The sets of a dense or sparse tensor, in row-major order.
struct Sets {
  const Tensor* values = nullptr;
  std::vector<int64_t> extents;  // of all axes but the last
  // Of a sparse tensor: its values by set, and where each set begins.
  Tensor order;
  Tensor starts;
  int64_t width = 0;  // of a dense one

  template <class T>
  std::vector<T> Read(int64_t set) const {
    std::vector<T> all;
    if (!starts.initialized()) {
      const T* from = values->data<T>() + set * width;
      all.assign(from, from + width);
    } else {
      const int64_t* at = starts.data<int64_t>() + set;
      for (int64_t k = at[0]; k < at[1]; ++k)
        all.push_back(values->data<T>()[order.data<int64_t>()[k]]);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  }
};

Sets DenseSets(const Tensor& values) {
  Sets sets;
  sets.values = &values;
  const auto dims = values.shape().dims();
  sets.extents.assign(dims.begin(), dims.end() - 1);
  sets.width = dims.back();
  return sets;
}

// The number of sets.
Result<int64_t> CountSets(std::span<const int64_t> extents) {
  TRY_ASSIGN(const Shape shape, Shape::Make(extents));
  return shape.num_elements();
}

Result<Sets> SparseSets(CpuContext& context, const Tensor& indices, const Tensor& values,
                        const Tensor& extents, bool validate) {
  Sets sets;
  sets.values = &values;
  TRY_ASSIGN(const std::vector<int64_t> all, ReadExtents(extents));
  const IndexMatrix matrix(indices);
  TRY(CheckWithin(matrix, all));
  if (validate && !matrix.IsSorted()) return InvalidArgument("indices must be sorted");
  sets.extents.assign(all.begin(), all.end() - 1);
  TRY_ASSIGN(const int64_t count, CountSets(sets.extents));
  const auto bounds = CheckedAdd(count, 1);
  if (!bounds) return InvalidArgument("{} sets are too many", count);
  const std::vector<int64_t> strides = DenseStrides(sets.extents);
  TRY_ASSIGN(Tensor rows, context.Allocate(DType::kInt64, Shape{matrix.rows()}));
  for (int64_t i = 0; i < matrix.rows(); ++i) {
    int64_t place = 0;
    for (size_t k = 0; k < strides.size(); ++k) place += matrix[i][k] * strides[k];
    rows.mutable_data<int64_t>()[i] = place;
  }
  TRY_ASSIGN(sets.order, context.Allocate(DType::kInt64, Shape{matrix.rows()}));
  TRY_ASSIGN(sets.starts, context.Allocate(DType::kInt64, Shape{*bounds}));
  kernels::OrderByBucket(rows.data<int64_t>(), matrix.rows(), count,
                         sets.starts.mutable_data<int64_t>(), sets.order.mutable_data<int64_t>());
  return sets;
}

template <class T>
std::vector<T> Combine(const std::string& operation, const std::vector<T>& a,
                       const std::vector<T>& b) {
  std::vector<T> result;
  const auto out = std::back_inserter(result);
  if (operation == "union") {
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), out);
  } else if (operation == "intersection") {
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), out);
  } else if (operation == "a-b") {
    std::set_difference(a.begin(), a.end(), b.begin(), b.end(), out);
  } else {
    std::set_difference(b.begin(), b.end(), a.begin(), a.end(), out);
  }
  return result;
}

Status Operate(CpuContext& context, const std::string& operation, const Sets& a, const Sets& b) {
  if (a.extents != b.extents) {
    return InvalidArgument("the axes before the last must agree: {} vs {}", Shape(a.extents),
                           Shape(b.extents));
  }
  TRY_ASSIGN(const int64_t count, CountSets(a.extents));
  const auto rank = static_cast<int64_t>(a.extents.size()) + 1;
  const std::vector<int64_t> strides = DenseStrides(a.extents);
  return ForDType(a.values->dtype(), SetTypes(), [&]<class T>() -> Status {
    std::vector<std::vector<T>> results;
    int64_t total = 0, most = 0;
    for (int64_t s = 0; s < count; ++s) {
      results.push_back(Combine(operation, a.Read<T>(s), b.Read<T>(s)));
      const auto size = static_cast<int64_t>(results.back().size());
      total += size;
      most = std::max(most, size);
    }
    TRY_ASSIGN(int64_t * index, NewIndices(context, 0, total, rank));
    TRY(context.AllocateOutput(1, a.values->dtype(), Shape{total}));
    T* out = context.output(1).template mutable_data<T>();
    for (int64_t s = 0; s < count; ++s) {
      for (size_t k = 0; k < results[s].size(); ++k) {
        for (int64_t axis = 0, rest = s; axis + 1 < rank; ++axis) {
          *index++ = rest / strides[axis];
          rest %= strides[axis];
        }
        *index++ = static_cast<int64_t>(k);
        *out++ = std::move(results[s][k]);
      }
    }
    std::vector<int64_t> extents = a.extents;
    extents.push_back(most);
    return SetVector(context, 2, extents);
  });
}

Status CheckOperation(const std::string& operation) {
  for (const char* known : {"a-b", "b-a", "intersection", "union"}) {
    if (operation == known) return OkStatus();
  }
  return InvalidArgument("set_operation must be a-b, b-a, intersection or union, got {}",
                         operation);
}

Result<std::array<Shape, 3>> InferSets(int64_t rank1, int64_t rank2) {
  if (rank1 >= 0 && rank2 >= 0 && rank1 != rank2)
    return InvalidArgument("both tensors must have the same rank: {} vs {}", rank1, rank2);
  const int64_t rank = std::max(rank1, rank2);
  if (rank >= 0 && rank < 2)
    return InvalidArgument("sets must be rows of tensors of rank 2 at least, got {}", rank);
  return SparseShapes(Shape::kUnknownDim, rank);
}

}  // namespace

Result<Shape> SetSize::InferShape(const Shape& indices, const Shape& values,
                                  const Integers& extents) const {
  TRY_ASSIGN(const int64_t rank, CheckSparse(indices, values, extents.shape()));
  if (rank == 0) return InvalidArgument("sets must be rows of a tensor, got a scalar");
  if (rank < 0) return Shape::Unknown();
  if (!extents.known()) return Shape::UnknownOfRank(static_cast<int>(rank) - 1);
  for (const int64_t extent : extents.values()) {
    if (extent < 0) return InvalidArgument("set_shape must not be negative, got {}", extent);
  }
  return Shape::Make(std::span(extents.values()).first(static_cast<size_t>(rank) - 1));
}

Status SetSize::ComputeCpu(CpuContext& context, const Tensor& indices, const Tensor& values,
                           const Tensor& extents, Tensor& size) const {
  TRY_ASSIGN(const Sets sets, SparseSets(context, indices, values, extents, validate_indices));
  return ForDType(values.dtype(), SetTypes(), [&]<class T>() {
    for (int64_t s = 0; s < size.num_elements(); ++s)
      size.mutable_data<int32_t>()[s] = static_cast<int32_t>(sets.Read<T>(s).size());
    return OkStatus();
  });
}

Status DenseToDenseSetOperation::CheckAttrs() const { return CheckOperation(set_operation); }

Result<std::array<Shape, 3>> DenseToDenseSetOperation::InferShape(const Shape& set1,
                                                                  const Shape& set2) const {
  return InferSets(set1.rank(), set2.rank());
}

Status DenseToDenseSetOperation::ComputeCpu(CpuContext& context, const Tensor& set1,
                                            const Tensor& set2) const {
  return Operate(context, set_operation, DenseSets(set1), DenseSets(set2));
}

Status DenseToSparseSetOperation::CheckAttrs() const { return CheckOperation(set_operation); }

Result<std::array<Shape, 3>> DenseToSparseSetOperation::InferShape(const Shape& set1,
                                                                   const Shape& indices,
                                                                   const Shape& values,
                                                                   const Shape& extents) const {
  TRY_ASSIGN(const int64_t rank, CheckSparse(indices, values, extents));
  return InferSets(set1.rank(), rank);
}

Status DenseToSparseSetOperation::ComputeCpu(CpuContext& context, const Tensor& set1,
                                             const Tensor& indices, const Tensor& values,
                                             const Tensor& extents) const {
  TRY_ASSIGN(const Sets sets, SparseSets(context, indices, values, extents, validate_indices));
  return Operate(context, set_operation, DenseSets(set1), sets);
}

Status SparseToSparseSetOperation::CheckAttrs() const { return CheckOperation(set_operation); }

Result<std::array<Shape, 3>> SparseToSparseSetOperation::InferShape(
    const Shape& indices1, const Shape& values1, const Shape& extents1, const Shape& indices2,
    const Shape& values2, const Shape& extents2) const {
  TRY_ASSIGN(const int64_t rank1, CheckSparse(indices1, values1, extents1));
  TRY_ASSIGN(const int64_t rank2, CheckSparse(indices2, values2, extents2));
  return InferSets(rank1, rank2);
}

Status SparseToSparseSetOperation::ComputeCpu(CpuContext& context, const Tensor& indices1,
                                              const Tensor& values1, const Tensor& extents1,
                                              const Tensor& indices2, const Tensor& values2,
                                              const Tensor& extents2) const {
  TRY_ASSIGN(const Sets a, SparseSets(context, indices1, values1, extents1, validate_indices));
  TRY_ASSIGN(const Sets b, SparseSets(context, indices2, values2, extents2, validate_indices));
  return Operate(context, set_operation, a, b);
}

void RegisterSets(Registrar& registrar) {
  registrar.AddAll<SetSize, DenseToDenseSetOperation, DenseToSparseSetOperation,
                   SparseToSparseSetOperation>();
}

}  // namespace penstock::ops
