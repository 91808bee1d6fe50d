#include "penstock/ops/collections/tensor_list_value.h"

#include <algorithm>
#include <atomic>

#include "penstock/ops/collections/pieces.h"

namespace penstock::ops {
namespace {

constexpr int kMaxDepth = 256;

}  // namespace

const Tensor TensorList::unset_;

Status TensorList::Push(Tensor element) {
  const int64_t at = length_;
  if (max_length_ >= 0 && at >= max_length_) {
    return InvalidArgument("Tried to push item into a full list list size: {} max_num_elements: {}",
                           at, max_length_);
  }
  ++length_;
  Status status = Set(at, std::move(element));
  if (!status.ok()) --length_;
  return status;
}

Tensor TensorList::Pop() {
  --length_;
  if (length_ >= stored()) return Tensor();
  Tensor last = std::move(tensors_.back());
  tensors_.pop_back();
  return last;
}

Status TensorList::Set(int64_t i, Tensor element) {
  TRY(CheckDepth(element));
  if (i - stored() > kMaxGap) {
    return ResourceExhausted("element {} of a list of which {} are set is too far", i, stored());
  }
  if (i >= stored()) tensors_.resize(static_cast<size_t>(i) + 1);
  tensors_[i] = std::move(element);
  return OkStatus();
}

void TensorList::Resize(int64_t length) {
  length_ = length;
  if (length < stored()) tensors_.resize(static_cast<size_t>(length));
}

Status TensorList::CheckType(DType dtype) const {
  if (dtype == dtype_) return OkStatus();
  return InvalidArgument("Invalid data types; op elements {} but list elements {}", dtype, dtype_);
}

Result<Shape> TensorList::MergeElementShapes(const Shape& declared) const {
  TRY_ASSIGN(Shape shape, MergeShapes(declared, element_shape_));
  for (const Tensor& tensor : tensors_) {
    if (!tensor.initialized()) continue;
    TRY_ASSIGN(shape, MergeShapes(shape, tensor.shape()));
  }
  return shape;
}

Status TensorList::CheckDepth(const Tensor& element) {
  if (element.dtype() != DType::kVariant) return OkStatus();
  for (const Variant& variant : element.values<Variant>()) {
    if (const auto* list = variant.As<TensorList>()) depth_ = std::max(depth_, list->depth_ + 1);
  }
  if (depth_ <= kMaxDepth) return OkStatus();
  return InvalidArgument("lists may lie within lists {} deep at most", kMaxDepth);
}

Result<const TensorList*> ListIn(const Variant& variant) {
  if (const auto* list = variant.As<TensorList>()) return list;
  return InvalidArgument("Input handle is not a list. Saw: '{}'",
                         variant.value() == nullptr ? "nothing" : variant.value()->TypeName());
}

Result<const TensorList*> ListIn(const Tensor& handle) {
  if (handle.dtype() != DType::kVariant || handle.shape().rank() != 0) {
    return InvalidArgument("Input list must be a scalar variant, saw: {} {}", handle.dtype(),
                           handle.shape());
  }
  return ListIn(handle.scalar<Variant>());
}

Result<Tensor> MakeListHandle(KernelContext& context, TensorList list) {
  TRY_ASSIGN(Tensor handle, context.Allocate(DType::kVariant, Shape()));
  *handle.mutable_data<Variant>() = Variant(std::make_shared<TensorList>(std::move(list)));
  return handle;
}

Result<TensorList*> ListToChange(KernelContext& context, int i) {
  Tensor handle = context.MayOverwrite(i) ? context.TakeInput(i) : context.input(i);
  const Variant& variant = handle.scalar<Variant>();
  const auto* list = variant.As<TensorList>();
  if (!handle.OwnsUniquely() || variant.value().use_count() != 1) {
    TRY_ASSIGN(handle, MakeListHandle(context, *list));
    list = handle.scalar<Variant>().As<TensorList>();
  } else {
    // The count does not order: who let go of the list has also finished reading it.
    std::atomic_thread_fence(std::memory_order_acquire);
  }
  context.SetOutput(0, std::move(handle));
  return const_cast<TensorList*>(list);  // made by MakeListHandle, and nobody else has it
}

Result<Shape> ElementShapeIn(const Integers& input) {
  const Shape& shape = input.shape();
  if (shape.has_rank() && shape.rank() > 1) {
    return InvalidArgument("element_shape must be a vector or the scalar -1, got shape {}", shape);
  }
  if (!shape.IsScalar()) return input.AsShape(/*allow_unknown=*/true);
  if (input.known() && input[0] != -1) {
    return InvalidArgument(
        "The only valid scalar shape tensor is the fully unknown shape specified as -1, got {}",
        input[0]);
  }
  return Shape::Unknown();
}

Result<Variant> ZerosLikeVariant(KernelContext& context, const Variant& variant) {
  if (variant.value() == nullptr) return Variant();
  const auto* list = variant.As<TensorList>();
  if (list == nullptr)
    return Unimplemented("there are no zeros like a {}", variant.value()->TypeName());
  auto zeros = std::make_shared<TensorList>(list->dtype(), list->element_shape());
  zeros->set_max_length(list->max_length());
  zeros->Resize(list->length());
  for (int64_t i = 0; i < list->stored(); ++i) {
    const Tensor& from = list->at(i);
    if (!from.initialized()) continue;
    TRY_ASSIGN(Tensor element, MakeZeros(context, from.dtype(), from.shape()));
    if (from.dtype() == DType::kVariant) {
      for (int64_t k = 0; k < from.num_elements(); ++k) {
        TRY_ASSIGN(element.mutable_data<Variant>()[k],
                   ZerosLikeVariant(context, from.data<Variant>()[k]));
      }
    }
    TRY(zeros->Set(i, std::move(element)));
  }
  return Variant(std::move(zeros));
}

namespace {

Result<Tensor> AddElements(KernelContext& context, const Tensor& a, const Tensor& b) {
  if (!a.initialized()) return b;
  if (!b.initialized()) return a;
  if (!(a.shape() == b.shape())) {
    return InvalidArgument(
        "Trying to add two tensors with incompatible element shapes. One is {} "
        "and the other is {}",
        a.shape(), b.shape());
  }
  if (a.dtype() == DType::kVariant) {
    TRY_ASSIGN(Tensor sum, context.Allocate(DType::kVariant, a.shape()));
    for (int64_t k = 0; k < a.num_elements(); ++k) {
      TRY_ASSIGN(sum.mutable_data<Variant>()[k],
                 AddVariants(context, a.data<Variant>()[k], b.data<Variant>()[k]));
    }
    return sum;
  }
  Tensor sum = a;
  TRY(AddTo(context, sum, b));
  return sum;
}

}  // namespace

Result<Variant> AddVariants(KernelContext& context, const Variant& a, const Variant& b) {
  if (a.value() == nullptr) return b;
  if (b.value() == nullptr) return a;
  const auto* left = a.As<TensorList>();
  const auto* right = b.As<TensorList>();
  if (left == nullptr || right == nullptr) {
    return Unimplemented("a {} and a {} cannot be added", a.value()->TypeName(),
                         b.value()->TypeName());
  }
  if (left->dtype() != right->dtype()) {
    return InvalidArgument(
        "Trying to add two lists of tensors of different dtypes. One is {} and "
        "the other is {}",
        left->dtype(), right->dtype());
  }
  if (left->length() != right->length()) {
    return InvalidArgument(
        "Trying to add two lists of tensors with different lengths. One is {} "
        "and the other is {}",
        left->length(), right->length());
  }
  Result<Shape> shape = MergeShapes(left->element_shape(), right->element_shape());
  if (!shape.ok()) {
    return InvalidArgument(
        "Trying to add two lists of tensors with incompatible element shapes. One is {} and the "
        "other is {}",
        left->element_shape(), right->element_shape());
  }
  auto sum = std::make_shared<TensorList>(left->dtype(), *shape);
  sum->Resize(left->length());
  for (int64_t i = 0; i < std::max(left->stored(), right->stored()); ++i) {
    TRY_ASSIGN(Tensor element, AddElements(context, left->at(i), right->at(i)));
    if (element.initialized()) TRY(sum->Set(i, std::move(element)));
  }
  return Variant(std::move(sum));
}

}  // namespace penstock::ops
