#include "penstock/ops/strided_copy.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "penstock/core/resource.h"
#include "penstock/kernels/copy.h"

namespace penstock::ops {
namespace {

template <class T>
void CopyObjects(const Tensor& from, const StridedPart& src, Tensor& to, const StridedPart& dst,
                 std::span<const int64_t> dims, const ParallelFor& each) {
  kernels::CopyStridedObjects(from.data<T>() + src.offset, src.strides.data(),
                              to.mutable_data<T>() + dst.offset, dst.strides.data(), dims.data(),
                              static_cast<int>(dims.size()), each);
}

template <class T>
void ClearObjects(Tensor& to) {
  for (T& element : to.mutable_values<T>()) element = T();
}

}  // namespace

std::vector<int64_t> DenseStrides(std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = step;
    // The product of the extents that are not zero fits (Shape::Make).
    step *= std::max<int64_t>(dims[i], 1);
  }
  return strides;
}

void CopyElements(const Tensor& from, const StridedPart& src, Tensor& to, const StridedPart& dst,
                  std::span<const int64_t> dims, const ParallelFor& each) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  switch (from.dtype()) {
    case DType::kString:
      return CopyObjects<std::string>(from, src, to, dst, dims, each);
    case DType::kResource:
      return CopyObjects<ResourceHandle>(from, src, to, dst, dims, each);
    case DType::kVariant:
      return CopyObjects<Variant>(from, src, to, dst, dims, each);
    default:
      break;
  }
  const int64_t bytes = static_cast<int64_t>(SizeOf(from.dtype()));
  kernels::CopyStrided(static_cast<const std::byte*>(from.raw()) + src.offset * bytes,
                       src.strides.data(),
                       static_cast<std::byte*>(to.mutable_raw()) + dst.offset * bytes,
                       dst.strides.data(), dims.data(), static_cast<int>(dims.size()), bytes, each);
}

void CopyRun(const Tensor& from, int64_t begin, Tensor& to, int64_t at, int64_t n,
             const ParallelFor& each) {
  const int64_t dims[] = {n};
  CopyElements(from, {begin, {1}}, to, {at, {1}}, dims, each);
}

void FillElements(const Tensor& value, Tensor& to, const ParallelFor& each) {
  const int64_t dims[] = {to.num_elements()};
  CopyElements(value, {0, {0}}, to, {0, {1}}, dims, each);
}

void ZeroElements(Tensor& to, const ParallelFor& each) {
  switch (to.dtype()) {
    case DType::kString:
      return ClearObjects<std::string>(to);
    case DType::kResource:
      return ClearObjects<ResourceHandle>(to);
    case DType::kVariant:
      return ClearObjects<Variant>(to);
    default:
      break;
  }
  std::byte* bytes = static_cast<std::byte*>(to.mutable_raw());
  each(
      static_cast<int64_t>(to.bytes()), /*cost=*/0.1,
      [&](int64_t begin, int64_t end) {
        std::memset(bytes + begin, 0, static_cast<size_t>(end - begin));
      },
      /*grain=*/4096);
}

}  // namespace penstock::ops
