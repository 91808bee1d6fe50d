#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Lists of tensors as values: making them, and reading and writing one element.

namespace penstock::ops {

struct EmptyTensorList {
  static constexpr auto kName = "EmptyTensorList";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType element_dtype = DType::kInvalid;
  using Sig = Signature<In<"element_shape", IndexType<"shape_type">>,
                        In<"max_num_elements", int32_t>, Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs{
      Field{"element_dtype", &EmptyTensorList::element_dtype}.Required()};

  Result<Shape> InferShape(const Integers& element_shape, const Shape& max_num_elements) const;
  Status ComputeCpu(CpuContext& context, const Integers& element_shape,
                    int32_t max_num_elements) const;
};

struct TensorListReserve {
  static constexpr auto kName = "TensorListReserve";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType element_dtype = DType::kInvalid;
  using Sig = Signature<In<"element_shape", IndexType<"shape_type">>, In<"num_elements", int32_t>,
                        Out<"handle", Variant>>;
  static constexpr std::tuple kAttrs{
      Field{"element_dtype", &TensorListReserve::element_dtype}.Required()};

  Result<Shape> InferShape(const Integers& element_shape, const Shape& num_elements) const;
  Status ComputeCpu(CpuContext& context, const Integers& element_shape, int32_t num_elements) const;
};

struct TensorListPushBack {
  static constexpr auto kName = "TensorListPushBack";
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kCheap = true;
  using Sig = Signature<In<"input_handle", Variant>, In<"tensor", AnyType<"element_dtype">>,
                        Out<"output_handle", Variant>>;

  Result<Shape> InferShape(const Shape& input_handle, const Shape& tensor) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_handle, const Tensor& tensor) const;
};

struct TensorListPopBack {
  static constexpr auto kName = "TensorListPopBack";
  static constexpr bool kCheap = true;
  DType element_dtype = DType::kInvalid;
  using Sig = Signature<In<"input_handle", Variant>, In<"element_shape", int32_t>,
                        Out<"output_handle", Variant>, Out<"tensor", AnyType<"element_dtype">>>;
  static constexpr std::tuple kAttrs{Field{"element_dtype", &TensorListPopBack::element_dtype}};

  Result<std::array<Shape, 2>> InferShape(const Shape& input_handle,
                                          const Integers& element_shape) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_handle,
                    const Integers& element_shape) const;
};

// Pushes row i of `tensor` to list i.
struct TensorListPushBackBatch {
  static constexpr auto kName = "TensorListPushBackBatch";
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kNoGradient = true;  // TensorFlow has none
  using Sig = Signature<In<"input_handles", Variant>, In<"tensor", AnyType<"element_dtype">>,
                        Out<"output_handles", Variant>>;

  Result<Shape> InferShape(const Shape& input_handles, const Shape& tensor) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_handles, const Tensor& tensor) const;
};

struct TensorListLength {
  static constexpr auto kName = "TensorListLength";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input_handle", Variant>, Out<"length", int32_t>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& input_handle,
                    std::span<int32_t> length) const;
};

// The scalar -1 when not even the rank is known.
struct TensorListElementShape {
  static constexpr auto kName = "TensorListElementShape";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input_handle", Variant>, Out<"element_shape", IndexType<"shape_type">>>;

  Result<Shape> InferShape(const Shape&) const { return Shape::Unknown(); }
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& input_handle) const;
};

struct TensorListGetItem {
  static constexpr auto kName = "TensorListGetItem";
  static constexpr bool kCheap = true;
  DType element_dtype = DType::kInvalid;
  using Sig = Signature<In<"input_handle", Variant>, In<"index", int32_t>,
                        In<"element_shape", IndexTypeOr32<"Tshape">>,
                        Out<"item", AnyType<"element_dtype">>>;
  static constexpr std::tuple kAttrs{Field{"element_dtype", &TensorListGetItem::element_dtype}};

  Result<Shape> InferShape(const Shape& input_handle, const Shape& index,
                           const Integers& element_shape) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_handle, int32_t index,
                    const Integers& element_shape) const;
};

struct TensorListSetItem {
  static constexpr auto kName = "TensorListSetItem";
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kCheap = true;
  bool resize_if_index_out_of_bounds = false;
  using Sig = Signature<In<"input_handle", Variant>, In<"index", int32_t>,
                        In<"item", AnyType<"element_dtype">>, Out<"output_handle", Variant>>;
  static constexpr std::tuple kAttrs{
      Field{"resize_if_index_out_of_bounds", &TensorListSetItem::resize_if_index_out_of_bounds}};

  Result<Shape> InferShape(const Shape& input_handle, const Shape& index, const Shape& item) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_handle, int32_t index,
                    const Tensor& item) const;
};

struct TensorListResize {
  static constexpr auto kName = "TensorListResize";
  static constexpr bool kCheap = true;
  using Sig =
      Signature<In<"input_handle", Variant>, In<"size", int32_t>, Out<"output_handle", Variant>>;

  Result<Shape> InferShape(const Shape& input_handle, const Shape& size) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_handle, int32_t size) const;
};

// The lists of a, each with the elements of the list of b after it.
struct TensorListConcatLists {
  static constexpr auto kName = "TensorListConcatLists";
  static constexpr bool kNoGradient = true;  // TensorFlow has none
  DType element_dtype = DType::kInvalid;
  using Sig = Signature<In<"input_a", Variant>, In<"input_b", Variant>, Out<"output", Variant>>;
  static constexpr std::tuple kAttrs{
      Field{"element_dtype", &TensorListConcatLists::element_dtype}.Required()};

  Result<Shape> InferShape(const Shape& input_a, const Shape& input_b) const {
    return MergeShapes(input_a, input_b);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& input_a, const Tensor& input_b) const;
};

}  // namespace penstock::ops
