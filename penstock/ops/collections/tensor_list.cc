#include "penstock/ops/collections/tensor_list.h"

#include "penstock/core/checked.h"
#include "penstock/ops/collections/pieces.h"
#include "penstock/ops/collections/tensor_list_terms.h"
#include "penstock/ops/collections/tensor_list_value.h"
#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

Status CheckElement(const TensorList& list, const Tensor& element) {
  if (element.dtype() != list.dtype()) {
    return InvalidArgument("Invalid data types; list elements {} but tried to append {}",
                           list.dtype(), element.dtype());
  }
  if (list.element_shape().IsCompatibleWith(element.shape())) return OkStatus();
  return InvalidArgument(
      "Tried to append a tensor with incompatible shape to a list. Op element shape: {} list "
      "shape: {}",
      element.shape(), list.element_shape());
}

// An element that was read, or the zeros it stands for. Its shape is what the node declared.
Result<Tensor> ElementOrZeros(CpuContext& context, const TensorList& list, const Tensor& element,
                              const Shape& declared) {
  if (element.initialized()) {
    if (declared.IsCompatibleWith(element.shape())) return element;
    return InvalidArgument("the element must have shape {}, got {}", declared, element.shape());
  }
  TRY_ASSIGN(const Shape shape, list.MergeElementShapes(declared));
  if (shape.IsFullyKnown()) return MakeZeros(context, list.dtype(), shape);
  return InvalidArgument(
      "Trying to read an uninitialized element but element_shape is not fully defined: {}", shape);
}

}  // namespace

Result<Shape> EmptyTensorList::InferShape(const Integers& element_shape,
                                          const Shape& max_num_elements) const {
  TRY(ElementShapeIn(element_shape));
  TRY(CheckScalar(max_num_elements, "max_num_elements"));
  return Shape();
}

Status EmptyTensorList::ComputeCpu(CpuContext& context, const Integers& element_shape,
                                   int32_t max_num_elements) const {
  TRY_ASSIGN(const Shape shape, ElementShapeIn(element_shape));
  TensorList list(element_dtype, shape);
  list.set_max_length(max_num_elements);
  TRY_ASSIGN(Tensor handle, MakeListHandle(context, std::move(list)));
  context.SetOutput(0, std::move(handle));
  return OkStatus();
}

Result<Shape> TensorListReserve::InferShape(const Integers& element_shape,
                                            const Shape& num_elements) const {
  TRY(ElementShapeIn(element_shape));
  TRY(CheckScalar(num_elements, "num_elements"));
  return Shape();
}

Status TensorListReserve::ComputeCpu(CpuContext& context, const Integers& element_shape,
                                     int32_t num_elements) const {
  if (num_elements < 0) {
    return InvalidArgument("The num_elements to reserve must be a non negative number, but got {}",
                           num_elements);
  }
  TRY_ASSIGN(const Shape shape, ElementShapeIn(element_shape));
  TensorList list(element_dtype, shape);
  list.Resize(num_elements);
  TRY_ASSIGN(Tensor handle, MakeListHandle(context, std::move(list)));
  context.SetOutput(0, std::move(handle));
  return OkStatus();
}

Result<Shape> TensorListPushBack::InferShape(const Shape& input_handle, const Shape&) const {
  TRY(CheckScalar(input_handle, "input_handle"));
  return Shape();
}

void TensorListPushBack::Gradient(Gradients& g) const {
  const Expr popped =
      Op("TensorListPopBack", g.dy(), Op("Shape", g.input(1)), ElementType(g.input(1).dtype()));
  if (!popped.valid()) return;
  g.Set(0, popped);
  g.Set(1, popped.Output(1));
}

Status TensorListPushBack::ComputeCpu(CpuContext& context, const Tensor& input_handle,
                                      const Tensor& tensor) const {
  TRY_ASSIGN(const TensorList* before, ListIn(input_handle));
  TRY(CheckElement(*before, tensor));
  TRY_ASSIGN(Tensor kept, KeepInput(context, 1));
  TRY_ASSIGN(TensorList * list, ListToChange(context, 0));
  return list->Push(std::move(kept));
}

Result<std::array<Shape, 2>> TensorListPopBack::InferShape(const Shape& input_handle,
                                                           const Integers& element_shape) const {
  TRY(CheckScalar(input_handle, "input_handle"));
  TRY_ASSIGN(Shape shape, ElementShapeIn(element_shape));
  return std::array{Shape(), std::move(shape)};
}

void TensorListPopBack::Gradient(Gradients& g) const {
  g.Set(0, Op("TensorListPushBack", g.dy(0), g.dy(1)));
}

