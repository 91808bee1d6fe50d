#pragma once

#include <cstdint>
#include <vector>

#include "penstock/train/data/stage.h"

// Rows of batches: copying elements in, padding them.

namespace penstock::data {

// [extent, shape...], checked.
Result<Shape> WithRows(int64_t extent, const Shape& shape);
// Memory for a batch of `rows` such elements.
Result<Tensor> MakeRows(int64_t rows, DType dtype, const Shape& shape);
// Copies `from` to row `row` of `to`. REQUIRES: the same type, and as many elements as a row has.
void CopyToRow(const Tensor& from, int64_t row, Tensor* to);
// The bytes, or strings, of an element that a message or a limit may count.
int64_t BytesOf(const Element& element);

// Stacks elements of one type and shape.
class RowStack {
 public:
  // Room for `rows` elements.
  explicit RowStack(int64_t rows) : capacity_(rows) {}
  // InvalidArgument when the element does not look like the first. REQUIRES: there is room.
  Status Add(const Element& element);
  int64_t size() const { return size_; }
  // The rows that were added. REQUIRES: size() > 0.
  Element Take();

 private:
  Status Begin(const Element& element);

  int64_t capacity_;
  int64_t size_ = 0;
  Element stack_;
};

// Stacks elements that may differ in their extents, each filled up to the largest with `fill` (an
// empty string for strings). Extents are rounded up to multiples of `multiple`.
Result<Element> StackPadded(const std::vector<Element>& elements, double fill, int64_t multiple);

}  // namespace penstock::data
