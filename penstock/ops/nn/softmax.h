#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Softmax along the last axis, and the losses of classifiers: the cross entropy of
// softmax(features) with labels. The losses also give their derivative by the features, which their
// gradients use.

namespace penstock::ops {

template <FixedString Name>
using SoftmaxType = TypeVar<Name, half, bfloat16, float, double>;

struct Softmax {
  static constexpr auto kName = "Softmax";
  static constexpr double kCost = 4;
  static constexpr bool kInPlace = true;
  using Sig = Signature<In<"logits", SoftmaxType<"T">>, Out<"softmax", SoftmaxType<"T">>>;

  Result<Shape> InferShape(const Shape& logits) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& logits, Tensor& softmax) const;
};

struct LogSoftmax {
  static constexpr auto kName = "LogSoftmax";
  static constexpr double kCost = 4;
  static constexpr bool kInPlace = true;
  using Sig = Signature<In<"logits", SoftmaxType<"T">>, Out<"logsoftmax", SoftmaxType<"T">>>;

  Result<Shape> InferShape(const Shape& logits) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& logits, Tensor& logsoftmax) const;
};

// Labels are distributions. Features and labels of [1, classes] serve every row of the other.
struct SoftmaxCrossEntropyWithLogits {
  static constexpr auto kName = "SoftmaxCrossEntropyWithLogits";
  static constexpr double kCost = 8;
  using Num = SoftmaxType<"T">;
  using Sig =
      Signature<In<"features", Num>, In<"labels", Num>, Out<"loss", Num>, Out<"backprop", Num>>;

  Result<std::array<Shape, 2>> InferShape(const Shape& features, const Shape& labels) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& features, const Tensor& labels, Tensor& loss,
                    Tensor& backprop) const;
};

// Labels are the numbers of classes.
struct SparseSoftmaxCrossEntropyWithLogits {
  static constexpr auto kName = "SparseSoftmaxCrossEntropyWithLogits";
  static constexpr double kCost = 8;
  using Num = SoftmaxType<"T">;
  using Label = TypeVarOr<"Tlabels", int64_t, int32_t, int64_t>;
  using Sig =
      Signature<In<"features", Num>, In<"labels", Label>, Out<"loss", Num>, Out<"backprop", Num>>;

  Result<std::array<Shape, 2>> InferShape(const Shape& features, const Shape& labels) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& features, const Tensor& labels, Tensor& loss,
                    Tensor& backprop) const;
};

}  // namespace penstock::ops
