#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Windows of images and of volumes laid into the channels: what convolution reads, as a tensor.

namespace penstock::ops {

struct ExtractImagePatches {
  static constexpr auto kName = "ExtractImagePatches";
  std::vector<int64_t> ksizes;
  std::vector<int64_t> strides;
  std::vector<int64_t> rates;
  std::string padding;
  using Number = TypeVar<"T", bfloat16, half, float, double, int8_t, int16_t, int32_t, int64_t,
                         uint8_t, uint16_t, uint32_t, uint64_t, complex64, complex128, bool>;
  using Sig = Signature<In<"images", Number>, Out<"patches", Number>>;
  static constexpr std::tuple kAttrs{
      Field{"ksizes", &ExtractImagePatches::ksizes}.Required().Min(4),
      Field{"strides", &ExtractImagePatches::strides}.Required().Min(4),
      Field{"rates", &ExtractImagePatches::rates}.Required().Min(4),
      Field{"padding", &ExtractImagePatches::padding}.Required().OneOf("SAME|VALID")};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& images) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& images, Tensor& patches) const;
};

struct ExtractVolumePatches {
  static constexpr auto kName = "ExtractVolumePatches";
  std::vector<int64_t> ksizes;
  std::vector<int64_t> strides;
  std::string padding;
  using Sig = Signature<In<"input", RealNumberType<"T">>, Out<"patches", RealNumberType<"T">>>;
  static constexpr std::tuple kAttrs{
      Field{"ksizes", &ExtractVolumePatches::ksizes}.Required().Min(5),
      Field{"strides", &ExtractVolumePatches::strides}.Required().Min(5),
      Field{"padding", &ExtractVolumePatches::padding}.Required().OneOf("SAME|VALID")};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& input) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, Tensor& patches) const;
};

}  // namespace penstock::ops
