#include "penstock/ops/index_rows.h"

#include <algorithm>
#include <span>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/graph/infer.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

template <class T>
void Widen(const Tensor& from, Tensor& to) {
  const auto values = from.values<T>();
  std::copy(values.begin(), values.end(), to.mutable_data<int64_t>());
}

std::string RowToString(const int64_t* row, int64_t n) {
  std::string text = "[";
  for (int64_t k = 0; k < n; ++k) text += (k == 0 ? "" : ", ") + std::to_string(row[k]);
  return text + "]";
}

// Where the element at a position of a row-major tensor lies: "[2]", "[0,1]"; "" of a scalar.
std::string PlaceToString(std::span<const int64_t> dims, int64_t position) {
  if (dims.empty()) return "";
  std::string text;
  for (size_t i = dims.size(); i-- > 0;) {
    const int64_t extent = std::max<int64_t>(dims[i], 1);
    text = std::to_string(i == 0 ? position : position % extent) + (text.empty() ? "" : ",") + text;
    position /= extent;
  }
  return "[" + text + "]";
}

}  // namespace

Status IndexOutOfRange(const Shape& indices, int64_t position, int64_t index, int64_t limit) {
  return InvalidArgument("indices{} = {} is not in [0, {})",
                         PlaceToString(indices.dims(), position), index, limit);
}

Status CheckSliceUpdates(const Shape& indices, const Shape& updates, const Shape& output) {
  TRY(CheckRankAtLeast(indices, 1, "indices"));
  if (!indices.has_rank() || !output.has_rank()) return OkStatus();
  const int64_t depth = indices[indices.rank() - 1];
  if (depth < 0) return OkStatus();
  if (depth > output.rank()) {
    return InvalidArgument(
        "rows of indices must be at most as long as the rank of the output, {}, got {}",
        output.rank(), depth);
  }
  std::vector<int64_t> dims(indices.dims().begin(), indices.dims().end() - 1);
  for (int i = static_cast<int>(depth); i < output.rank(); ++i) dims.push_back(output[i]);
  TRY_ASSIGN(const Shape wanted, Shape::Make(dims));
  if (wanted.IsCompatibleWith(updates)) return OkStatus();
  return InvalidArgument("updates must have shape {}, got {}", wanted, updates);
}

Result<Tensor> WidenIndices(KernelContext& context, const Tensor& indices) {
  if (indices.dtype() == DType::kInt64) return indices;
  TRY_ASSIGN(Tensor wide, context.Allocate(DType::kInt64, indices.shape()));
  switch (indices.dtype()) {
    case DType::kInt32:
      Widen<int32_t>(indices, wide);
      return wide;
    case DType::kInt16:
      Widen<int16_t>(indices, wide);
      return wide;
    case DType::kUint16:
      Widen<uint16_t>(indices, wide);
      return wide;
    default:
      return Unimplemented("indices of dtype {} are not known", indices.dtype());
  }
}

int64_t ProductOf(const Shape& shape, int begin, int end) {
  int64_t product = 1;
  for (int i = begin; i < end; ++i) product *= shape[i];
  return product;
}

Result<Tensor> SlicePositions(KernelContext& context, const Tensor& indices, const Shape& shape,
                              bool ignore_bad) {
  const int last = indices.shape().rank() - 1;
  const int64_t depth = indices.shape()[last];
  const int64_t rows = ProductOf(indices.shape(), 0, last);
  TRY_ASSIGN(const Tensor wide, WidenIndices(context, indices));
  TRY_ASSIGN(Tensor positions, context.Allocate(DType::kInt64, Shape{rows}));
  const std::vector<int64_t> strides = DenseStrides(shape.Slice(0, static_cast<int>(depth)).dims());
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t* row = wide.data<int64_t>() + r * depth;
    int64_t at = 0;
    for (int64_t k = 0; k < depth; ++k) {
      if (InRange(row[k], shape[static_cast<int>(k)])) {
        at += row[k] * strides[k];
        continue;
      }
      if (!ignore_bad) {
        return InvalidArgument(
            "indices{} = {} does not index into shape {}",
            PlaceToString(indices.shape().dims().first(static_cast<size_t>(last)), r),
            RowToString(row, depth), shape);
      }
      at = -1;
      break;
    }
    positions.mutable_data<int64_t>()[r] = at;
  }
  return positions;
}

Status CheckBadIndicesPolicy(const std::string& policy) {
  if (policy.empty() || policy == "DEFAULT" || policy == "ERROR" || policy == "IGNORE") {
    return OkStatus();
  }
  return InvalidArgument("bad_indices_policy must be \"\", DEFAULT, ERROR or IGNORE, got {}",
                         policy);
}

}  // namespace penstock::ops
