#pragma once

#include <string_view>

namespace penstock::ops {

// A symmetric function that weighs pixels by their distance from a place.
struct SamplingKernel {
  std::string_view name;
  float radius;  // no weight beyond
  float (*weight)(float distance, float radius);
};

// "lanczos1", "lanczos3", "lanczos5", "gaussian", "box", "triangle", "keyscubic" or
// "mitchellcubic"; null for any other name.
const SamplingKernel* FindSamplingKernel(std::string_view name);

}  // namespace penstock::ops
