#include "penstock/ops/image/sampling_kernel.h"

#include <cmath>

namespace penstock::ops {
namespace {

float Lanczos(float x, float radius) {
  constexpr float kPi = 3.14159265359f;
  if (x > radius) return 0;
  if (x <= 1e-3f) return 1;  // sin(x) / x near zero
  return radius * std::sin(kPi * x) * std::sin(kPi * x / radius) / (kPi * kPi * x * x);
}

float Gaussian(float x, float radius) {
  if (x >= radius) return 0;
  const float sigma = radius / 3;
  return static_cast<float>(std::exp(-x * x / (2.0 * sigma * sigma)));
}

float Box(float x, float) { return x < 0.5f ? 1.0f : x == 0.5f ? 0.5f : 0.0f; }
float Triangle(float x, float) { return x < 1 ? 1 - x : 0; }

float KeysCubic(float x, float) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5f * x + 2.5f) * x - 4) * x + 2;
  return (1.5f * x - 2.5f) * x * x + 1;
}

float MitchellCubic(float x, float) {
  if (x >= 2) return 0;
  if (x >= 1) return (((-7.0f / 18) * x + 2) * x - 10.0f / 3) * x + 16.0f / 9;
  return ((7.0f / 6) * x - 2) * x * x + 8.0f / 9;
}

constexpr SamplingKernel kKernels[] = {{"lanczos1", 1, &Lanczos},
                                       {"lanczos3", 3, &Lanczos},
                                       {"lanczos5", 5, &Lanczos},
                                       {"gaussian", 1.5f, &Gaussian},
                                       {"box", 1, &Box},
                                       {"triangle", 1, &Triangle},
                                       {"keyscubic", 2, &KeysCubic},
                                       {"mitchellcubic", 2, &MitchellCubic}};

}  // namespace

const SamplingKernel* FindSamplingKernel(std::string_view name) {
  for (const SamplingKernel& kernel : kKernels)
    if (kernel.name == name) return &kernel;
  return nullptr;
}

}  // namespace penstock::ops
