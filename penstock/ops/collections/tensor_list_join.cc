#include "penstock/ops/collections/tensor_list_join.h"

#include <algorithm>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/ops/collections/pieces.h"
#include "penstock/ops/collections/tensor_list_terms.h"
#include "penstock/ops/collections/tensor_list_value.h"
#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

Shape Stacked(int64_t count, const Shape& element) {
  if (!element.has_rank() || element.rank() >= Shape::kMaxRank) return Shape::Unknown();
  return Prepended(count, element);
}

int64_t LengthOf(const Shape& vector) {
  return vector.has_rank() ? vector.dim(0) : Shape::kUnknownDim;
}

// Checks that rows of `tensor` may be elements of that shape, as far as both are known.
Status CheckRows(const Shape& tensor, const Shape& element_shape) {
  TRY(CheckRankAtLeast(tensor, 1, "tensor"));
  if (!tensor.has_rank()) return OkStatus();
  const Shape row = tensor.Slice(1, tensor.rank());
  if (element_shape.IsCompatibleWith(row) || !row.IsFullyKnown()) return OkStatus();
  return InvalidArgument("Specified a list with shape {} from a tensor with shape {}",
                         element_shape, row);
}

Status CheckScatter(const Shape& tensor, const Shape& indices, const Shape& element_shape) {
  TRY(CheckRows(tensor, element_shape));
  TRY(CheckVector(indices, "indices"));
  const int64_t count = LengthOf(indices);
  if (!tensor.has_rank() || tensor.dim(0) < 0 || count < 0 || tensor.dim(0) == count) {
    return OkStatus();
  }
  return InvalidArgument("Expected len(indices) == values.shape[0], but saw: {} vs. {}", count,
                         tensor.dim(0));
}

// The largest index plus one.
Result<int64_t> NeededLength(std::span<const int32_t> indices) {
  int64_t length = 0;
  for (const int32_t index : indices) {
    if (index < 0) {
      return InvalidArgument("Indices in TensorListScatter must all be non-negative, got {}",
                             index);
    }
    length = std::max<int64_t>(length, int64_t{index} + 1);
  }
  return length;
}

Status SetRows(TensorList& list, const Tensor& rows, std::span<const int32_t> indices) {
  for (size_t i = 0; i < indices.size(); ++i) {
    TRY(list.Set(indices[i], RowOf(rows, static_cast<int64_t>(i))));
  }
  return OkStatus();
}

// The kernel of both kinds of scatter; -1: as long as needed.
Status ScatterRows(CpuContext& context, std::span<const int32_t> indices, const Integers& shape,
                   int64_t num_elements) {
  TRY_ASSIGN(const Shape element_shape, ElementShapeIn(shape));
  TRY_ASSIGN(int64_t length, NeededLength(indices));
  if (num_elements < -1) {
    return InvalidArgument("TensorListScatter expects num_elements >= -1, found: {}", num_elements);
  }
  if (num_elements >= 0) {
    if (length > num_elements) {
      return InvalidArgument(
          "TensorListScatter: Trying to scatter at index {} in list with size {}", length - 1,
          num_elements);
    }
    length = num_elements;
  }
  TRY_ASSIGN(const Tensor kept, KeepInput(context, 0));
  TensorList list(kept.dtype(), element_shape);
  list.Resize(length);
  TRY(SetRows(list, kept, indices));
  TRY_ASSIGN(Tensor handle, MakeListHandle(context, std::move(list)));
  context.SetOutput(0, std::move(handle));
  return OkStatus();
}

// The shape of the elements that are put together, which must be known in full.
Status CheckFullShape(const Shape& shape, bool is_empty) {
  if (shape.IsFullyKnown()) return OkStatus();
  if (is_empty) {
    return InvalidArgument(
        "Tried to stack elements of an empty list with non-fully-defined element_shape: {}", shape);
  }
  return InvalidArgument(
      "Tried to stack list which only contains uninitialized tensors and has a non-fully-defined "
      "element_shape: {}",
      shape);
}

