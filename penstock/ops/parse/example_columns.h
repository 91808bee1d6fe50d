#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/device/kernel.h"
#include "penstock/io/example.h"

// The parts that readers of examples are made of.

namespace penstock::ops {

// What a feature of that kind is as a tensor; kInvalid for an empty one.
DType TypeOf(io::Feature::Kind kind);

// A feature that has a shape.
struct DenseSpec {
  std::string key;
  DType dtype = DType::kInvalid;
  Shape shape;           // the first extent may be unknown: then as many as there are
  Tensor default_value;  // no elements: the feature is required; of a variable one: what fills it

  bool variable() const { return shape.rank() > 0 && shape.dim(0) == Shape::kUnknownDim; }
  // The values of one entry of axis 0 when variable, else all of them. REQUIRES: Check.
  int64_t Stride() const;
  Status Check(size_t index) const;
};

// A feature of any number of values. `splits` is the type of the row splits where it is ragged.
struct ListSpec {
  std::string key;
  DType dtype = DType::kInvalid;
  DType splits = DType::kInvalid;
};

// The dense shapes of attributes, which are known before a node runs.
Status CheckDenseShape(const Shape& shape, size_t index);
// [extent, shape...], checked.
Result<Shape> Prepend(int64_t extent, const Shape& shape);

// Values of one feature, one example after the other.
class Column {
 public:
  explicit Column(DType dtype) : dtype_(dtype) {}

  // One example without the feature, or with these values. REQUIRES: of the column's type, and
  // `count` is what CountValues said.
  void AppendNone() { ends_.push_back(size()); }
  void Append(const io::Feature& feature, int64_t count);
  // Those of a column that follows this one.
  void Append(Column later);

  DType dtype() const { return dtype_; }
  int64_t size() const { return size_; }
  // Where the values of each example end.
  const std::vector<int64_t>& ends() const { return ends_; }
  int64_t Longest() const;

  // A vector of all values. Takes them.
  Result<Tensor> TakeValues(KernelContext& context);
  // Writes the values of each example to rows of `width` in `out`, filled up with `fill`.
  void CopyPadded(const Tensor& fill, int64_t width, Tensor& out) const;
  // The row splits [0, ends...].
  Result<Tensor> MakeSplits(KernelContext& context, DType dtype) const;

 private:
  DType dtype_;
  int64_t size_ = 0;
  std::vector<int64_t> ends_;
  std::vector<float> floats_;
  std::vector<int64_t> integers_;
  std::vector<std::string> strings_;
};

// Row splits of int32 or int64. InvalidArgument when they do not fit.
Result<Tensor> SplitsTensor(KernelContext& context, const std::vector<int64_t>& splits,
                            DType dtype);

// A vector of integers.
Result<Tensor> VectorOf(KernelContext& context, std::initializer_list<int64_t> values);

// Copies the values of a feature, or a tensor, to element `at` of `out`. REQUIRES: they fit.
void CopyFeature(const io::Feature& feature, int64_t at, Tensor& out);
void CopyElements(const Tensor& from, int64_t at, Tensor& out);

}  // namespace penstock::ops
