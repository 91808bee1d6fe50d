#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/nn/pool_window.h"
#include "penstock/ops/type_sets.h"

// Pooling over windows along two or three axes.

namespace penstock::ops {

// What the ops over two (NHWC) and three axes (NDHWC) differ in.
template <int spatial>
struct PoolForm;
template <>
struct PoolForm<2> {
  static constexpr auto kChannelsLast = "NHWC";
  static constexpr auto kDataFormats = "NHWC|NCHW";
};
template <>
struct PoolForm<3> {
  static constexpr auto kChannelsLast = "NDHWC";
  static constexpr auto kDataFormats = "NDHWC|NCDHW";
};
template <FixedString Name>
using MaxPoolType = TypeVarOr<Name, float, half, bfloat16, float, double, int32_t, int64_t, uint8_t,
                              int16_t, int8_t, uint16_t, qint8>;

struct MaxPool {
  static constexpr auto kName = "MaxPool";
  static constexpr double kCost = 8;
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding;
  std::vector<int64_t> explicit_paddings = {};
  std::string data_format = "NHWC";
  using Sig = Signature<In<"input", MaxPoolType<"T">>, Out<"output", MaxPoolType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"ksize", &MaxPool::ksize}.Required().Min(4),
      Field{"strides", &MaxPool::strides}.Required().Min(4),
      Field{"padding", &MaxPool::padding}.Required().OneOf("SAME|VALID|EXPLICIT"),
      Field{"explicit_paddings", &MaxPool::explicit_paddings},
      Field{"data_format", &MaxPool::data_format}.OneOf("NHWC|NCHW|NCHW_VECT_C")};

  PoolWindow window() const { return {2, ksize, strides, padding, explicit_paddings, data_format}; }
  Result<Shape> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

// The same with the windows as inputs.
struct MaxPoolV2 {
  static constexpr auto kName = "MaxPoolV2";
  static constexpr double kCost = 8;
  std::string padding;
  std::string data_format = "NHWC";
  using Sig = Signature<In<"input", MaxPoolType<"T">>, In<"ksize", int32_t>, In<"strides", int32_t>,
                        Out<"output", MaxPoolType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"padding", &MaxPoolV2::padding}.Required().OneOf("SAME|VALID"),
      Field{"data_format", &MaxPoolV2::data_format}.OneOf("NHWC|NCHW|NCHW_VECT_C")};

  Result<Shape> InferShape(const Shape& input, const Integers& ksize,
                           const Integers& strides) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Integers& ksize,
                    const Integers& strides, Tensor& output) const;
};

struct MaxPool3D {
  static constexpr auto kName = "MaxPool3D";
  static constexpr double kCost = 20;
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding;
  std::string data_format = "NDHWC";
  using Num = TypeVar<"T", half, bfloat16, float>;
  using Sig = Signature<In<"input", Num>, Out<"output", Num>>;
  static constexpr std::tuple kAttrs{
      Field{"ksize", &MaxPool3D::ksize}.Required().Min(5),
      Field{"strides", &MaxPool3D::strides}.Required().Min(5),
      Field{"padding", &MaxPool3D::padding}.Required().OneOf("SAME|VALID"),
      Field{"data_format", &MaxPool3D::data_format}.OneOf("NDHWC|NCDHW")};

  PoolWindow window() const { return {3, ksize, strides, padding, {}, data_format}; }
  Result<Shape> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const;
};

// The mean of what each window covers, padding left out.
template <FixedString Name, FixedString Input, int spatial>
struct MeanPool {
  static constexpr auto kName = Name.view();
  static constexpr double kCost = 8;
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding;
  std::string data_format = PoolForm<spatial>::kChannelsLast;
  using Num = FloatType<"T">;
  using Sig = Signature<In<Input, Num>, Out<"output", Num>>;
  static constexpr std::tuple kAttrs{
      Field{"ksize", &MeanPool::ksize}.Required().Min(spatial + 2),
      Field{"strides", &MeanPool::strides}.Required().Min(spatial + 2),
      Field{"padding", &MeanPool::padding}.Required().OneOf("SAME|VALID"),
      Field{"data_format", &MeanPool::data_format}.OneOf(PoolForm<spatial>::kDataFormats)};

  PoolWindow window() const { return {spatial, ksize, strides, padding, {}, data_format}; }
  Result<Shape> InferShape(const Shape& value) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& value, Tensor& output) const;
};
using AvgPool = MeanPool<"AvgPool", "value", 2>;
using AvgPool3D = MeanPool<"AvgPool3D", "input", 3>;

}  // namespace penstock::ops
