#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Variables by reference. A reference travels as a handle of its variable; a node that wants the
// value reads it when it runs.

namespace penstock::ops {

struct VariableV2 {
  static constexpr auto kName = "VariableV2";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  Shape shape = Shape::Unknown();
  DType dtype = DType::kInvalid;
  std::string container;
  std::string shared_name;
  using Sig = Signature<Out<"ref", Ref<AnyType<"dtype">>>>;
  static constexpr std::tuple kAttrs{
      Field{"shape", &VariableV2::shape}.Required(), Field{"dtype", &VariableV2::dtype},
      Field{"container", &VariableV2::container}, Field{"shared_name", &VariableV2::shared_name}};

  Result<Shape> InferShape() const { return shape; }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// The older one, which writes an unknown shape as that of a scalar.
struct VariableV1 {
  static constexpr auto kName = "Variable";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  Shape shape = Shape::Unknown();
  DType dtype = DType::kInvalid;
  std::string container;
  std::string shared_name;
  using Sig = Signature<Out<"ref", Ref<AnyType<"dtype">>>>;
  static constexpr std::tuple kAttrs{
      Field{"shape", &VariableV1::shape}.Required(), Field{"dtype", &VariableV1::dtype},
      Field{"container", &VariableV1::container}, Field{"shared_name", &VariableV1::shared_name}};

  Result<Shape> InferShape() const { return shape.IsScalar() ? Shape::Unknown() : shape; }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// A variable of one step, filled with zeros.
struct TemporaryVariable {
  static constexpr auto kName = "TemporaryVariable";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  Shape shape = Shape::Unknown();
  DType dtype = DType::kInvalid;
  std::string var_name;
  using Sig = Signature<Out<"ref", Ref<AnyType<"dtype">>>>;
  static constexpr std::tuple kAttrs{Field{"shape", &TemporaryVariable::shape}.Required(),
                                     Field{"dtype", &TemporaryVariable::dtype},
                                     Field{"var_name", &TemporaryVariable::var_name}};

  Result<Shape> InferShape() const { return shape; }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Ends a temporary variable; its last value is the output.
struct DestroyTemporaryVariable {
  static constexpr auto kName = "DestroyTemporaryVariable";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  std::string var_name;
  using Sig = Signature<In<"ref", Ref<AnyType<"T">>>, Out<"value", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"var_name", &DestroyTemporaryVariable::var_name}.Required()};

  Result<Shape> InferShape(const Shape& ref) const { return ref; }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Whether or not locking is asked for, a reader sees a value as a whole: writers take turns.
struct Assign {
  static constexpr auto kName = "Assign";
  static constexpr bool kAllowsUninitialized = true;
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  bool validate_shape = true;
  bool use_locking = true;
  using Sig = Signature<In<"ref", Ref<AnyType<"T">>>, In<"value", AnyType<"T">>,
                        Out<"output_ref", Ref<AnyType<"T">>>>;
  static constexpr std::tuple kAttrs{Field{"validate_shape", &Assign::validate_shape},
                                     Field{"use_locking", &Assign::use_locking}};

  Result<Shape> InferShape(const Shape& ref, const Shape& value) const {
    if (validate_shape) return MergeShapes(ref, value);
    return value;
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct AssignAdd {
  static constexpr auto kName = "AssignAdd";
  static constexpr bool kNoGradient = true;
  bool use_locking = false;
  using Sig = Signature<In<"ref", Ref<NumberType<"T">>>, In<"value", NumberType<"T">>,
                        Out<"output_ref", Ref<NumberType<"T">>>>;
  static constexpr std::tuple kAttrs{Field{"use_locking", &AssignAdd::use_locking}};

  Result<Shape> InferShape(const Shape& ref, const Shape& value) const {
    return MergeShapes(ref, value);
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct AssignSub {
  static constexpr auto kName = "AssignSub";
  static constexpr bool kNoGradient = true;
  bool use_locking = false;
  using Sig = Signature<In<"ref", Ref<NumberType<"T">>>, In<"value", NumberType<"T">>,
                        Out<"output_ref", Ref<NumberType<"T">>>>;
  static constexpr std::tuple kAttrs{Field{"use_locking", &AssignSub::use_locking}};

  Result<Shape> InferShape(const Shape& ref, const Shape& value) const {
    return MergeShapes(ref, value);
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct IsVariableInitialized {
  static constexpr auto kName = "IsVariableInitialized";
  static constexpr bool kAllowsUninitialized = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"ref", Ref<AnyType<"dtype">>>, Out<"is_initialized", bool>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Returns the variable's value and adds one to it, or fails with OutOfRange once it is `limit`.
struct CountUpTo {
  static constexpr auto kName = "CountUpTo";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  int64_t limit = 0;
  using Sig = Signature<In<"ref", Ref<IndexType<"T">>>, Out<"output", IndexType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"limit", &CountUpTo::limit}.Required()};

  Result<Shape> InferShape(const Shape& ref) const {
    TRY(CheckScalar(ref, "ref"));
    return Shape();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

}  // namespace penstock::ops
