#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Stacks of tensors that belong to a step: what a loop saves for its gradient. Those without V2
// carry their handle as a reference.

namespace penstock::ops {

struct StackV2 {
  static constexpr auto kName = "StackV2";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType elem_type = DType::kInvalid;
  std::string stack_name;
  using Sig = Signature<In<"max_size", int32_t>, Out<"handle", ResourceHandle>>;
  static constexpr std::tuple kAttrs{Field{"elem_type", &StackV2::elem_type}.Required(),
                                     Field{"stack_name", &StackV2::stack_name}};

  Result<Shape> InferShape(const Shape& max_size) const {
    TRY(CheckScalar(max_size, "Stack size"));
    return Shape();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct StackV1 {
  static constexpr auto kName = "Stack";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType elem_type = DType::kInvalid;
  std::string stack_name;
  using Sig = Signature<Out<"handle", Ref<std::string>>>;
  static constexpr std::tuple kAttrs{Field{"elem_type", &StackV1::elem_type}.Required(),
                                     Field{"stack_name", &StackV1::stack_name}};

  // TensorFlow's is a vector of two strings; ours is a handle.
  Result<Shape> InferShape() const { return Shape::Unknown(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Passes its value on. Whether it may be swapped to the host is of no account there.
struct StackPushV2 {
  static constexpr auto kName = "StackPushV2";
  static constexpr bool kStateful = true;
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  bool swap_memory = false;
  using Sig = Signature<In<"handle", ResourceHandle>, In<"elem", AnyType<"T">>,
                        Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"swap_memory", &StackPushV2::swap_memory}};

  Result<Shape> InferShape(const Shape&, const Shape& elem) const { return elem; }
  Status ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& elem) const;
};

struct StackPush {
  static constexpr auto kName = "StackPush";
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  bool swap_memory = false;
  using Sig = Signature<In<"handle", Ref<std::string>>, In<"elem", AnyType<"T">>,
                        Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"swap_memory", &StackPush::swap_memory}};

  Result<Shape> InferShape(const Shape&, const Shape& elem) const { return elem; }
  Status ComputeCpu(CpuContext& context, const Tensor& handle, const Tensor& elem) const;
};

struct StackPopV2 {
  static constexpr auto kName = "StackPopV2";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType elem_type = DType::kInvalid;
  using Sig = Signature<In<"handle", ResourceHandle>, Out<"elem", AnyType<"elem_type">>>;
  static constexpr std::tuple kAttrs{Field{"elem_type", &StackPopV2::elem_type}};

  Result<Shape> InferShape(const Shape&) const { return Shape::Unknown(); }
  Status ComputeCpu(CpuContext& context, const Tensor& handle) const;
};

struct StackPop {
  static constexpr auto kName = "StackPop";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType elem_type = DType::kInvalid;
  using Sig = Signature<In<"handle", Ref<std::string>>, Out<"elem", AnyType<"elem_type">>>;
  static constexpr std::tuple kAttrs{Field{"elem_type", &StackPop::elem_type}};

  Result<Shape> InferShape(const Shape&) const { return Shape::Unknown(); }
  Status ComputeCpu(CpuContext& context, const Tensor& handle) const;
};

struct StackCloseV2 {
  static constexpr auto kName = "StackCloseV2";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"handle", ResourceHandle>>;

  Status ComputeCpu(CpuContext& context, const Tensor& handle) const;
};

struct StackClose {
  static constexpr auto kName = "StackClose";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"handle", Ref<std::string>>>;

  Status ComputeCpu(CpuContext& context, const Tensor& handle) const;
};

}  // namespace penstock::ops
