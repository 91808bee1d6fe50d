#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "penstock/core/resource.h"
#include "penstock/ops/op_kernel.h"

// Values that may be missing: what the branch not taken leaves for the gradient of an If.

namespace penstock::ops {

struct OptionalNone {
  static constexpr auto kName = "OptionalNone";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<Out<"optional", Variant>>;

  Result<Shape> InferShape() const { return Shape(); }
  Status ComputeCpu(CpuContext& context) const;
};

struct OptionalFromValue {
  static constexpr auto kName = "OptionalFromValue";
  static constexpr bool kCheap = true;
  static constexpr bool kKeepsInputs = true;
  using Sig = Signature<In<"components", TypeList<"Toutput_types">>, Out<"optional", Variant>>;

  Result<Shape> InferShape(std::span<const Known>) const { return Shape(); }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, std::span<Tensor* const> components) const;
};

struct OptionalHasValue {
  static constexpr auto kName = "OptionalHasValue";
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"optional", Variant>, Out<"has_value", bool>>;

  Result<Shape> InferShape(const Shape& optional) const {
    TRY(CheckScalar(optional, "optional"));
    return Shape();
  }
  Status ComputeCpu(CpuContext& context, const Tensor& optional) const;
};

struct OptionalGetValue {
  static constexpr auto kName = "OptionalGetValue";
  static constexpr bool kCheap = true;
  std::vector<DType> output_types;
  std::vector<Shape> output_shapes;
  using Sig = Signature<In<"optional", Variant>, Out<"components", TypeList<"output_types">>>;
  static constexpr std::tuple kAttrs{
      Field{"output_types", &OptionalGetValue::output_types}.Required(),
      Field{"output_shapes", &OptionalGetValue::output_shapes}.Required().Min(1)};

  Status CheckAttrs() const {
    if (output_shapes.size() == output_types.size()) return OkStatus();
    return InvalidArgument("output_types and output_shapes must be of one length, got {} and {}",
                           output_types.size(), output_shapes.size());
  }
  Result<std::vector<Shape>> InferShape(const Shape& optional) const {
    TRY(CheckScalar(optional, "optional"));
    return output_shapes;
  }
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& optional) const;
};

}  // namespace penstock::ops
