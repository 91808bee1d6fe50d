#include "penstock/core/format.h"
#include "penstock/ops/queue/queue.h"

// What a queue demands of its nodes and of its elements.

namespace penstock::ops {
namespace {

std::string ShapesText(const std::vector<Shape>& shapes) {
  std::string text;
  for (const Shape& shape : shapes) text += (text.empty() ? "" : ", ") + shape.ToString();
  return "{" + text + "}";
}

// "expected" of a batch: the element's shape with any number of rows.
Shape WithRows(const Shape& element) {
  if (!element.has_rank()) return Shape::Unknown();
  Shape shape{Shape::kUnknownDim};
  for (const int64_t dim : element.dims()) shape.Append(dim);
  return shape;
}

Status CheckTypes(const QueueSpec& spec, std::span<Tensor* const> tuple) {
  if (tuple.size() != spec.dtypes.size()) {
    return InvalidArgument("Wrong number of components in tuple. Expected {}, got {}",
                           spec.dtypes.size(), tuple.size());
  }
  for (size_t i = 0; i < tuple.size(); ++i) {
    if (tuple[i]->dtype() != spec.dtypes[i]) {
      return InvalidArgument("Type mismatch in tuple component {}. Expected {}, got {}", i,
                             spec.dtypes[i], tuple[i]->dtype());
    }
  }
  return OkStatus();
}

}  // namespace

std::string_view ToString(QueueKind kind) {
  switch (kind) {
    case QueueKind::kFifo:
      return "FIFOQueue";
    case QueueKind::kShuffle:
      return "RandomShuffleQueue";
    case QueueKind::kPadding:
      return "PaddingFIFOQueue";
    case QueueKind::kPriority:
      break;
  }
  return "PriorityQueue";
}

Status QueueSpec::Check() const {
  if (dtypes.empty()) return InvalidArgument("{} needs at least one component", kind);
  const bool padding = kind == QueueKind::kPadding;
  if ((!shapes.empty() || padding) && shapes.size() != dtypes.size()) {
    return InvalidArgument(
        "Shapes must be provided for all components, or for none of a queue "
        "that does not pad: {} components, got {} shapes",
        dtypes.size(), shapes.size());
  }
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (padding ? !shapes[i].has_rank() : !shapes[i].IsFullyKnown()) {
      return InvalidArgument("the shape of component {} of a {} must be {}, got {}", i, kind,
                             padding ? "of known rank" : "fully known", shapes[i]);
    }
    if (shapes[i].rank() >= Shape::kMaxRank) {
      return InvalidArgument("the rank of component {} must be below {}, got {}", i,
                             Shape::kMaxRank, shapes[i].rank());
    }
  }
  if (capacity == 0)
    return InvalidArgument("capacity must be positive, or negative for none, got 0");
  if (min_after_dequeue < 0) {
    return InvalidArgument("min_after_dequeue {} must be >= 0", min_after_dequeue);
  }
  if (capacity > 0 && min_after_dequeue >= capacity) {
    return InvalidArgument("min_after_dequeue {} must be < capacity {}", min_after_dequeue,
                           capacity);
  }
  return OkStatus();
}

Status Queue::CheckSame(const QueueSpec& wanted) const {
  const std::string name = Printable(spec_.name);
  if (wanted.kind != spec_.kind) {
    return InvalidArgument("Shared queue '{}' has type {} but requested type was {}", name,
                           spec_.kind, wanted.kind);
  }
  if (wanted.capacity != spec_.capacity && (wanted.capacity >= 0 || spec_.capacity >= 0)) {
    return InvalidArgument("Shared queue '{}' has capacity {} but requested capacity was {}", name,
                           spec_.capacity, wanted.capacity);
  }
  if (wanted.dtypes != spec_.dtypes) {
    return InvalidArgument(
        "Shared queue '{}' has component types {} but requested component types were {}", name,
        penstock::ToString(spec_.dtypes), penstock::ToString(wanted.dtypes));
  }
  if (wanted.shapes != spec_.shapes) {
    return InvalidArgument(
        "Shared queue '{}' has component shapes {} but requested component shapes were {}", name,
        ShapesText(spec_.shapes), ShapesText(wanted.shapes));
  }
  if (wanted.min_after_dequeue != spec_.min_after_dequeue) {
    return InvalidArgument(
        "Shared queue '{}' has min_after_dequeue {} but requested min_after_dequeue was {}", name,
        spec_.min_after_dequeue, wanted.min_after_dequeue);
  }
  if (wanted.seed != spec_.seed || wanted.seed2 != spec_.seed2) {
    return InvalidArgument(
        "Shared queue '{}' has random seeds ({}, {}) but requested seeds are ({}, {}).", name,
        spec_.seed, spec_.seed2, wanted.seed, wanted.seed2);
  }
  return OkStatus();
}

Status Queue::CheckTuple(std::span<Tensor* const> tuple) const {
  TRY(CheckTypes(spec_, tuple));
  for (size_t i = 0; i < spec_.shapes.size(); ++i) {
    if (!spec_.shapes[i].IsCompatibleWith(tuple[i]->shape())) {
      return InvalidArgument("Shape mismatch in tuple component {}. Expected {}, got {}", i,
                             spec_.shapes[i], tuple[i]->shape());
    }
  }
  if (spec_.kind == QueueKind::kPriority && !tuple[0]->shape().IsScalar()) {
    return InvalidArgument("Expected the priority element to be a scalar, but received shape: {}",
                           tuple[0]->shape());
  }
  return OkStatus();
}

Status Queue::CheckBatch(std::span<Tensor* const> batch) const {
  TRY(CheckTypes(spec_, batch));
  for (size_t i = 0; i < batch.size(); ++i) {
    const Shape& shape = batch[i]->shape();
    const Shape expected = WithRows(spec_.shapes.empty() ? Shape::Unknown() : spec_.shapes[i]);
    if (shape.rank() < 1 || !expected.IsCompatibleWith(shape)) {
      return InvalidArgument("Shape mismatch in tuple component {}. Expected {}, got {}", i,
                             expected, shape);
    }
    if (shape.dim(0) != batch[0]->shape().dim(0)) {
      return InvalidArgument(
          "All input tensors must have the same size in the 0th dimension. Component {} has {}, "
          "and should have {}",
          i, shape.dim(0), batch[0]->shape().dim(0));
    }
  }
  if (spec_.kind == QueueKind::kPriority && batch[0]->shape().rank() != 1) {
    return InvalidArgument("Expected the priority elements to be a vector, but received shape: {}",
                           batch[0]->shape());
  }
  return OkStatus();
}

Status Queue::CheckStackable() const {
  if (!spec_.shapes.empty()) return OkStatus();
  return InvalidArgument(
      "{}'s DequeueMany and DequeueUpTo require the components to have specified shapes.",
      spec_.kind);
}

}  // namespace penstock::ops
