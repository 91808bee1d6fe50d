#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/random/stream.h"
#include "penstock/ops/type_sets.h"

// Tensors of a given shape filled with random numbers: uniform, normal, truncated normal, integers
// of a range and of all bits. Each is there three times: drawn from the node's own stream, from a
// seed, and from a key and counter. (Those that draw from a generator in a variable: generator.h.)

namespace penstock::ops {

enum class Distribution { kUniform, kNormal, kTruncatedNormal, kBits };

// REQUIRES: `out` is of a floating type, or an integer of 32 or 64 bits for kBits.
Status FillFrom(CpuContext& context, Distribution distribution, const kernels::Philox& stream,
                Tensor& out);
// Integers in [low, high), which are scalars of out's dtype.
Status CheckRange(const Tensor& low, const Tensor& high);
Status FillBetween(CpuContext& context, const Tensor& low, const Tensor& high,
                   const kernels::Philox& stream, Tensor& out);

template <FixedString Name>
using RandomFloatType = TypeVar<Name, half, bfloat16, float, double>;
template <FixedString Name>
using RandomFloatTypeOr32 = TypeVarOr<Name, float, half, bfloat16, float, double>;
template <FixedString Name>
using RandomIntegerType = TypeVar<Name, int32_t, int64_t, uint32_t, uint64_t>;
template <FixedString Name>
using RandomIntegerTypeOrU64 = TypeVarOr<Name, uint64_t, int32_t, int64_t, uint32_t, uint64_t>;
template <FixedString Name>
using SeedType = TypeVarOr<Name, int64_t, int32_t, int64_t>;

// ---- from the node's stream ----

template <FixedString Name, Distribution D>
struct RandomFill {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 5;
  int64_t seed = 0;
  int64_t seed2 = 0;
  using Sig = Signature<In<"shape", IndexType<"T">>, Out<"output", RandomFloatType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"seed", &RandomFill::seed},
                                     Field{"seed2", &RandomFill::seed2}};

  Result<Shape> InferShape(const Integers& shape) const { return DrawnShape(shape); }
  Status Draw(CpuContext& context, NodeStream& node) const {
    Tensor& out = context.output(0);
    if (out.num_elements() == 0) return OkStatus();
    TRY_ASSIGN(const kernels::Philox stream, node.ReserveNumbers(context, out.num_elements()));
    return FillFrom(context, D, stream, out);
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeDrawingKernel<RandomFill>(request);
  }
};

using RandomUniform = RandomFill<"RandomUniform", Distribution::kUniform>;
using RandomStandardNormal = RandomFill<"RandomStandardNormal", Distribution::kNormal>;
using TruncatedNormal = RandomFill<"TruncatedNormal", Distribution::kTruncatedNormal>;

struct RandomUniformInt {
  static constexpr auto kName = "RandomUniformInt";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 10;
  int64_t seed = 0;
  int64_t seed2 = 0;
  using Sig = Signature<In<"shape", IndexType<"T">>, In<"minval", IndexType<"Tout">>,
                        In<"maxval", IndexType<"Tout">>, Out<"output", IndexType<"Tout">>>;
  static constexpr std::tuple kAttrs{Field{"seed", &RandomUniformInt::seed},
                                     Field{"seed2", &RandomUniformInt::seed2}};

  Result<Shape> InferShape(const Integers& shape, const Shape& minval, const Shape& maxval) const;
  Status Draw(CpuContext& context, NodeStream& node) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeDrawingKernel<RandomUniformInt>(request);
  }
};

// ---- from a seed ----

template <FixedString Name, Distribution D, class DrawnType, class Seed>
struct StatelessFill {
  static constexpr const char* kName = Name.text;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 5;
  using Sig =
      Signature<In<"shape", IndexTypeOr32<"T">>, In<"seed", Seed>, Out<"output", DrawnType>>;

  Result<Shape> InferShape(const Integers& shape, const Shape& seed) const {
    TRY(CheckSeed(seed));
    return DrawnShape(shape);
  }
  Status ComputeCpu(CpuContext& context, const Tensor&, const Tensor& seed, Tensor& output) const {
    return FillFrom(context, D, StreamOfSeed(seed), output);
  }
};

template <FixedString Name, Distribution D>
using StatelessFloats = StatelessFill<Name, D, RandomFloatTypeOr32<"dtype">, SeedType<"Tseed">>;
using StatelessRandomUniform = StatelessFloats<"StatelessRandomUniform", Distribution::kUniform>;
using StatelessRandomNormal = StatelessFloats<"StatelessRandomNormal", Distribution::kNormal>;
using StatelessTruncatedNormal =
    StatelessFloats<"StatelessTruncatedNormal", Distribution::kTruncatedNormal>;
