#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// A vector added to every position of an array with channels, and its derivative. The channels are
// the last axis (NHWC) or axis 1 (NCHW), whatever the rank.

namespace penstock::ops {

struct BiasAdd {
  static constexpr auto kName = "BiasAdd";
  static constexpr bool kInPlace = true;
  std::string data_format = "NHWC";
  using Sig = Signature<In<"value", NumberType<"T">>, In<"bias", NumberType<"T">>,
                        Out<"output", NumberType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"data_format", &BiasAdd::data_format}.OneOf("NHWC|NCHW")};

  Result<Shape> InferShape(const Shape& value, const Shape& bias) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& value, const Tensor& bias,
                    Tensor& output) const;
};

// The same with the channels last.
struct BiasAddV1 {
  static constexpr auto kName = "BiasAddV1";
  static constexpr bool kInPlace = true;
  using Sig = BiasAdd::Sig;

  Result<Shape> InferShape(const Shape& value, const Shape& bias) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& value, const Tensor& bias,
                    Tensor& output) const;
};

struct BiasAddGrad {
  static constexpr auto kName = "BiasAddGrad";
  std::string data_format = "NHWC";
  using Sig = Signature<In<"out_backprop", NumberType<"T">>, Out<"output", NumberType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"data_format", &BiasAddGrad::data_format}.OneOf("NHWC|NCHW")};

  Result<Shape> InferShape(const Shape& out_backprop) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& out_backprop, Tensor& output) const;
};

}  // namespace penstock::ops
