#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/shape.h"
#include "penstock/core/status.h"
#include "penstock/core/tensor.h"

namespace penstock::tf {
class TensorSliceProto;
}  // namespace penstock::tf

namespace penstock::io {

// A box within a tensor, such as one part of a partitioned variable. In text an axis is
// "start,length" or "-" for the whole of it, and axes are separated by ':'.
class TensorSlice {
 public:
  static constexpr int64_t kWhole = -1;
  struct Extent {
    int64_t start = 0;
    int64_t length = kWhole;
  };

  TensorSlice() = default;
  explicit TensorSlice(std::vector<Extent> extents) : extents_(std::move(extents)) {}
  static Result<TensorSlice> Parse(std::string_view text);
  static Result<TensorSlice> FromProto(const tf::TensorSliceProto& proto);
  void ToProto(tf::TensorSliceProto* proto) const;

  const std::vector<Extent>& extents() const { return extents_; }
  // The same with no axis left whole, as it lies in a tensor of that shape; InvalidArgument when it
  // does not.
  Result<TensorSlice> Within(const Shape& shape) const;
  // REQUIRES: made by Within.
  Shape shape() const;
  // Whether it is all of a tensor of that shape. REQUIRES: made by Within(shape).
  bool Covers(const Shape& shape) const { return this->shape() == shape; }
  std::string ToString() const;

 private:
  std::vector<Extent> extents_;
};

// What a Saver says of a part: "4 4 0,2:-" is the upper half of a 4 x 4 tensor. Empty: the tensor
// is whole.
struct ShapeAndSlice {
  Shape shape;
  TensorSlice slice;  // as written; Within(shape) is known to succeed
};
Result<ShapeAndSlice> ParseShapeAndSlice(std::string_view text);

// The key of a part in the table of a checkpoint: sorts by name, then by extents.
std::string SliceKey(std::string_view name, const TensorSlice& slice);

// Copies what `from` and `to` have in common between two tensors that hold these slices of one;
// returns its number of elements. REQUIRES: both made by Within of one shape; the tensors have
// these shapes and one dtype, plain or string.
int64_t CopyCommon(const TensorSlice& from, const Tensor& source, const TensorSlice& to,
                   Tensor* target);

}  // namespace penstock::io
