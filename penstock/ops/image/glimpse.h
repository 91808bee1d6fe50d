#pragma once

#include <string>
#include <tuple>

#include "penstock/ops/op_kernel.h"

// A window of one size from each image, at an offset of its own; what lies outside of the image is
// noise. The two forms differ in what an offset means: see GlimpsePlace.

namespace penstock::ops {

template <int kVersion>
struct ExtractGlimpseForm {
  static constexpr auto kName = kVersion == 1 ? "ExtractGlimpse" : "ExtractGlimpseV2";
  static constexpr bool kNoGradient = true;
  bool centered = true;
  bool normalized = true;
  bool uniform_noise = true;
  std::string noise = "uniform";
  using Sig = Signature<In<"input", float>, In<"size", int32_t>, In<"offsets", float>,
                        Out<"glimpse", float>>;
  static constexpr std::tuple kAttrs{Field{"centered", &ExtractGlimpseForm::centered},
                                     Field{"normalized", &ExtractGlimpseForm::normalized},
                                     Field{"uniform_noise", &ExtractGlimpseForm::uniform_noise},
                                     Field{"noise", &ExtractGlimpseForm::noise}};

  Status CheckAttrs() const;
  Result<Shape> InferShape(const Shape& input, const Integers& size, const Shape& offsets) const;
  Status ComputeCpu(CpuContext& context, const Tensor& input, const Tensor& size,
                    const Tensor& offsets, Tensor& glimpse) const;
};
using ExtractGlimpse = ExtractGlimpseForm<1>;
using ExtractGlimpseV2 = ExtractGlimpseForm<2>;

}  // namespace penstock::ops
