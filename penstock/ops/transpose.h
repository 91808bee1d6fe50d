#pragma once

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Axes in another order, axes read backwards.

namespace penstock::ops {

// Axis i of the output is axis perm[i] of the input.
struct Transpose {
  static constexpr auto kName = "Transpose";
  using Sig =
      Signature<In<"x", AnyType<"T">>, In<"perm", IndexTypeOr32<"Tperm">>, Out<"y", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& x, const Integers& perm) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Integers& perm, Tensor& y) const;
};

struct ConjugateTranspose {
  static constexpr auto kName = "ConjugateTranspose";
  using Sig = Transpose::Sig;

  Result<Shape> InferShape(const Shape& x, const Integers& perm) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Integers& perm, Tensor& y) const;
};

// y[x[i]] = i.
struct InvertPermutation {
  static constexpr auto kName = "InvertPermutation";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"x", IndexTypeOr32<"T">>, Out<"y", IndexTypeOr32<"T">>>;

  Result<Shape> InferShape(const Shape& x) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, std::span<const T> x, std::span<T> y) const;
};

// Reads the axes that `axis` lists backwards.
struct ReverseV2 {
  static constexpr auto kName = "ReverseV2";
  using Element =
      TypeVar<"T", uint8_t, int8_t, uint16_t, int16_t, int32_t, uint32_t, int64_t, uint64_t, bool,
              bfloat16, half, float, double, complex64, complex128, std::string>;
  using Sig =
      Signature<In<"tensor", Element>, In<"axis", IndexTypeOr32<"Tidx">>, Out<"output", Element>>;

  Result<Shape> InferShape(const Shape& tensor, const Integers& axis) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& tensor, const Integers& axis,
                    Tensor& output) const;
};

// Reads the axes for which `dims` is true backwards.
struct Reverse {
  static constexpr auto kName = "Reverse";
  using Element =
      TypeVar<"T", uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, bool,
              bfloat16, half, float, double, complex64, complex128, std::string>;
  using Sig = Signature<In<"tensor", Element>, In<"dims", bool>, Out<"output", Element>>;

  Result<Shape> InferShape(const Shape& tensor, const Shape& dims) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& tensor, std::span<const bool> dims,
                    Tensor& output) const;
};

// For each index b of `batch_dim`, reads the first seq_lengths[b] elements of `seq_dim` backwards.
struct ReverseSequence {
  static constexpr auto kName = "ReverseSequence";
  int64_t seq_dim = 0;
  int64_t batch_dim = 0;
  using Sig = Signature<In<"input", AnyType<"T">>,
                        In<"seq_lengths", TypeVarOr<"Tlen", int64_t, int32_t, int64_t>>,
                        Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"seq_dim", &ReverseSequence::seq_dim}.Required(),
                                     Field{"batch_dim", &ReverseSequence::batch_dim}};

  Result<Shape> InferShape(const Shape& input, const Shape& seq_lengths) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& seq_lengths,
                    Tensor& output) const;
};

}  // namespace penstock::ops
