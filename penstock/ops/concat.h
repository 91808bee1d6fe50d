#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Several tensors side by side along an axis.

namespace penstock::ops {

struct ConcatV2 {
  static constexpr auto kName = "ConcatV2";
  using Sig = Signature<In<"values", List<"N", AnyType<"T">, 2>>, In<"axis", IndexTypeOr32<"Tidx">>,
                        Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(std::span<const Known> values, const Integers& axis) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> values, const Integers& axis,
                    Tensor& output) const;
};

struct Concat {
  static constexpr auto kName = "Concat";
  using Sig = Signature<In<"concat_dim", int32_t>, In<"values", List<"N", AnyType<"T">, 2>>,
                        Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Integers& concat_dim, std::span<const Known> values) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Integers& concat_dim,
                    std::span<Tensor* const> values, Tensor& output) const;
};

// Where each of the tensors with these shapes begins in their concatenation.
struct ConcatOffset {
  static constexpr auto kName = "ConcatOffset";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Index = IndexTypeOr32<"shape_type">;
  using Sig = Signature<In<"concat_dim", int32_t>, In<"shape", List<"N", Index, 2>>,
                        Out<"offset", List<"N", Index, 2>>>;

  Result<std::vector<Shape>> InferShape(const Shape& concat_dim,
                                        std::span<const Known> shape) const;
  Status ComputeCpu(CpuContext& context, const Integers& concat_dim, std::span<Tensor* const> shape,
                    std::span<Tensor> offset) const;
};

// Tensors of one shape along a new axis.
struct Pack {
  static constexpr auto kName = "Pack";
  int64_t axis = 0;
  using Sig = Signature<In<"values", List<"N", AnyType<"T">>>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"axis", &Pack::axis}};

  Result<Shape> InferShape(std::span<const Known> values) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> values, Tensor& output) const;
};

// Tensors of one row each, joined along the first axis to what `shape` says.
struct ParallelConcat {
  static constexpr auto kName = "ParallelConcat";
  static constexpr bool kNoGradient = true;
  Shape shape;
  using Sig = Signature<In<"values", List<"N", AnyType<"T">>>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"shape", &ParallelConcat::shape}.Required()};

  Result<Shape> InferShape(std::span<const Known> values) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> values, Tensor& output) const;
};

}  // namespace penstock::ops
