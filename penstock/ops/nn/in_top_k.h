#pragma once

#include <cstdint>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Whether each row's target is among its k largest predictions. All that tie with the k-th are
// among them; rows with a prediction that is not finite, and targets that are no class, never.

namespace penstock::ops {

struct InTopK {
  static constexpr auto kName = "InTopK";
  static constexpr bool kNoGradient = true;
  int64_t k = 0;
  using Target = IndexTypeOr32<"T">;
  using Sig = Signature<In<"predictions", float>, In<"targets", Target>, Out<"precision", bool>>;
  static constexpr std::tuple kAttrs{Field{"k", &InTopK::k}.Required()};

  Result<Shape> InferShape(const Shape& predictions, const Shape& targets) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& predictions, std::span<const T> targets,
                    std::span<bool> precision) const;
};

struct InTopKV2 {
  static constexpr auto kName = "InTopKV2";
  static constexpr bool kNoGradient = true;
  using Target = IndexTypeOr32<"T">;
  using Sig = Signature<In<"predictions", float>, In<"targets", Target>, In<"k", Target>,
                        Out<"precision", bool>>;

  Result<Shape> InferShape(const Shape& predictions, const Shape& targets, const Shape& k) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& predictions, std::span<const T> targets, T k,
                    std::span<bool> precision) const;
};

}  // namespace penstock::ops
