#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Products, traces, transposes and sums of one or two tensors, written as an equation of
// subscripts.

namespace penstock::ops {

struct Einsum {
  static constexpr auto kName = "Einsum";
  static constexpr double kCost = 30;
  std::string equation;
  using Sig = Signature<In<"inputs", List<"N", AnyType<"T">>>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"equation", &Einsum::equation}.Required()};

  Status CheckAttrs() const;
  Result<Shape> InferShape(std::span<const Known> inputs) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> inputs, Tensor& output) const;
};

}  // namespace penstock::ops
