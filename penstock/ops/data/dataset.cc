#include "penstock/ops/data/dataset.h"

#include <algorithm>

namespace penstock::ops {
namespace {

// Of iterators, which call one another.
constexpr int kMaxDepth = 1000;

int DepthOver(std::span<const DatasetPtr> inputs) {
  int depth = 0;
  for (const DatasetPtr& input : inputs) depth = std::max(depth, input->depth());
  return depth + 1;
}

}  // namespace

Result<Pulled> Pull(DatasetIterator& iterator, Puller& puller, Element* element) {
  const Cancellation* cancellation = puller.step->cancellation;
  if (cancellation != nullptr && cancellation->IsCancelled()) return cancellation->status();
  if (puller.depth >= kMaxDepth) {
    return ResourceExhausted("datasets are nested more than {} deep", kMaxDepth);
  }
  ++puller.depth;
  element->clear();
  Result<Pulled> pulled = iterator.Next(puller, element);
  --puller.depth;
  return pulled;
}

Dataset::Dataset(std::span<const DatasetPtr> inputs) : depth_(DepthOver(inputs)) {}

Result<DatasetPtr> DatasetIn(const Tensor& tensor) {
  if (tensor.dtype() == DType::kVariant && tensor.num_elements() == 1) {
    DatasetPtr dataset = std::dynamic_pointer_cast<const Dataset>(tensor.scalar<Variant>().value());
    if (dataset != nullptr) return dataset;
  }
  return InvalidArgument("expected a dataset, got a tensor of dtype {} and shape {}",
                         tensor.dtype(), tensor.shape());
}

Status SetDataset(KernelContext& context, DatasetPtr dataset) {
  if (dataset->depth() > kMaxDepth)
    return InvalidArgument("a dataset must stand on at most {} others", kMaxDepth);
  context.SetOutput(0, Tensor::Scalar(Variant(std::move(dataset))));
  return OkStatus();
}

Element KeptInputs(std::span<Tensor* const> tensors) {
  Element kept;
  for (const Tensor* tensor : tensors)
    kept.push_back(tensor->MayBeKept() ? *tensor : tensor->Clone());
  return kept;
}

}  // namespace penstock::ops
