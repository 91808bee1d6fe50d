#include "penstock/ops/array/row_copies.h"

#include <cstddef>
#include <cstring>
#include <string>

#include "penstock/core/resource.h"
#include "penstock/kernels/copy.h"

namespace penstock::ops {
namespace {

template <class T>
void GatherObjects(const Tensor& from, std::span<const int64_t> rows,
                   const kernels::GatherShape& shape, Tensor& to, const ParallelFor& each) {
  kernels::GatherObjects(from.data<T>(), rows.data(), shape, to.mutable_data<T>(), each);
}

template <class T>
void CopyObjects(const Tensor& from, int64_t from_at, Tensor& to, int64_t to_at, int64_t n) {
  std::copy_n(from.data<T>() + from_at, n, to.mutable_data<T>() + to_at);
}

void CopyRow(const Tensor& from, int64_t from_at, Tensor& to, int64_t to_at, int64_t n) {
  switch (from.dtype()) {
    case DType::kString:
      return CopyObjects<std::string>(from, from_at, to, to_at, n);
    case DType::kResource:
      return CopyObjects<ResourceHandle>(from, from_at, to, to_at, n);
    case DType::kVariant:
      return CopyObjects<Variant>(from, from_at, to, to_at, n);
    default:
      break;
  }
  const auto bytes = static_cast<int64_t>(SizeOf(from.dtype()));
  std::memcpy(static_cast<std::byte*>(to.mutable_raw()) + to_at * bytes,
              static_cast<const std::byte*>(from.raw()) + from_at * bytes, n * bytes);
}

}  // namespace

void GatherTensorRows(const Tensor& from, std::span<const int64_t> rows, int64_t row_elements,
                      Tensor& to, const ParallelFor& each) {
  if (rows.empty() || row_elements == 0) return;
  kernels::GatherShape shape;
  shape.gather_dim = from.num_elements() / row_elements;
  shape.num_indices = static_cast<int64_t>(rows.size());
  shape.inner = row_elements;
  switch (from.dtype()) {
    case DType::kString:
      return GatherObjects<std::string>(from, rows, shape, to, each);
    case DType::kResource:
      return GatherObjects<ResourceHandle>(from, rows, shape, to, each);
    case DType::kVariant:
      return GatherObjects<Variant>(from, rows, shape, to, each);
    default:
      kernels::GatherRows(from.raw(), rows.data(), shape,
                          static_cast<int64_t>(SizeOf(from.dtype())), to.mutable_raw(), each);
  }
}

void CopyRowsIf(const Tensor& from, Tensor& to, int64_t row_elements, int64_t n,
                const ParallelFor& each, FunctionRef<int64_t(int64_t)> place) {
  const double cost = 10 + (IsPlain(from.dtype()) ? 0.5 : 50) * static_cast<double>(row_elements);
  each(n, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = place(i);
      if (at >= 0) CopyRow(from, i * row_elements, to, at * row_elements, row_elements);
    }
  });
}

}  // namespace penstock::ops
