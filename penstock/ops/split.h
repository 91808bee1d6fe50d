#pragma once

#include <span>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// One tensor taken apart along an axis.

namespace penstock::ops {

// Equal parts.
struct Split {
  static constexpr auto kName = "Split";
  int64_t num_split = 1;
  using Sig = Signature<In<"split_dim", int32_t>, In<"value", AnyType<"T">>,
                        Out<"output", List<"num_split", AnyType<"T">>>>;
  static constexpr std::tuple kAttrs{Field{"num_split", &Split::num_split}.Required()};

  Result<std::vector<Shape>> InferShape(const Integers& split_dim, const Shape& value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Integers& split_dim, const Tensor& value,
                    std::span<Tensor> output) const;
};

// Parts of given extents, of which one may be -1: what is left.
struct SplitV {
  static constexpr auto kName = "SplitV";
  int64_t num_split = 1;
  using Sig = Signature<In<"value", AnyType<"T">>,
                        In<"size_splits", TypeVarOr<"Tlen", int64_t, int8_t, int32_t, int64_t>>,
                        In<"split_dim", int32_t>, Out<"output", List<"num_split", AnyType<"T">>>>;
  static constexpr std::tuple kAttrs{Field{"num_split", &SplitV::num_split}.Required()};

  Result<std::vector<Shape>> InferShape(const Shape& value, const Integers& size_splits,
                                        const Integers& split_dim) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& value, const Tensor& size_splits,
                    const Integers& split_dim, std::span<Tensor> output) const;
};

// Parts of extent 1, without the axis.
struct Unpack {
  static constexpr auto kName = "Unpack";
  int64_t num = 0;
  int64_t axis = 0;
  using Sig = Signature<In<"value", AnyType<"T">>, Out<"output", List<"num", AnyType<"T">, 0>>>;
  static constexpr std::tuple kAttrs{Field{"num", &Unpack::num}.Required(),
                                     Field{"axis", &Unpack::axis}};

  Result<std::vector<Shape>> InferShape(const Shape& value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& value, std::span<Tensor> output) const;
};

}  // namespace penstock::ops
