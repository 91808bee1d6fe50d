#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/core/shape.h"
#include "penstock/core/tensor.h"

namespace penstock {

// What a shape rule knows of one input. While a graph is built the shape may be partial and the
// value is known only for constants; before a kernel runs both are complete.
struct Known {
  const Shape* shape = nullptr;
  DType dtype = DType::kInvalid;
  const Tensor* value = nullptr;
  // A vector of extents of which some are known, such as the Shape of a partial shape.
  const Shape* extents = nullptr;
  // Of a resource: the shape that its maker declared for the value behind it.
  const Shape* handle_shape = nullptr;
};

// A resource handle as a shape rule sees it. Its kernel must hold the value against the shapes that
// were settled: what a handle points at may have been made by another graph.
struct Handle {
  Shape value_shape = Shape::Unknown();
};

// A vector of integers as an op reads it: axes, sizes, a target shape. int32 and int64 tensors
// alike. Absent while the graph is built and the input is no constant.
class Integers {
 public:
  Integers() = default;
  explicit Integers(const Known& known);

  bool known() const { return values_.has_value(); }
  // REQUIRES: known().
  const std::vector<int64_t>& values() const { return *values_; }
  int64_t operator[](size_t i) const { return (*values_)[i]; }
  size_t size() const { return values_->size(); }
  // The shape of the input itself.
  const Shape& shape() const { return *shape_; }
  // Reads the vector as a shape: full when known, partial from extents, else of unknown dims or
  // rank. Every extent is checked; -1 means unknown only when `allow_unknown`.
  Result<Shape> AsShape(bool allow_unknown = false) const;

 private:
  const Shape* shape_ = nullptr;
  const Shape* extents_ = nullptr;
  std::optional<std::vector<int64_t>> values_;
};

// The shared checks of shape rules; each says what was expected, then what came. `what` names the
// input.
Status CheckRank(const Shape& shape, int rank, std::string_view what);
Status CheckRankAtLeast(const Shape& shape, int rank, std::string_view what);
Status CheckScalar(const Shape& shape, std::string_view what);
Status CheckVector(const Shape& shape, std::string_view what);

}  // namespace penstock
