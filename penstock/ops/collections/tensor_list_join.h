#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Lists of tensors made from one tensor, and one tensor made from a list.

namespace penstock::ops {

// Element i is row i of `tensor`; they share its memory.
struct TensorListFromTensor {
  static constexpr auto kName = "TensorListFromTensor";
  static constexpr bool kKeepsInputs = true;
  using Sig =
      Signature<In<"tensor", AnyType<"element_dtype">>,
                In<"element_shape", IndexType<"shape_type">>, Out<"output_handle", Variant>>;

  Result<Shape> InferShape(const Shape& tensor, const Integers& element_shape) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& tensor, const Integers& element_shape) const;
};

struct TensorListStack {
  static constexpr auto kName = "TensorListStack";
  DType element_dtype = DType::kInvalid;
  int64_t num_elements = -1;
  using Sig = Signature<In<"input_handle", Variant>, In<"element_shape", int32_t>,
                        Out<"tensor", AnyType<"element_dtype">>>;
  static constexpr std::tuple kAttrs{Field{"element_dtype", &TensorListStack::element_dtype},
                                     Field{"num_elements", &TensorListStack::num_elements}};

  Result<Shape> InferShape(const Shape& input_handle, const Integers& element_shape) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_handle,
                    const Integers& element_shape) const;
};

struct TensorListGather {
  static constexpr auto kName = "TensorListGather";
  DType element_dtype = DType::kInvalid;
  using Sig = Signature<In<"input_handle", Variant>, In<"indices", int32_t>,
                        In<"element_shape", int32_t>, Out<"values", AnyType<"element_dtype">>>;
  static constexpr std::tuple kAttrs{Field{"element_dtype", &TensorListGather::element_dtype}};

  Result<Shape> InferShape(const Shape& input_handle, const Shape& indices,
                           const Integers& element_shape) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_handle, const Tensor& indices,
                    const Integers& element_shape) const;
};

// Row i of `tensor` becomes element indices[i]; the list is as long as these need.
struct TensorListScatter {
  static constexpr auto kName = "TensorListScatter";
  static constexpr bool kKeepsInputs = true;
  using Sig =
      Signature<In<"tensor", AnyType<"element_dtype">>, In<"indices", int32_t>,
                In<"element_shape", IndexType<"shape_type">>, Out<"output_handle", Variant>>;

  Result<Shape> InferShape(const Shape& tensor, const Shape& indices,
                           const Integers& element_shape) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& tensor, const Tensor& indices,
                    const Integers& element_shape) const;
};

// The same with a length; -1: as long as needed.
struct TensorListScatterV2 {
  static constexpr auto kName = "TensorListScatterV2";
  static constexpr bool kKeepsInputs = true;
  using Sig = Signature<In<"tensor", AnyType<"element_dtype">>, In<"indices", int32_t>,
                        In<"element_shape", IndexType<"shape_type">>, In<"num_elements", int32_t>,
                        Out<"output_handle", Variant>>;

  Result<Shape> InferShape(const Shape& tensor, const Shape& indices, const Integers& element_shape,
                           const Shape& num_elements) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& tensor, const Tensor& indices,
                    const Integers& element_shape, int32_t num_elements) const;
};

// The list with these elements replaced; it grows as needed.
struct TensorListScatterIntoExistingList {
  static constexpr auto kName = "TensorListScatterIntoExistingList";
  static constexpr bool kKeepsInputs = true;
  using Sig = Signature<In<"input_handle", Variant>, In<"tensor", AnyType<"element_dtype">>,
                        In<"indices", int32_t>, Out<"output_handle", Variant>>;

  Result<Shape> InferShape(const Shape& input_handle, const Shape& tensor,
                           const Shape& indices) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_handle, const Tensor& tensor,
                    const Tensor& indices) const;
};

}  // namespace penstock::ops
