#pragma once

#include <array>
#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Arrays of tensors that belong to a step. The flow, a float that means nothing, orders the nodes
// of one array and carries its gradients.

namespace penstock::ops {

struct TensorArrayV3 {
  static constexpr auto kName = "TensorArrayV3";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType dtype = DType::kInvalid;
  Shape element_shape = Shape::Unknown();
  bool dynamic_size = false;
  bool clear_after_read = true;
  bool identical_element_shapes = false;
  std::string tensor_array_name;
  using Sig = Signature<In<"size", int32_t>, Out<"handle", ResourceHandle>, Out<"flow", float>>;
  static constexpr std::tuple kAttrs{
      Field{"dtype", &TensorArrayV3::dtype}.Required(),
      Field{"element_shape", &TensorArrayV3::element_shape},
      Field{"dynamic_size", &TensorArrayV3::dynamic_size},
      Field{"clear_after_read", &TensorArrayV3::clear_after_read},
      Field{"identical_element_shapes", &TensorArrayV3::identical_element_shapes},
      Field{"tensor_array_name", &TensorArrayV3::tensor_array_name}};

  Result<Shape> InferShape(const Shape& size) const {
    TRY(CheckScalar(size, "size"));
    return Shape();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// The array that gathers the gradients of another.
struct TensorArrayGradV3 {
  static constexpr auto kName = "TensorArrayGradV3";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  std::string source;
  using Sig = Signature<In<"handle", ResourceHandle>, In<"flow_in", float>,
                        Out<"grad_handle", ResourceHandle>, Out<"flow_out", float>>;
  static constexpr std::tuple kAttrs{Field{"source", &TensorArrayGradV3::source}.Required()};

  Result<std::array<Shape, 2>> InferShape(const Shape& handle, const Shape& flow_in) const;
  Status ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& flow_in) const;
};

struct TensorArrayGradWithShape {
  static constexpr auto kName = "TensorArrayGradWithShape";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  std::string source;
  using Sig =
      Signature<In<"handle", ResourceHandle>, In<"flow_in", float>, In<"shape_to_prepend", int32_t>,
                Out<"grad_handle", ResourceHandle>, Out<"flow_out", float>>;
  static constexpr std::tuple kAttrs{Field{"source", &TensorArrayGradWithShape::source}.Required()};

  Result<std::array<Shape, 2>> InferShape(const Shape& handle, const Shape& flow_in,
                                          const Integers& shape_to_prepend) const;
  Status ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& flow_in,
                    const Integers& shape_to_prepend) const;
};

struct TensorArrayWriteV3 {
  static constexpr auto kName = "TensorArrayWriteV3";
  static constexpr bool kStateful = true;
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kCheap = true;
  using Sig = Signature<In<"handle", ResourceHandle>, In<"index", int32_t>,
                        In<"value", AnyType<"T">>, In<"flow_in", float>, Out<"flow_out", float>>;

  Result<Shape> InferShape(const Shape& handle, const Shape& index, const Shape& value,
                           const Shape& flow_in) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& handle, int32_t index, const Tensor& value,
                    const Tensor& flow_in) const;
};

struct TensorArrayReadV3 {
  static constexpr auto kName = "TensorArrayReadV3";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  DType dtype = DType::kInvalid;
  using Sig = Signature<In<"handle", ResourceHandle>, In<"index", int32_t>, In<"flow_in", float>,
                        Out<"value", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"dtype", &TensorArrayReadV3::dtype}};

  Result<Shape> InferShape(const Shape& handle, const Shape& index, const Shape& flow_in) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& handle, int32_t index,
                    const Tensor& flow_in) const;
};

// The elements at `indices`, stacked.
struct TensorArrayGatherV3 {
  static constexpr auto kName = "TensorArrayGatherV3";
  static constexpr bool kStateful = true;
  DType dtype = DType::kInvalid;
  Shape element_shape = Shape::Unknown();
  using Sig = Signature<In<"handle", ResourceHandle>, In<"indices", int32_t>, In<"flow_in", float>,
                        Out<"value", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"dtype", &TensorArrayGatherV3::dtype},
                                     Field{"element_shape", &TensorArrayGatherV3::element_shape}};

  Result<Shape> InferShape(const Shape& handle, const Shape& indices, const Shape& flow_in) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& indices,
                    const Tensor& flow_in) const;
};

// Writes the rows of `value` to `indices`.
struct TensorArrayScatterV3 {
  static constexpr auto kName = "TensorArrayScatterV3";
  static constexpr bool kStateful = true;
  static constexpr bool kKeepsInputs = true;
  using Sig = Signature<In<"handle", ResourceHandle>, In<"indices", int32_t>,
                        In<"value", AnyType<"T">>, In<"flow_in", float>, Out<"flow_out", float>>;

  Result<Shape> InferShape(const Shape& handle, const Shape& indices, const Shape& value,
                           const Shape& flow_in) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& indices,
                    const Tensor& value, const Tensor& flow_in) const;
};

// All elements one after the other along axis 0, and how long each is there.
struct TensorArrayConcatV3 {
  static constexpr auto kName = "TensorArrayConcatV3";
  static constexpr bool kStateful = true;
  DType dtype = DType::kInvalid;
  Shape element_shape_except0 = Shape::Unknown();
  using Sig = Signature<In<"handle", ResourceHandle>, In<"flow_in", float>,
                        Out<"value", AnyType<"dtype">>, Out<"lengths", int64_t>>;
  static constexpr std::tuple kAttrs{
      Field{"dtype", &TensorArrayConcatV3::dtype},
      Field{"element_shape_except0", &TensorArrayConcatV3::element_shape_except0}};

  Result<std::array<Shape, 2>> InferShape(const Shape& handle, const Shape& flow_in) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& flow_in) const;
};

// Cuts `value` along axis 0 into pieces of these lengths and writes them from index 0 on.
struct TensorArraySplitV3 {
  static constexpr auto kName = "TensorArraySplitV3";
  static constexpr bool kStateful = true;
  static constexpr bool kKeepsInputs = true;
  using Sig = Signature<In<"handle", ResourceHandle>, In<"value", AnyType<"T">>,
                        In<"lengths", int64_t>, In<"flow_in", float>, Out<"flow_out", float>>;

  Result<Shape> InferShape(const Shape& handle, const Shape& value, const Shape& lengths,
                           const Shape& flow_in) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& value,
                    const Tensor& lengths, const Tensor& flow_in) const;
};

struct TensorArraySizeV3 {
  static constexpr auto kName = "TensorArraySizeV3";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"handle", ResourceHandle>, In<"flow_in", float>, Out<"size", int32_t>>;

  Result<Shape> InferShape(const Shape&, const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& flow_in,
                    std::span<int32_t> size) const;
};

struct TensorArrayCloseV3 {
  static constexpr auto kName = "TensorArrayCloseV3";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"handle", ResourceHandle>>;

  Status ComputeCpu(CpuContext& context, const Tensor& handle) const;
};

}  // namespace penstock::ops
