#include "penstock/graph/infer.h"

namespace penstock {

Integers::Integers(const Known& known) : shape_(known.shape), extents_(known.extents) {
  if (known.value == nullptr) return;
  std::vector<int64_t> values;
  const Tensor& tensor = *known.value;
  switch (tensor.dtype()) {
    case DType::kInt32: {
      const auto from = tensor.values<int32_t>();
      values.assign(from.begin(), from.end());
      break;
    }
    case DType::kInt64: {
      const auto from = tensor.values<int64_t>();
      values.assign(from.begin(), from.end());
      break;
    }
    case DType::kInt16: {
      const auto from = tensor.values<int16_t>();
      values.assign(from.begin(), from.end());
      break;
    }
    case DType::kInt8: {
      const auto from = tensor.values<int8_t>();
      values.assign(from.begin(), from.end());
      break;
    }
    default:
      return;
  }
  values_ = std::move(values);
}

Result<Shape> Integers::AsShape(bool allow_unknown) const {
  if (!known()) {
    if (extents_ != nullptr) return *extents_;
    if (shape_->has_rank() && shape_->rank() == 1 && shape_->dim(0) >= 0) {
      if (shape_->dim(0) > Shape::kMaxRank) {
        return InvalidArgument("a shape has at most {} dimensions, got {}", Shape::kMaxRank,
                               shape_->dim(0));
      }
      return Shape::UnknownOfRank(static_cast<int>(shape_->dim(0)));
    }
    return Shape::Unknown();
  }
  if (!allow_unknown) {
    for (const int64_t dim : *values_) {
      if (dim < 0) return InvalidArgument("a dimension must not be negative, got {}", dim);
    }
  }
  return Shape::Make(*values_);
}

Status CheckRank(const Shape& shape, int rank, std::string_view what) {
  if (!shape.has_rank() || shape.rank() == rank) return OkStatus();
  return InvalidArgument("{} must have rank {}, got shape {}", what, rank, shape);
}

Status CheckRankAtLeast(const Shape& shape, int rank, std::string_view what) {
  if (!shape.has_rank() || shape.rank() >= rank) return OkStatus();
  return InvalidArgument("{} must have rank at least {}, got shape {}", what, rank, shape);
}

Status CheckScalar(const Shape& shape, std::string_view what) {
  if (!shape.has_rank() || shape.rank() == 0) return OkStatus();
  return InvalidArgument("{} must be a scalar, got shape {}", what, shape);
}

Status CheckVector(const Shape& shape, std::string_view what) {
  if (!shape.has_rank() || shape.rank() == 1) return OkStatus();
  return InvalidArgument("{} must be a vector, got shape {}", what, shape);
}

}  // namespace penstock
