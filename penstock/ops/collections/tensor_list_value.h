#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/core/resource.h"
#include "penstock/device/kernel.h"
#include "penstock/graph/infer.h"

namespace penstock::ops {

// A list of tensors, as the value of a Variant. An element that was not set is not initialized()
// and reads as zeros. Copying a list shares its elements.
class TensorList final : public Variant::Value {
 public:
  // How many elements one call may leave unset before the one that it sets: an index from data
  // must not take all memory.
  static constexpr int64_t kMaxGap = int64_t{1} << 24;

  TensorList(DType dtype, Shape element_shape) : dtype_(dtype), element_shape_(element_shape) {}

  std::string TypeName() const override { return "tensorflow::TensorList"; }
  DType dtype() const { return dtype_; }
  const Shape& element_shape() const { return element_shape_; }
  int64_t length() const { return length_; }
  // -1: as many as there is memory for.
  int64_t max_length() const { return max_length_; }
  void set_max_length(int64_t most) { max_length_ = most; }
  // REQUIRES: 0 <= i < length().
  const Tensor& at(int64_t i) const { return i < stored() ? tensors_[i] : unset_; }

  // Elements from here on are not set.
  int64_t stored() const { return static_cast<int64_t>(tensors_.size()); }

  Status Push(Tensor element);
  // REQUIRES: length() > 0.
  Tensor Pop();
  // REQUIRES: 0 <= i < length(); the dtype and shape of the element fit.
  Status Set(int64_t i, Tensor element);
  // New elements are not set. REQUIRES: length >= 0.
  void Resize(int64_t length);

  // InvalidArgument when the list holds another dtype.
  Status CheckType(DType dtype) const;
  // `declared` with what the list knows of its elements: its own shape and those that are set.
  Result<Shape> MergeElementShapes(const Shape& declared) const;

 private:
  // Counts lists within lists: they are destroyed one within the other, on the stack.
  Status CheckDepth(const Tensor& element);

  const DType dtype_;
  const Shape element_shape_;
  int64_t length_ = 0;
  int64_t max_length_ = -1;
  int depth_ = 1;
  // Those set so far, at most length_: a list of absurd length costs nothing until it is filled.
  std::vector<Tensor> tensors_;
  static const Tensor unset_;
};

// The list in a scalar variant. InvalidArgument when there is none.
Result<const TensorList*> ListIn(const Tensor& handle);
Result<const TensorList*> ListIn(const Variant& variant);
// A scalar variant that holds `list`.
Result<Tensor> MakeListHandle(KernelContext& context, TensorList list);
// The list of input i, to be changed and put out as output 0: the same object when nobody else can
// see it, so that a loop may push in constant time, else a copy. REQUIRES: ListIn accepted input i.
Result<TensorList*> ListToChange(KernelContext& context, int i);

// A shape of elements as an op is told it: a vector with -1 for what is unknown, or the scalar -1.
Result<Shape> ElementShapeIn(const Integers& input);

// What ZerosLike and AddN do to the values of variants. Unimplemented for values other than lists.
Result<Variant> ZerosLikeVariant(KernelContext& context, const Variant& variant);
Result<Variant> AddVariants(KernelContext& context, const Variant& a, const Variant& b);

}  // namespace penstock::ops
