#pragma once

#include <tuple>

#include "penstock/ops/random/fill.h"

namespace penstock::ops {

// Normal numbers of given means and deviations, between given bounds. The parameters are numbers
// for all, or one for each element of the first axis.
struct ParameterizedTruncatedNormal {
  static constexpr auto kName = "ParameterizedTruncatedNormal";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 100;
  int64_t seed = 0;
  int64_t seed2 = 0;
  using Real = RandomFloatType<"dtype">;
  using Sig = Signature<In<"shape", IndexType<"T">>, In<"means", Real>, In<"stdevs", Real>,
                        In<"minvals", Real>, In<"maxvals", Real>, Out<"output", Real>>;
  static constexpr std::tuple kAttrs{Field{"seed", &ParameterizedTruncatedNormal::seed},
                                     Field{"seed2", &ParameterizedTruncatedNormal::seed2}};

  Result<Shape> InferShape(const Integers& shape, const Shape& means, const Shape& stdevs,
                           const Shape& minvals, const Shape& maxvals) const;
  Status Draw(CpuContext& context, NodeStream& node) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeDrawingKernel<ParameterizedTruncatedNormal>(request);
  }
};

}  // namespace penstock::ops