// The same of some elements; what the others are like is of no account.
Result<Shape> MergeShapesAt(const TensorList& list, std::span<const int32_t> places,
                            const Shape& declared) {
  TRY_ASSIGN(Shape shape, MergeShapes(declared, list.element_shape()));
  for (const int32_t place : places) {
    const Tensor& element = list.at(place);
    if (!element.initialized()) continue;
    TRY_ASSIGN(shape, MergeShapes(shape, element.shape()));
  }
  return shape;
}

void ScatterGradient(Gradients& g) {
  g.Set(0, Op("TensorListGather", g.dy(), g.input(1), RowShape(g.input(0)),
              ElementType(g.input(0).dtype())));
}

}  // namespace

Result<Shape> TensorListFromTensor::InferShape(const Shape& tensor,
                                               const Integers& element_shape) const {
  TRY_ASSIGN(const Shape shape, ElementShapeIn(element_shape));
  TRY(CheckRows(tensor, shape));
  return Shape();
}

void TensorListFromTensor::Gradient(Gradients& g) const {
  const Expr tensor = g.input(0);
  AttrMap attrs = ElementType(tensor.dtype());
  if (tensor.shape().has_rank()) attrs.emplace_back("num_elements", tensor.shape().dim(0));
  g.Set(0, Op("TensorListStack", g.dy(), RowShape(tensor), std::move(attrs)));
}

Status TensorListFromTensor::ComputeCpu(CpuContext& context, const Tensor&,
                                        const Integers& element_shape) const {
  TRY_ASSIGN(const Shape shape, ElementShapeIn(element_shape));
  TRY_ASSIGN(const Tensor kept, KeepInput(context, 0));
  TensorList list(kept.dtype(), shape);
  for (int64_t i = 0; i < kept.shape().dim(0); ++i) TRY(list.Push(RowOf(kept, i)));
  TRY_ASSIGN(Tensor handle, MakeListHandle(context, std::move(list)));
  context.SetOutput(0, std::move(handle));
  return OkStatus();
}

Result<Shape> TensorListStack::InferShape(const Shape& input_handle,
                                          const Integers& element_shape) const {
  TRY(CheckScalar(input_handle, "input_handle"));
  TRY_ASSIGN(const Shape shape, ElementShapeIn(element_shape));
  return Stacked(num_elements, shape);
}

void TensorListStack::Gradient(Gradients& g) const {
  g.Set(0, Op("TensorListFromTensor", g.dy(), RowShape(g.dy())));
}

Status TensorListStack::ComputeCpu(CpuContext& context, const Tensor& input_handle,
                                   const Integers& element_shape) const {
  TRY_ASSIGN(const TensorList* list, ListIn(input_handle));
  TRY(list->CheckType(element_dtype));
  if (num_elements >= 0 && list->length() != num_elements) {
    return InvalidArgument(
        "Operation expected a list with {} elements but got a list with {} elements.", num_elements,
        list->length());
  }
  TRY_ASSIGN(const Shape declared, ElementShapeIn(element_shape));
  TRY_ASSIGN(const Shape shape, list->MergeElementShapes(declared));
  TRY(CheckFullShape(shape, list->length() == 0));
  TRY_ASSIGN(Tensor stacked, StackPieces(context, element_dtype, shape, list->length(),
                                         [&](int64_t i) -> const Tensor& { return list->at(i); }));
  context.SetOutput(0, std::move(stacked));
  return OkStatus();
}

Result<Shape> TensorListGather::InferShape(const Shape& input_handle, const Shape& indices,
                                           const Integers& element_shape) const {
  TRY(CheckScalar(input_handle, "input_handle"));
  TRY(CheckVector(indices, "indices"));
  TRY_ASSIGN(const Shape shape, ElementShapeIn(element_shape));
  return Stacked(LengthOf(indices), shape);
}

void TensorListGather::Gradient(Gradients& g) const {
  g.Set(0, g.scope().Add("TensorListScatterV2", {g.dy(), g.input(1), ElementShapeOf(g.input(0)),
                                                 Op("TensorListLength", g.input(0))}));
}

