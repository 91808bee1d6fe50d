#pragma once

#include <array>
#include <span>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// The same elements under another shape, and questions about a shape. None of these touches data.

namespace penstock::ops {

struct Reshape {
  static constexpr auto kName = "Reshape";
  static constexpr bool kCheap = true;
  static constexpr bool kAliases = true;
  using Sig = Signature<In<"tensor", AnyType<"T">>, In<"shape", IndexTypeOr32<"Tshape">>,
                        Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& tensor, const Integers& shape) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& tensor, const Tensor& shape) const;
};

// Leaves out axes of extent 1: those of `squeeze_dims`, or all.
struct Squeeze {
  static constexpr auto kName = "Squeeze";
  static constexpr bool kCheap = true;
  static constexpr bool kAliases = true;
  std::vector<int64_t> squeeze_dims;
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"squeeze_dims", &Squeeze::squeeze_dims}.Min(0)};

  Result<Shape> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input) const;
};

// Inserts an axis of extent 1 before axis `dim`.
struct ExpandDims {
  static constexpr auto kName = "ExpandDims";
  static constexpr bool kCheap = true;
  static constexpr bool kAliases = true;
  using Sig = Signature<In<"input", AnyType<"T">>, In<"dim", IndexTypeOr32<"Tdim">>,
                        Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input, const Integers& dim) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& dim) const;
};

struct ShapeOp {
  static constexpr auto kName = "Shape";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType out_type = DType::kInt32;
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"output", IndexTypeOr32<"out_type">>>;
  static constexpr std::tuple kAttrs{Field{"out_type", &ShapeOp::out_type}};

  Result<Shape> InferShape(const Shape& input) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

struct ShapeN {
  static constexpr auto kName = "ShapeN";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType out_type = DType::kInt32;
  using Sig = Signature<In<"input", List<"N", AnyType<"T">>>,
                        Out<"output", List<"N", IndexTypeOr32<"out_type">>>>;
  static constexpr std::tuple kAttrs{Field{"out_type", &ShapeN::out_type}};

  Result<std::vector<Shape>> InferShape(std::span<const Known> input) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> input,
                    std::span<Tensor> output) const;
};

struct Size {
  static constexpr auto kName = "Size";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType out_type = DType::kInt32;
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"output", IndexTypeOr32<"out_type">>>;
  static constexpr std::tuple kAttrs{Field{"out_type", &Size::out_type}};

  Result<Shape> InferShape(const Shape& input) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

struct Rank {
  static constexpr auto kName = "Rank";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"input", AnyType<"T">>, Out<"output", int32_t>>;

  Result<Shape> InferShape(const Shape& input) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

}  // namespace penstock::ops
