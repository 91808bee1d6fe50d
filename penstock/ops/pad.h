#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// A border around a tensor: row i of `paddings` says how many elements go before and after it along
// axis i.

namespace penstock::ops {

struct Pad {
  static constexpr auto kName = "Pad";
  using Sig = Signature<In<"input", AnyType<"T">>, In<"paddings", IndexTypeOr32<"Tpaddings">>,
                        Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input, const Integers& paddings) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& paddings,
                    Tensor& output) const;
};

struct PadV2 {
  static constexpr auto kName = "PadV2";
  using Sig = Signature<In<"input", AnyType<"T">>, In<"paddings", IndexTypeOr32<"Tpaddings">>,
                        In<"constant_values", AnyType<"T">>, Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& input, const Integers& paddings,
                           const Shape& constant_values) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& paddings,
                    const Tensor& constant_values, Tensor& output) const;
};

// The border mirrors the tensor: SYMMETRIC repeats the element at the edge, REFLECT does not.
struct MirrorPad {
  static constexpr auto kName = "MirrorPad";
  std::string mode = "REFLECT";
  using Sig = Pad::Sig;
  static constexpr std::tuple kAttrs{
      Field{"mode", &MirrorPad::mode}.Required().OneOf("REFLECT|SYMMETRIC")};

  Result<Shape> InferShape(const Shape& input, const Integers& paddings) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& paddings,
                    Tensor& output) const;
};

// Adds the border to the elements that it mirrors.
struct MirrorPadGrad {
  static constexpr auto kName = "MirrorPadGrad";
  static constexpr double kCost = 2;
  std::string mode = "REFLECT";
  using Sig = Pad::Sig;
  using CpuTypes = Types<float, double, half, bfloat16, int8_t, int16_t, int32_t, int64_t, uint8_t,
                         uint16_t, uint32_t, uint64_t, complex64, complex128>;
  static constexpr std::tuple kAttrs{
      Field{"mode", &MirrorPadGrad::mode}.Required().OneOf("REFLECT|SYMMETRIC")};

  Result<Shape> InferShape(const Shape& input, const Integers& paddings) const;
  void Gradient(Gradients& g) const;
  template <class T>
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& paddings,
                    Tensor& output) const;
};

}  // namespace penstock::ops
