#include "penstock/ops/collections/tensor_list_concat.h"

#include "penstock/ops/collections/pieces.h"
#include "penstock/ops/collections/tensor_list_terms.h"
#include "penstock/ops/collections/tensor_list_value.h"
#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

// The shape of the elements but for axis 0.
Result<Shape> RestOf(const TensorList& list, const Shape& declared) {
  Shape rest = Shape::Unknown();
  const auto merge = [&](const Shape& shape) -> Status {
    if (!shape.has_rank()) return OkStatus();
    if (shape.rank() == 0) {
      return InvalidArgument(
          "Concat requires elements to be at least vectors, found scalars instead.");
    }
    Result<Shape> merged = MergeShapes(rest, shape.Slice(1, shape.rank()));
    if (!merged.ok()) {
      return InvalidArgument("Tried to concat tensors with unequal shapes: {} vs {}", rest,
                             shape.Slice(1, shape.rank()));
    }
    rest = *std::move(merged);
    return OkStatus();
  };
  TRY(merge(declared));
  TRY(merge(list.element_shape()));
  for (int64_t i = 0; i < list.stored(); ++i) {
    if (list.at(i).initialized()) TRY(merge(list.at(i).shape()));
  }
  if (rest.IsFullyKnown()) return rest;
  return InvalidArgument(
      "All except the first dimension must be fully defined when concating an empty tensor list. "
      "element_shape: {}",
      rest);
}

int64_t FirstDim(const Shape& shape) {
  return shape.has_rank() && shape.rank() > 0 ? shape.dim(0) : Shape::kUnknownDim;
}

// How long each element is; of those not set, by what else is known.
Status FillLengths(const TensorList& list, const Shape& declared,
                   std::span<const int64_t> leading_dims, Tensor& lengths) {
  for (int64_t i = 0; i < list.length(); ++i) {
    int64_t length = list.at(i).initialized() ? list.at(i).shape().dim(0) : Shape::kUnknownDim;
    if (length < 0 && i < static_cast<int64_t>(leading_dims.size())) length = leading_dims[i];
    if (length < 0) length = FirstDim(declared);
    if (length < 0) length = FirstDim(list.element_shape());
    if (length < 0) {
      return InvalidArgument(
          "List contains uninitialized tensor at index {} but leading_dims has only {} elements.",
          i, leading_dims.size());
    }
    lengths.mutable_data<int64_t>()[i] = length;
  }
  return OkStatus();
}

Status Concat(CpuContext& context, const Tensor& handle, DType dtype, const Shape& declared,
              std::span<const int64_t> leading_dims) {
  TRY_ASSIGN(const TensorList* list, ListIn(handle));
  TRY(list->CheckType(dtype));
  if (list->length() - list->stored() > TensorList::kMaxGap) {
    return ResourceExhausted("a list of {} elements of which {} are set is too long to concat",
                             list->length(), list->stored());
  }
  TRY_ASSIGN(const Shape rest, RestOf(*list, declared));
  TRY_ASSIGN(Tensor lengths, context.Allocate(DType::kInt64, Shape{list->length()}));
  TRY(FillLengths(*list, declared, leading_dims, lengths));
  TRY_ASSIGN(Tensor joined, ConcatPieces(context, dtype, rest, lengths.values<int64_t>(),
                                         [&](int64_t i) -> const Tensor& { return list->at(i); }));
  context.SetOutput(0, std::move(joined));
  context.SetOutput(1, std::move(lengths));
  return OkStatus();
}

std::array<Shape, 2> ConcatShapes(const Shape& element_shape) {
  Shape joined = element_shape;
  if (joined.rank() > 0) joined.set_dim(0, Shape::kUnknownDim);
  return {joined, Shape{Shape::kUnknownDim}};
}

void ConcatGradient(Gradients& g) {
  g.Set(0, Op("TensorListSplit", g.dy(0), ElementShapeOf(g.input(0)), g.output(1)));
}

}  // namespace

Result<std::array<Shape, 2>> TensorListConcat::InferShape(const Shape& input_handle) const {
  TRY(CheckScalar(input_handle, "input_handle"));
  return ConcatShapes(element_shape);
}

void TensorListConcat::Gradient(Gradients& g) const { ConcatGradient(g); }

Status TensorListConcat::ComputeCpu(CpuContext& context, const Tensor& input_handle) const {
  return Concat(context, input_handle, element_dtype, element_shape, {});
}

Result<std::array<Shape, 2>> TensorListConcatV2::InferShape(const Shape& input_handle,
                                                            const Integers& element_shape,
                                                            const Shape& leading_dims) const {
  TRY(CheckScalar(input_handle, "input_handle"));
  TRY(CheckVector(leading_dims, "leading_dims"));
  TRY_ASSIGN(const Shape shape, ElementShapeIn(element_shape));
  return ConcatShapes(shape);
}

void TensorListConcatV2::Gradient(Gradients& g) const { ConcatGradient(g); }

Status TensorListConcatV2::ComputeCpu(CpuContext& context, const Tensor& input_handle,
                                      const Integers& element_shape,
                                      const Tensor& leading_dims) const {
  TRY_ASSIGN(const Shape declared, ElementShapeIn(element_shape));
  return Concat(context, input_handle, element_dtype, declared, leading_dims.values<int64_t>());
}

Result<Shape> TensorListSplit::InferShape(const Shape& tensor, const Integers& element_shape,
                                          const Shape& lengths) const {
  TRY(CheckRankAtLeast(tensor, 1, "tensor"));
  TRY(CheckVector(lengths, "lengths"));
  TRY(ElementShapeIn(element_shape));
  return Shape();
}

void TensorListSplit::Gradient(Gradients& g) const {
  const Expr tensor = g.input(0);
  const Expr rows = g.scope().Add("ConcatV2",
                                  {IntegerVector(g.scope(), -1), RowShape(tensor),
                                   g.scope().Constant(Tensor::Scalar<int32_t>(0))},
                                  {{"N", int64_t{2}}});
  g.Set(0, Op("TensorListConcatV2", g.dy(), rows, g.input(2), ElementType(tensor.dtype())));
}

Status TensorListSplit::ComputeCpu(CpuContext& context, const Tensor& tensor,
                                   const Integers& element_shape, const Tensor& lengths) const {
  TRY_ASSIGN(const Shape declared, ElementShapeIn(element_shape));
  const std::span<const int64_t> cuts = lengths.values<int64_t>();
  TRY(CheckLengths(cuts, tensor.shape()));
  TRY_ASSIGN(const Tensor kept, KeepInput(context, 0));
  TensorList list(kept.dtype(), declared);
  int64_t at = 0;
  for (const int64_t length : cuts) {
    Tensor piece = kept.Rows(at, at + length);
    if (!declared.IsCompatibleWith(piece.shape())) {
      return InvalidArgument("Specified a list with shape {} from a tensor with shape {}", declared,
                             piece.shape());
    }
    TRY(list.Push(std::move(piece)));
    at += length;
  }
  TRY_ASSIGN(Tensor handle, MakeListHandle(context, std::move(list)));
  context.SetOutput(0, std::move(handle));
  return OkStatus();
}

void RegisterTensorListConcat(Registrar& registrar) {
  registrar.AddAll<TensorListConcat, TensorListConcatV2, TensorListSplit>();
}

}  // namespace penstock::ops
