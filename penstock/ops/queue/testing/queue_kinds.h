#pragma once

#include <vector>

#include "penstock/ops/queue/queue.h"

namespace penstock::ops {

// A queue of numbers of each kind, for tests that hold for all of them. A number is one element; a
// padding queue holds it as a vector of 1 to 3 times the number, a priority queue has number % 7 as
// priority.
inline std::shared_ptr<Queue> MakeNumberQueue(QueueKind kind, int64_t capacity,
                                              int64_t min_after_dequeue = 0) {
  QueueSpec spec;
  spec.kind = kind;
  spec.name = "q";
  spec.capacity = capacity;
  spec.dtypes = {DType::kInt64};
  spec.shapes = {kind == QueueKind::kPadding ? Shape{-1} : Shape()};
  if (kind == QueueKind::kPriority) {
    spec.dtypes.push_back(DType::kInt64);
    spec.shapes.emplace_back();
  }
  if (kind == QueueKind::kShuffle) {
    spec.min_after_dequeue = min_after_dequeue;
    spec.seed = 7;
  }
  return std::make_shared<Queue>(spec);
}

inline std::vector<Tensor> NumberTuple(QueueKind kind, int64_t number) {
  if (kind == QueueKind::kPriority) {
    return {Tensor::Scalar<int64_t>(number % 7), Tensor::Scalar<int64_t>(number)};
  }
  if (kind != QueueKind::kPadding) return {Tensor::Scalar<int64_t>(number)};
  Tensor vector(DType::kInt64, Shape{number % 3 + 1});
  for (int64_t& value : vector.mutable_values<int64_t>()) value = number;
  return {vector};
}

inline int NumComponents(QueueKind kind) { return kind == QueueKind::kPriority ? 2 : 1; }

// The numbers in `tensor`, the last output of a dequeue or of a dequeue of a batch.
inline std::vector<int64_t> NumbersIn(QueueKind kind, const Tensor& tensor, bool batch) {
  const auto values = tensor.values<int64_t>();
  if (kind != QueueKind::kPadding) return {values.begin(), values.end()};
  if (!batch) return {values[0]};
  std::vector<int64_t> numbers;
  for (int64_t row = 0; row < tensor.shape().dim(0); ++row) {
    numbers.push_back(values[static_cast<size_t>(row * tensor.shape().dim(1))]);
  }
  return numbers;
}

inline std::vector<QueueKind> AllQueueKinds() {
  return {QueueKind::kFifo, QueueKind::kShuffle, QueueKind::kPadding, QueueKind::kPriority};
}

}  // namespace penstock::ops