using StatelessRandomUniformFullInt =
    StatelessFill<"StatelessRandomUniformFullInt", Distribution::kBits,
                  RandomIntegerTypeOrU64<"dtype">,
                  TypeVarOr<"Tseed", int64_t, int32_t, int64_t, uint32_t, uint64_t>>;

struct StatelessRandomUniformInt {
  static constexpr auto kName = "StatelessRandomUniformInt";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 10;
  using Sig = Signature<In<"shape", IndexType<"T">>, In<"seed", SeedType<"Tseed">>,
                        In<"minval", IndexType<"dtype">>, In<"maxval", IndexType<"dtype">>,
                        Out<"output", IndexType<"dtype">>>;

  Result<Shape> InferShape(const Integers& shape, const Shape& seed, const Shape& minval,
                           const Shape& maxval) const;
  Status ComputeCpu(CpuContext& context, const Tensor& shape, const Tensor& seed,
                    const Tensor& minval, const Tensor& maxval, Tensor& output) const;
};

// ---- from a key and counter ----

template <FixedString Name, Distribution D, class DrawnType>
struct KeyedFill {
  static constexpr const char* kName = Name.text;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 5;
  using Sig = Signature<In<"shape", IndexTypeOr32<"Tshape">>, In<"key", uint64_t>,
                        In<"counter", uint64_t>, In<"alg", int32_t>, Out<"output", DrawnType>>;

  Result<Shape> InferShape(const Integers& shape, const Shape& key, const Shape& counter,
                           const Shape& alg) const {
    TRY(CheckKey(key, counter, alg));
    return DrawnShape(shape);
  }
  Status ComputeCpu(CpuContext& context, const Tensor&, const Tensor& key, const Tensor& counter,
                    const Tensor& alg, Tensor& output) const {
    TRY_ASSIGN(const kernels::Philox stream, StreamOfKey(key, counter, alg));
    return FillFrom(context, D, stream, output);
  }
};

template <FixedString Name, Distribution D>
using KeyedFloats = KeyedFill<Name, D, RandomFloatTypeOr32<"dtype">>;
using StatelessRandomUniformV2 = KeyedFloats<"StatelessRandomUniformV2", Distribution::kUniform>;
using StatelessRandomNormalV2 = KeyedFloats<"StatelessRandomNormalV2", Distribution::kNormal>;
using StatelessTruncatedNormalV2 =
    KeyedFloats<"StatelessTruncatedNormalV2", Distribution::kTruncatedNormal>;
using StatelessRandomUniformFullIntV2 =
    KeyedFill<"StatelessRandomUniformFullIntV2", Distribution::kBits,
              RandomIntegerTypeOrU64<"dtype">>;

struct StatelessRandomUniformIntV2 {
  static constexpr auto kName = "StatelessRandomUniformIntV2";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 10;
  using Number = RandomIntegerType<"dtype">;
  using Sig = Signature<In<"shape", IndexTypeOr32<"Tshape">>, In<"key", uint64_t>,
                        In<"counter", uint64_t>, In<"alg", int32_t>, In<"minval", Number>,
                        In<"maxval", Number>, Out<"output", Number>>;

  Result<Shape> InferShape(const Integers& shape, const Shape& key, const Shape& counter,
                           const Shape& alg, const Shape& minval, const Shape& maxval) const;
  Status ComputeCpu(CpuContext& context, const Tensor& shape, const Tensor& key,
                    const Tensor& counter, const Tensor& alg, const Tensor& minval,
                    const Tensor& maxval, Tensor& output) const;
};

// ---- the key and counter of a seed ----

struct StatelessRandomGetKeyCounter {
  static constexpr auto kName = "StatelessRandomGetKeyCounter";
  static constexpr bool kNoGradient = true;
  using Sig =
      Signature<In<"seed", SeedType<"Tseed">>, Out<"key", uint64_t>, Out<"counter", uint64_t>>;

  Result<std::array<Shape, 2>> InferShape(const Shape& seed) const;
  Status ComputeCpu(CpuContext& context, const Tensor& seed, Tensor& key, Tensor& counter) const;
};

struct StatelessRandomGetKeyCounterAlg {
  static constexpr auto kName = "StatelessRandomGetKeyCounterAlg";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"seed", SeedType<"Tseed">>, Out<"key", uint64_t>,
                        Out<"counter", uint64_t>, Out<"alg", int32_t>>;

  Result<std::array<Shape, 3>> InferShape(const Shape& seed) const;
  Status ComputeCpu(CpuContext& context, const Tensor& seed, Tensor& key, Tensor& counter,
                    Tensor& alg) const;
};

// Stateful because the answer is the device's.
struct StatelessRandomGetAlg {
  static constexpr auto kName = "StatelessRandomGetAlg";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<Out<"alg", int32_t>>;

  Result<Shape> InferShape() const { return Shape(); }
  Status ComputeCpu(CpuContext& context, Tensor& alg) const;
};

}  // namespace penstock::ops
