#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Variables by resource: a handle names the variable, and nodes read and write it explicitly.

namespace penstock::ops {

struct VarHandleOp {
  static constexpr auto kName = "VarHandleOp";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  // TensorFlow's shared_name of a variable that nobody else can find.
  static constexpr std::string_view kAnonymous = "cd2c89b7-88b7-44c8-ad83-06c2a9158347";
  std::string container;
  std::string shared_name;
  std::string debug_name;
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();
  std::vector<std::string> allowed_devices;
  using Sig = Signature<Out<"resource", ResourceHandle>>;
  static constexpr std::tuple kAttrs{Field{"container", &VarHandleOp::container},
                                     Field{"shared_name", &VarHandleOp::shared_name},
                                     Field{"debug_name", &VarHandleOp::debug_name},
                                     Field{"dtype", &VarHandleOp::dtype}.Required(),
                                     Field{"shape", &VarHandleOp::shape}.Required(),
                                     Field{"allowed_devices", &VarHandleOp::allowed_devices}};

  Result<Shape> InferShape() const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct ReadVariableOp {
  static constexpr auto kName = "ReadVariableOp";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  DType dtype = DType::kInvalid;
  using Sig = Signature<In<"resource", ResourceHandle>, Out<"value", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"dtype", &ReadVariableOp::dtype}};

  // A shape known in part is left unknown: what the handle points at is checked when it is read,
  // and only against shapes that are settled.
  Result<Shape> InferShape(const Handle& resource) const {
    return resource.value_shape.IsFullyKnown() ? resource.value_shape : Shape::Unknown();
  }
  void Gradient(Gradients& g) const { g.Set(0, g.dy()); }
  Status ComputeCpu(CpuContext& context, const Tensor& resource) const;
};

struct AssignVariableOp {
  static constexpr auto kName = "AssignVariableOp";
  static constexpr bool kStateful = true;
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  bool validate_shape = false;
  using Sig = Signature<In<"resource", ResourceHandle>, In<"value", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"validate_shape", &AssignVariableOp::validate_shape}};

  Status ComputeCpu(CpuContext& context, const Tensor& resource, const Tensor& value) const;
};

struct AssignAddVariableOp {
  static constexpr auto kName = "AssignAddVariableOp";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"resource", ResourceHandle>, In<"value", AnyType<"dtype">>>;

  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct AssignSubVariableOp {
  static constexpr auto kName = "AssignSubVariableOp";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"resource", ResourceHandle>, In<"value", AnyType<"dtype">>>;

  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct VarIsInitializedOp {
  static constexpr auto kName = "VarIsInitializedOp";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"resource", ResourceHandle>, Out<"is_initialized", bool>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  Status ComputeCpu(CpuContext& context, const Tensor& resource, std::span<bool> out) const;
};

// Drops the state behind a handle, whatever its kind.
struct DestroyResourceOp {
  static constexpr auto kName = "DestroyResourceOp";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  bool ignore_lookup_error = true;
  using Sig = Signature<In<"resource", ResourceHandle>>;
  static constexpr std::tuple kAttrs{
      Field{"ignore_lookup_error", &DestroyResourceOp::ignore_lookup_error}};

  Status ComputeCpu(CpuContext& context, const Tensor& resource) const;
};

struct VariableShape {
  static constexpr auto kName = "VariableShape";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input", ResourceHandle>, Out<"output", IndexTypeOr32<"out_type">>>;

  Result<Shape> InferShape(const Handle& input) const {
    const bool known = input.value_shape.IsFullyKnown();
    return Shape{known ? input.value_shape.rank() : Shape::kUnknownDim};
  }
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& input) const;
};

}  // namespace penstock::ops