Status TensorListPopBack::ComputeCpu(CpuContext& context, const Tensor& input_handle,
                                     const Integers& element_shape) const {
  TRY_ASSIGN(const TensorList* before, ListIn(input_handle));
  TRY(before->CheckType(element_dtype));
  if (before->length() == 0) return InvalidArgument("Trying to pop from an empty list.");
  TRY_ASSIGN(const Shape declared, ElementShapeIn(element_shape));
  TRY_ASSIGN(Tensor element,
             ElementOrZeros(context, *before, before->at(before->length() - 1), declared));
  TRY_ASSIGN(TensorList * list, ListToChange(context, 0));
  list->Pop();
  context.SetOutput(1, std::move(element));
  return OkStatus();
}

Result<Shape> TensorListPushBackBatch::InferShape(const Shape& input_handles,
                                                  const Shape& tensor) const {
  TRY(CheckVector(input_handles, "input_handles"));
  TRY(CheckRankAtLeast(tensor, 1, "tensor"));
  if (input_handles.has_rank() && tensor.has_rank() && input_handles.dim(0) >= 0 &&
      tensor.dim(0) >= 0 && input_handles.dim(0) != tensor.dim(0)) {
    return InvalidArgument("tensor.shape[0] != input_handles.size. {} vs. {}", tensor.dim(0),
                           input_handles.dim(0));
  }
  return input_handles;
}

Status TensorListPushBackBatch::ComputeCpu(CpuContext& context, const Tensor& input_handles,
                                           const Tensor&) const {
  TRY_ASSIGN(const Tensor kept, KeepInput(context, 1));
  TRY_ASSIGN(Tensor handles, context.Allocate(DType::kVariant, input_handles.shape()));
  for (int64_t i = 0; i < handles.num_elements(); ++i) {
    TRY_ASSIGN(const TensorList* before, ListIn(input_handles.data<Variant>()[i]));
    Tensor row = RowOf(kept, i);
    TRY(CheckElement(*before, row));
    auto list = std::make_shared<TensorList>(*before);
    TRY(list->Push(std::move(row)));
    handles.mutable_data<Variant>()[i] = Variant(std::move(list));
  }
  context.SetOutput(0, std::move(handles));
  return OkStatus();
}

Status TensorListLength::ComputeCpu(CpuContext&, const Tensor& input_handle,
                                    std::span<int32_t> length) const {
  TRY_ASSIGN(const TensorList* list, ListIn(input_handle));
  if (list->length() > INT32_MAX) {
    return InvalidArgument("the length must fit into an int32, got {}", list->length());
  }
  length[0] = static_cast<int32_t>(list->length());
  return OkStatus();
}

template <class T>
Status TensorListElementShape::ComputeCpu(CpuContext& context, const Tensor& input_handle) const {
  TRY_ASSIGN(const TensorList* list, ListIn(input_handle));
  const Shape& shape = list->element_shape();
  TRY_ASSIGN(Tensor output,
             context.Allocate(kDTypeOf<T>, shape.has_rank() ? Shape{shape.rank()} : Shape()));
  if (!shape.has_rank()) *output.mutable_data<T>() = -1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (static_cast<T>(shape.dim(axis)) != shape.dim(axis)) {
      return InvalidArgument("dimension {} must fit into {}, got {}", axis, kDTypeOf<T>,
                             shape.dim(axis));
    }
    output.mutable_data<T>()[axis] = static_cast<T>(shape.dim(axis));
  }
  context.SetOutput(0, std::move(output));
  return OkStatus();
}

Result<Shape> TensorListGetItem::InferShape(const Shape& input_handle, const Shape& index,
                                            const Integers& element_shape) const {
  TRY(CheckScalar(input_handle, "input_handle"));
  TRY(CheckScalar(index, "index"));
  return ElementShapeIn(element_shape);
}

void TensorListGetItem::Gradient(Gradients& g) const {
  const Expr zeros = Op("TensorListReserve", ElementShapeOf(g.input(0)),
                        Op("TensorListLength", g.input(0)), ElementType(g.dy().dtype()));
  g.Set(0, Op("TensorListSetItem", zeros, g.input(1), g.dy()));
}

Status TensorListGetItem::ComputeCpu(CpuContext& context, const Tensor& input_handle, int32_t index,
                                     const Integers& element_shape) const {
  TRY_ASSIGN(const TensorList* list, ListIn(input_handle));
  TRY(list->CheckType(element_dtype));
  if (!InRange(index, list->length())) {
    return InvalidArgument("Trying to access element {} in a list with {} elements.", index,
                           list->length());
  }
  TRY_ASSIGN(const Shape declared, ElementShapeIn(element_shape));
  TRY_ASSIGN(Tensor item, ElementOrZeros(context, *list, list->at(index), declared));
  context.SetOutput(0, std::move(item));
  return OkStatus();
}

