#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "penstock/ops/fused.h"

namespace penstock::ops {

// A product whose columns are split into equal groups, and the element-wise program that reads
// them: the gates of a recurrent cell. All of it is done for a few columns of each group at a time,
// so that the product is never stored, and the threads meet once. Made by the compiler.
//
// The program is as in _Fused; its first num_groups inputs are the groups of a * b + bias, then
// come `rest`. Outputs have the shape of a group.
struct GatedMatMul {
  static constexpr auto kName = "_GatedMatMul";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 120;

  int64_t num_groups = 0;
  std::vector<DType> Trest;
  std::vector<DType> Tout;
  std::vector<std::string> ops;
  std::vector<int64_t> args;
  std::vector<DType> types;
  std::vector<int64_t> results;
  // Set by CheckAttrs, before anybody else sees the struct.
  mutable Fused program = {};

  using Num = TypeVar<"T", float>;
  using Sig = Signature<In<"a", Num>, In<"b", Num>, In<"bias", List<"num_bias", Num, 0>>,
                        In<"rest", TypeList<"Trest", 0>>, Out<"outputs", TypeList<"Tout">>>;
  static constexpr std::tuple kAttrs{
      Field{"num_groups", &GatedMatMul::num_groups}.Required().Min(1),
      Field{"Trest", &GatedMatMul::Trest}.Required(),
      Field{"Tout", &GatedMatMul::Tout}.Required(),
      Field{"ops", &GatedMatMul::ops}.Required(),
      Field{"args", &GatedMatMul::args}.Required(),
      Field{"types", &GatedMatMul::types}.Required(),
      Field{"results", &GatedMatMul::results}.Required()};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& a, const Shape& b, std::span<const Known> bias,
                           std::span<const Known> rest) const;
  Status ComputeCpu(CpuContext& context, const Tensor& a, const Tensor& b,
                    std::span<Tensor* const> bias, std::span<Tensor* const> rest,
                    std::span<Tensor> outputs) const;
};

}  // namespace penstock::ops
