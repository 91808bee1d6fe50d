#pragma once

#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// What moves values without computing: constants, arguments, identities.

namespace penstock {

struct Const {
  static constexpr auto kName = "Const";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  Tensor value;
  DType dtype = DType::kInvalid;
  using Sig = Signature<Out<"output", AnyType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"value", &Const::value}.Required(), Field{"dtype", &Const::dtype}};

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
  static constexpr std::tuple kAttrs{Field{"dtype", &Placeholder::dtype}, Field{"shape", &Placeholder::shape}};

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

struct NoOp {
  static constexpr auto kName = "NoOp";
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
  static constexpr std::tuple kAttrs{Field{"T", &Arg::T}, Field{"index", &Arg::index}.Required().Min(0)};
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

}  // namespace penstock