Result<Shape> TensorListSetItem::InferShape(const Shape& input_handle, const Shape& index,
                                            const Shape&) const {
  TRY(CheckScalar(input_handle, "input_handle"));
  TRY(CheckScalar(index, "index"));
  return Shape();
}

void TensorListSetItem::Gradient(Gradients& g) const {
  const Expr list = g.dy();
  const Expr item = g.input(2);
  Expr others = Op("TensorListSetItem", list, g.input(1), Op("ZerosLike", item));
  if (resize_if_index_out_of_bounds) {
    others = Op("TensorListResize", others, Op("TensorListLength", g.input(0)));
  }
  g.Set(0, others);
  g.Set(2, Op("TensorListGetItem", list, g.input(1), Op("Shape", item), ElementType(item.dtype())));
}

Status TensorListSetItem::ComputeCpu(CpuContext& context, const Tensor& input_handle, int32_t index,
                                     const Tensor& item) const {
  TRY_ASSIGN(const TensorList* before, ListIn(input_handle));
  TRY(before->CheckType(item.dtype()));
  const bool grows = resize_if_index_out_of_bounds && index >= before->length();
  if (!grows && !InRange(index, before->length())) {
    return InvalidArgument("Trying to modify element {} in a list with {} elements.", index,
                           before->length());
  }
  if (!before->element_shape().IsCompatibleWith(item.shape())) {
    return InvalidArgument(
        "Tried to set a tensor with incompatible shape at a list index. Item element shape: {} "
        "list shape: {}",
        item.shape(), before->element_shape());
  }
  TRY_ASSIGN(Tensor kept, KeepInput(context, 2));
  TRY_ASSIGN(TensorList * list, ListToChange(context, 0));
  if (grows) list->Resize(int64_t{index} + 1);
  return list->Set(index, std::move(kept));
}

Result<Shape> TensorListResize::InferShape(const Shape& input_handle, const Shape& size) const {
  TRY(CheckScalar(input_handle, "input_handle"));
  TRY(CheckScalar(size, "size"));
  return Shape();
}

void TensorListResize::Gradient(Gradients& g) const {
  g.Set(0, Op("TensorListResize", g.dy(), Op("TensorListLength", g.input(0))));
}

Status TensorListResize::ComputeCpu(CpuContext& context, const Tensor& input_handle,
                                    int32_t size) const {
  if (size < 0) {
    return InvalidArgument("TensorListSlice expects size to be non-negative. Got: {}", size);
  }
  TRY(ListIn(input_handle));
  TRY_ASSIGN(TensorList * list, ListToChange(context, 0));
  list->Resize(size);
  return OkStatus();
}

Status TensorListConcatLists::ComputeCpu(CpuContext& context, const Tensor& input_a,
                                         const Tensor& input_b) const {
  TRY_ASSIGN(Tensor output, context.Allocate(DType::kVariant, input_a.shape()));
  for (int64_t i = 0; i < input_a.num_elements(); ++i) {
    TRY_ASSIGN(const TensorList* a, ListIn(input_a.data<Variant>()[i]));
    TRY_ASSIGN(const TensorList* b, ListIn(input_b.data<Variant>()[i]));
    TRY(a->CheckType(element_dtype));
    TRY(b->CheckType(element_dtype));
    TRY_ASSIGN(const Shape shape, MergeShapes(a->element_shape(), b->element_shape()));
    if (a->length() + b->length() > INT32_MAX) {
      return InvalidArgument("a list may have 2^31 - 1 elements at most, got {} and {}",
                             a->length(), b->length());
    }
    auto joined = std::make_shared<TensorList>(element_dtype, shape);
    joined->Resize(a->length() + b->length());
    for (int64_t k = 0; k < a->stored(); ++k) TRY(joined->Set(k, a->at(k)));
    for (int64_t k = 0; k < b->stored(); ++k) TRY(joined->Set(a->length() + k, b->at(k)));
    output.mutable_data<Variant>()[i] = Variant(std::move(joined));
  }
  context.SetOutput(0, std::move(output));
  return OkStatus();
}

void RegisterTensorList(Registrar& registrar) {
  registrar.AddAll<EmptyTensorList, TensorListReserve, TensorListPushBack, TensorListPopBack,
                   TensorListPushBackBatch, TensorListLength, TensorListElementShape,
                   TensorListGetItem, TensorListSetItem, TensorListResize, TensorListConcatLists>();
}

}  // namespace penstock::ops
