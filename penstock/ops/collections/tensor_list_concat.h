#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Lists of tensors whose elements lie one after the other along axis 0 of one tensor.

namespace penstock::ops {

// The elements one after the other along axis 0, and how long each is there.
struct TensorListConcat {
  static constexpr auto kName = "TensorListConcat";
  DType element_dtype = DType::kInvalid;
  Shape element_shape = Shape::Unknown();
  using Sig = Signature<In<"input_handle", Variant>, Out<"tensor", AnyType<"element_dtype">>,
                        Out<"lengths", int64_t>>;
  static constexpr std::tuple kAttrs{Field{"element_dtype", &TensorListConcat::element_dtype},
                                     Field{"element_shape", &TensorListConcat::element_shape}};

  Result<std::array<Shape, 2>> InferShape(const Shape& input_handle) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_handle) const;
};

// The same; elements that were not set are as long as leading_dims says.
struct TensorListConcatV2 {
  static constexpr auto kName = "TensorListConcatV2";
  DType element_dtype = DType::kInvalid;
  using Sig = Signature<In<"input_handle", Variant>, In<"element_shape", IndexType<"shape_type">>,
                        In<"leading_dims", int64_t>, Out<"tensor", AnyType<"element_dtype">>,
                        Out<"lengths", int64_t>>;
  static constexpr std::tuple kAttrs{Field{"element_dtype", &TensorListConcatV2::element_dtype}};

  Result<std::array<Shape, 2>> InferShape(const Shape& input_handle, const Integers& element_shape,
                                          const Shape& leading_dims) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input_handle, const Integers& element_shape,
                    const Tensor& leading_dims) const;
};

// Cuts `tensor` along axis 0 into elements of these lengths.
struct TensorListSplit {
  static constexpr auto kName = "TensorListSplit";
  static constexpr bool kKeepsInputs = true;
  using Sig = Signature<In<"tensor", AnyType<"element_dtype">>,
                        In<"element_shape", IndexType<"shape_type">>, In<"lengths", int64_t>,
                        Out<"output_handle", Variant>>;

  Result<Shape> InferShape(const Shape& tensor, const Integers& element_shape,
                           const Shape& lengths) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& tensor, const Integers& element_shape,
                    const Tensor& lengths) const;
};

}  // namespace penstock::ops
