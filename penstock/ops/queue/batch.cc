#include "penstock/ops/queue/batch.h"

#include <algorithm>

#include "penstock/ops/strided_copy.h"

namespace penstock::ops {

Result<Tensor> CopyRow(KernelContext& context, const Tensor& batch, int64_t i) {
  const Shape shape = batch.shape().Slice(1, batch.shape().rank());
  TRY_ASSIGN(Tensor row, context.Allocate(batch.dtype(), shape));
  const int64_t elements = row.num_elements();
  if (elements > 0) CopyRun(batch, i * elements, row, 0, elements, context.parallel());
  return row;
}

Result<Tensor> StackElements(KernelContext& context, DType dtype, const Shape& declared,
                             std::span<const Tensor> elements, size_t stride) {
  const bool pads = !declared.IsFullyKnown();
  std::vector<int64_t> dims{static_cast<int64_t>((elements.size() + stride - 1) / stride)};
  for (const int64_t dim : declared.dims()) dims.push_back(std::max<int64_t>(dim, 0));
  for (size_t i = 0; pads && i < elements.size(); i += stride) {
    for (int axis = 0; axis < declared.rank(); ++axis) {
      dims[axis + 1] = std::max(dims[axis + 1], elements[i].shape().dim(axis));
    }
  }
  TRY_ASSIGN(const Shape shape, Shape::Make(dims));
  TRY_ASSIGN(Tensor batch, context.Allocate(dtype, shape));
  if (batch.num_elements() == 0) return batch;
  const int64_t row = batch.num_elements() / dims[0];
  StridedPart place{0, DenseStrides(std::span(dims).subspan(1))};
  if (pads) ZeroElements(batch, context.parallel());
  for (size_t i = 0; i < elements.size(); i += stride, place.offset += row) {
    const Tensor& element = elements[i];
    if (!pads || element.num_elements() == row) {
      CopyRun(element, 0, batch, place.offset, row, context.parallel());
    } else if (element.num_elements() > 0) {
      CopyElements(element, DensePart(element.shape().dims()), batch, place, element.shape().dims(),
                   context.parallel());
    }
  }
  return batch;
}

}  // namespace penstock::ops
