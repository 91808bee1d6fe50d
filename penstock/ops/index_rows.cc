#include "penstock/ops/index_rows.h"

#include <vector>

#include "penstock/core/checked.h"
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

}  // namespace

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
        return InvalidArgument("indices[{}] must lie within shape {}, got {}", r, shape,
                               RowToString(row, depth));
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
