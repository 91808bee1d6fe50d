#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// What moves values without computing: constants, arguments, identities.

namespace penstock::ops {

struct Const {
  static constexpr auto kName = "Const";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  Tensor value;
  DType dtype = DType::kInvalid;
  using Sig = Signature<Out<"output", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"value", &Const::value}.Required(),
                                     Field{"dtype", &Const::dtype}};

  Status CheckAttrs() const {
    if (value.dtype() == dtype) return OkStatus();
    return InvalidArgument("a constant's value must be {}, got {}", dtype, value.dtype());
  }
  Result<Shape> InferShape() const { return value.shape(); }
  Status ComputeCpu(CpuContext& context) const {
    context.SetOutput(0, value);
    return OkStatus();
  }
};

struct Placeholder {
  static constexpr auto kName = "Placeholder";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();
  using Sig = Signature<Out<"output", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"dtype", &Placeholder::dtype},
                                     Field{"shape", &Placeholder::shape}};

  Result<Shape> InferShape() const { return shape; }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct PlaceholderV2 {
  static constexpr auto kName = "PlaceholderV2";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();
  using Sig = Signature<Out<"output", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"dtype", &PlaceholderV2::dtype},
                                     Field{"shape", &PlaceholderV2::shape}.Required()};

  Result<Shape> InferShape() const { return shape; }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

struct PlaceholderWithDefault {
  static constexpr auto kName = "PlaceholderWithDefault";
  static constexpr bool kCheap = true;
  static constexpr bool kAliases = true;
  Shape shape;
  using Sig = Signature<In<"input", AnyType<"dtype">>, Out<"output", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"shape", &PlaceholderWithDefault::shape}.Required()};

  Result<Shape> InferShape(const Shape& input) const {
    TRY(MergeShapes(input, shape));
    return shape;
  }
  void Gradient(Gradients& g) const { g.Set(0, g.dy()); }
  Status ComputeCpu(CpuContext& context, const Tensor& input) const {
    context.SetOutput(0, input);
    return OkStatus();
  }
};

struct Identity {
  static constexpr auto kName = "Identity";
  static constexpr bool kCheap = true;
  static constexpr bool kAliases = true;
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input) const { return input; }
  void Gradient(Gradients& g) const { g.Set(0, g.dy()); }
  Status ComputeCpu(CpuContext& context, const Tensor& input) const {
    context.SetOutput(0, input);
    return OkStatus();
  }
};

// Output i is input i.
struct IdentityN {
  static constexpr auto kName = "IdentityN";
  static constexpr bool kCheap = true;
  static constexpr bool kAliases = true;
  static constexpr bool kKeepsInputs = true;  // outputs past the first share their inputs too
  using Sig = Signature<In<"input", TypeList<"T">>, Out<"output", TypeList<"T">>>;

  Result<std::vector<Shape>> InferShape(std::span<const Known> input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> input) const;
};

struct StopGradient {
  static constexpr auto kName = "StopGradient";
  static constexpr bool kCheap = true;
  static constexpr bool kAliases = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input) const {
    context.SetOutput(0, input);
    return OkStatus();
  }
};

// An identity whose derivative is an error: nobody may differentiate through it.
struct PreventGradient {
  static constexpr auto kName = "PreventGradient";
  static constexpr bool kCheap = true;
  static constexpr bool kAliases = true;
  std::string message;
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"message", &PreventGradient::message}};

  Result<Shape> InferShape(const Shape& input) const { return input; }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input) const {
    context.SetOutput(0, input);
    return OkStatus();
  }
};

// Fails unless the input has the shape that `shape` describes.
struct EnsureShape {
  static constexpr auto kName = "EnsureShape";
  static constexpr bool kCheap = true;
  static constexpr bool kAliases = true;
  Shape shape;
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"shape", &EnsureShape::shape}.Required()};

  Result<Shape> InferShape(const Shape& input) const { return MergeShapes(input, shape); }
  void Gradient(Gradients& g) const { g.Set(0, g.dy()); }
  Status ComputeCpu(CpuContext& context, const Tensor& input) const {
    context.SetOutput(0, input);
    return OkStatus();
  }
};

// The value as it is now, out of reach of later writes to a variable.
struct Snapshot {
  static constexpr auto kName = "Snapshot";
  static constexpr bool kAliases = true;
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input) const { return input; }
  void Gradient(Gradients& g) const { g.Set(0, g.dy()); }
  Status ComputeCpu(CpuContext& context, const Tensor& input) const;
};

struct DeepCopy {
  static constexpr auto kName = "DeepCopy";
  static constexpr bool kStateful = true;
  using Sig = Signature<In<"x", AnyType<"T">>, Out<"y", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& x) const { return x; }
  void Gradient(Gradients& g) const { g.Set(0, g.dy()); }
  Status ComputeCpu(CpuContext& context, const Tensor& x, Tensor& y) const;
};

struct GuaranteeConst {
  static constexpr auto kName = "GuaranteeConst";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kAliases = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input) const { return input; }
  Status ComputeCpu(CpuContext& context, const Tensor& input) const {
    context.SetOutput(0, input);
    return OkStatus();
  }
};

// A tensor of that shape. Zeros, whether `init` asks for them or not: no step sees another's data.
struct Empty {
  static constexpr auto kName = "Empty";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  DType dtype = DType::kInvalid;
  bool init = false;
  using Sig = Signature<In<"shape", int32_t>, Out<"output", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"dtype", &Empty::dtype}, Field{"init", &Empty::init}};

  Result<Shape> InferShape(const Integers& shape) const;
  Status ComputeCpu(CpuContext& context, const Tensor& shape, Tensor& output) const;
};

struct NoOp {
  static constexpr auto kName = "NoOp";
  static constexpr bool kCheap = true;
  static constexpr bool kNoOp = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<>;
  Status ComputeCpu(CpuContext&) const { return OkStatus(); }
};

// Runs even when what it waits for is dead: the executor knows it.
struct ControlTrigger {
  static constexpr auto kName = "ControlTrigger";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<>;
  Status ComputeCpu(CpuContext&) const { return OkStatus(); }
};

// The arguments and results of a compiled graph or function, by index.
struct Arg {
  static constexpr auto kName = "_Arg";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType T = DType::kInvalid;
  int64_t index = 0;
  using Sig = Signature<Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"T", &Arg::T},
                                     Field{"index", &Arg::index}.Required().Min(0)};
};
struct Retval {
  static constexpr auto kName = "_Retval";
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  int64_t index = 0;
  using Sig = Signature<In<"input", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"index", &Retval::index}.Required().Min(0)};
};

}  // namespace penstock::ops