Status TensorListGather::ComputeCpu(CpuContext& context, const Tensor& input_handle,
                                    const Tensor& indices, const Integers& element_shape) const {
  TRY_ASSIGN(const TensorList* list, ListIn(input_handle));
  TRY(list->CheckType(element_dtype));
  const std::span<const int32_t> places = indices.values<int32_t>();
  for (const int32_t index : places) {
    if (InRange(index, list->length())) continue;
    return InvalidArgument("Trying to gather element {} in a list with {} elements.", index,
                           list->length());
  }
  TRY_ASSIGN(const Shape declared, ElementShapeIn(element_shape));
  TRY_ASSIGN(const Shape shape, MergeShapesAt(*list, places, declared));
  TRY(CheckFullShape(shape, places.empty()));
  const auto piece = [&](int64_t i) -> const Tensor& { return list->at(places[i]); };
  TRY_ASSIGN(Tensor stacked, StackPieces(context, element_dtype, shape,
                                         static_cast<int64_t>(places.size()), piece));
  context.SetOutput(0, std::move(stacked));
  return OkStatus();
}

Result<Shape> TensorListScatter::InferShape(const Shape& tensor, const Shape& indices,
                                            const Integers& element_shape) const {
  TRY_ASSIGN(const Shape shape, ElementShapeIn(element_shape));
  TRY(CheckScatter(tensor, indices, shape));
  return Shape();
}

void TensorListScatter::Gradient(Gradients& g) const { ScatterGradient(g); }

Status TensorListScatter::ComputeCpu(CpuContext& context, const Tensor&, const Tensor& indices,
                                     const Integers& element_shape) const {
  return ScatterRows(context, indices.values<int32_t>(), element_shape, -1);
}

Result<Shape> TensorListScatterV2::InferShape(const Shape& tensor, const Shape& indices,
                                              const Integers& element_shape,
                                              const Shape& num_elements) const {
  TRY_ASSIGN(const Shape shape, ElementShapeIn(element_shape));
  TRY(CheckScatter(tensor, indices, shape));
  TRY(CheckScalar(num_elements, "num_elements"));
  return Shape();
}

void TensorListScatterV2::Gradient(Gradients& g) const { ScatterGradient(g); }

Status TensorListScatterV2::ComputeCpu(CpuContext& context, const Tensor&, const Tensor& indices,
                                       const Integers& element_shape, int32_t num_elements) const {
  return ScatterRows(context, indices.values<int32_t>(), element_shape, num_elements);
}

Result<Shape> TensorListScatterIntoExistingList::InferShape(const Shape& input_handle,
                                                            const Shape& tensor,
                                                            const Shape& indices) const {
  TRY(CheckScalar(input_handle, "input_handle"));
  TRY(CheckScatter(tensor, indices, Shape::Unknown()));
  return Shape();
}

void TensorListScatterIntoExistingList::Gradient(Gradients& g) const {
  const Expr list = g.dy(), tensor = g.input(1), indices = g.input(2);
  g.Set(1, Op("TensorListGather", list, indices, RowShape(tensor), ElementType(tensor.dtype())));
  const Expr others =
      Op("TensorListScatterIntoExistingList", list, Op("ZerosLike", tensor), indices);
  g.Set(0, Op("TensorListResize", others, Op("TensorListLength", g.input(0))));
}

Status TensorListScatterIntoExistingList::ComputeCpu(CpuContext& context,
                                                     const Tensor& input_handle,
                                                     const Tensor& tensor,
                                                     const Tensor& indices) const {
  TRY_ASSIGN(const TensorList* before, ListIn(input_handle));
  TRY(before->CheckType(tensor.dtype()));
  TRY(CheckRows(tensor.shape(), before->element_shape()));
  TRY_ASSIGN(const int64_t needed, NeededLength(indices.values<int32_t>()));
  TRY_ASSIGN(const Tensor kept, KeepInput(context, 1));
  TRY_ASSIGN(TensorList * list, ListToChange(context, 0));
  if (needed > list->length()) list->Resize(needed);
  return SetRows(*list, kept, indices.values<int32_t>());
}

void RegisterTensorListJoin(Registrar& registrar) {
  registrar.AddAll<TensorListFromTensor, TensorListStack, TensorListGather, TensorListScatter,
                   TensorListScatterV2, TensorListScatterIntoExistingList>();
}

}  // namespace penstock::ops
