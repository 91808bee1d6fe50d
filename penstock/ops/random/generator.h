#pragma once

#include <vector>

#include "penstock/ops/random/fill.h"

// Random numbers from a generator that lives in a variable: int64 elements that are the counter's
// lower and upper half and the key. What is taken from it is passed over at once, so that steps
// never draw the same.

namespace penstock::ops {

// Takes what `delta` numbers need from the generator behind `handle`. `state`, where not null,
// receives what the variable held before.
Result<kernels::Philox> TakeFromGenerator(CpuContext& context, const Tensor& handle,
                                          int64_t algorithm, uint64_t delta, Tensor* state);

template <FixedString Name, class Default>
using AnyTypeOr = TypeVarOr<Name, Default>;

template <FixedString Name, Distribution D, class Default>
struct GeneratorFill {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 5;
  using Sig = Signature<In<"resource", ResourceHandle>, In<"algorithm", int64_t>,
                        In<"shape", AnyTypeOr<"shape_dtype", int64_t>>,
                        Out<"output", AnyTypeOr<"dtype", Default>>>;

  Result<Shape> InferShape(const Shape& resource, const Shape& algorithm,
                           const Integers& shape) const {
    TRY(CheckScalar(resource, "resource"));
    TRY(CheckScalar(algorithm, "algorithm"));
    return DrawnShape(shape);
  }
  Status ComputeCpu(CpuContext& context, const Tensor& resource, const Tensor& algorithm,
                    const Tensor&, Tensor& output) const {
    TRY_ASSIGN(const kernels::Philox stream,
               TakeFromGenerator(context, resource, algorithm.scalar<int64_t>(),
                                 static_cast<uint64_t>(output.num_elements()), nullptr));
    return FillFrom(context, D, stream, output);
  }
  // The types that the distribution has are narrower than what the signature says.
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

using StatefulUniform = GeneratorFill<"StatefulUniform", Distribution::kUniform, float>;
using StatefulStandardNormalV2 =
    GeneratorFill<"StatefulStandardNormalV2", Distribution::kNormal, float>;
using StatefulTruncatedNormal =
    GeneratorFill<"StatefulTruncatedNormal", Distribution::kTruncatedNormal, float>;
using StatefulUniformFullInt =
    GeneratorFill<"StatefulUniformFullInt", Distribution::kBits, uint64_t>;

struct StatefulUniformInt {
  static constexpr auto kName = "StatefulUniformInt";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 10;
  using Number = AnyTypeOr<"dtype", int64_t>;
  using Sig = Signature<In<"resource", ResourceHandle>, In<"algorithm", int64_t>,
                        In<"shape", AnyTypeOr<"shape_dtype", int64_t>>, In<"minval", Number>,
                        In<"maxval", Number>, Out<"output", Number>>;

  Result<Shape> InferShape(const Shape& resource, const Shape& algorithm, const Integers& shape,
                           const Shape& minval, const Shape& maxval) const;
  Status ComputeCpu(CpuContext& context, const Tensor& resource, const Tensor& algorithm,
                    const Tensor& shape, const Tensor& minval, const Tensor& maxval,
                    Tensor& output) const;
};

struct RngReadAndSkip {
  static constexpr auto kName = "RngReadAndSkip";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"resource", ResourceHandle>, In<"alg", int32_t>, In<"delta", uint64_t>,
                        Out<"value", int64_t>>;

  Result<Shape> InferShape(const Shape& resource, const Shape& alg, const Shape& delta) const;
  Status ComputeCpu(CpuContext& context, const Tensor& resource, const Tensor& alg,
                    const Tensor& delta) const;
};

struct RngSkip {
  static constexpr auto kName = "RngSkip";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig =
      Signature<In<"resource", ResourceHandle>, In<"algorithm", int64_t>, In<"delta", int64_t>>;

  Result<std::vector<Shape>> InferShape(const Shape& resource, const Shape& algorithm,
                                        const Shape& delta) const;
  Status ComputeCpu(CpuContext& context, const Tensor& resource, const Tensor& algorithm,
                    const Tensor& delta) const;
};

}  // namespace penstock::ops
