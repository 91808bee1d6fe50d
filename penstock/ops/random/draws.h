#pragma once

#include <tuple>

#include "penstock/ops/random/fill.h"

// Random numbers whose distribution an input describes: classes by their log-probabilities, gamma
// and Poisson variates, and rows in a new order.

namespace penstock::ops {

// The rows of a tensor in random order. REQUIRES: `out` has the shape of `value`, which is no
// scalar.
Status ShuffleRows(CpuContext& context, const Tensor& value, kernels::PhiloxWords words,
                   Tensor& out);

struct RandomShuffle {
  static constexpr auto kName = "RandomShuffle";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  int64_t seed = 0;
  int64_t seed2 = 0;
  using Sig = Signature<In<"value", AnyType<"T">>, Out<"output", AnyType<"T">>>;
  static constexpr std::tuple kAttrs{Field{"seed", &RandomShuffle::seed},
                                     Field{"seed2", &RandomShuffle::seed2}};

  Result<Shape> InferShape(const Shape& value) const { return value; }
  Status Draw(CpuContext& context, NodeStream& node) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeDrawingKernel<RandomShuffle>(request);
  }
};

struct StatelessShuffle {
  static constexpr auto kName = "StatelessShuffle";
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"value", AnyType<"T">>, In<"key", uint64_t>, In<"counter", uint64_t>,
                        In<"alg", int32_t>, Out<"output", AnyType<"T">>>;

  Result<Shape> InferShape(const Shape& value, const Shape& key, const Shape& counter,
                           const Shape& alg) const;
  Status ComputeCpu(CpuContext& context, const Tensor& value, const Tensor& key,
                    const Tensor& counter, const Tensor& alg, Tensor& output) const;
};

// ---- classes ----

// output[b, i]: a class with probability proportional to exp(logits[b, class]). A logit that is not
// finite stands for a class that never comes.
Result<Shape> ClassesShape(const Shape& logits, const Integers& num_samples);
Status DrawClasses(CpuContext& context, const Tensor& logits, const kernels::Philox& stream,
                   Tensor& out);

struct Multinomial {
  static constexpr auto kName = "Multinomial";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  int64_t seed = 0;
  int64_t seed2 = 0;
  using Sig = Signature<In<"logits", RealNumberType<"T">>, In<"num_samples", int32_t>,
                        Out<"output", SeedType<"output_dtype">>>;
  static constexpr std::tuple kAttrs{Field{"seed", &Multinomial::seed},
                                     Field{"seed2", &Multinomial::seed2}};

  Result<Shape> InferShape(const Shape& logits, const Integers& num_samples) const {
    return ClassesShape(logits, num_samples);
  }
  Status Draw(CpuContext& context, NodeStream& node) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeDrawingKernel<Multinomial>(request);
  }
};

struct StatelessMultinomial {
  static constexpr auto kName = "StatelessMultinomial";
  static constexpr bool kNoGradient = true;
  static constexpr auto kDispatch = "logits";
  using Sig = Signature<In<"logits", RealNumberType<"T">>, In<"num_samples", int32_t>,
                        In<"seed", SeedType<"Tseed">>, Out<"output", SeedType<"output_dtype">>>;

  Result<Shape> InferShape(const Shape& logits, const Integers& num_samples,
                           const Shape& seed) const;
  Status ComputeCpu(CpuContext& context, const Tensor& logits, const Tensor& num_samples,
                    const Tensor& seed, Tensor& output) const;
};

// ---- gamma and Poisson ----

// Numbers of the shape `shape` for each element of a parameter: shape + parameter.shape.
Result<Shape> PerParameterShape(const Integers& shape, const Shape& parameter);
// The shape of all together, of which the last axes are the parameter's.
Result<Shape> BroadcastParameterShape(const Integers& shape, const Shape& parameter);

// `num_samples` numbers for each element of `alpha` or `rate`: out[i, j] is the i-th for element j.
// Number i of element j begins kBlocksPerNumber * (j * num_samples + i) blocks into the stream.
Status DrawGamma(CpuContext& context, const Tensor& alpha, const kernels::Philox& stream,
                 Tensor& out);
Status DrawPoisson(CpuContext& context, const Tensor& rate, const kernels::Philox& stream,
                   Tensor& out);
inline constexpr uint64_t kBlocksPerNumber = 256;

struct RandomGamma {
  static constexpr auto kName = "RandomGamma";
  static constexpr bool kStateful = true;
  static constexpr double kCost = 200;
  int64_t seed = 0;
  int64_t seed2 = 0;
  using Real = TypeVar<"T", half, float, double>;
  using Sig = Signature<In<"shape", IndexType<"S">>, In<"alpha", Real>, Out<"output", Real>>;
  static constexpr std::tuple kAttrs{Field{"seed", &RandomGamma::seed},
                                     Field{"seed2", &RandomGamma::seed2}};

  Result<Shape> InferShape(const Integers& shape, const Shape& alpha) const {
    return PerParameterShape(shape, alpha);
  }
  // By how the sample moves with alpha while its place in the distribution stays, which is not what
  // the same random bits would give: they may be refused where they were accepted.
  void Gradient(Gradients& g) const;
  Status Draw(CpuContext& context, NodeStream& node) const;
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeDrawingKernel<RandomGamma>(request);
  }
};

template <FixedString Name, class Rate, class Number>
struct RandomPoissonOp {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 200;
  int64_t seed = 0;
  int64_t seed2 = 0;
  using Sig = Signature<In<"shape", IndexType<"S">>, In<"rate", Rate>, Out<"output", Number>>;
  static constexpr std::tuple kAttrs{Field{"seed", &RandomPoissonOp::seed},
                                     Field{"seed2", &RandomPoissonOp::seed2}};

  Result<Shape> InferShape(const Integers& shape, const Shape& rate) const {
    return PerParameterShape(shape, rate);
  }
  Status Draw(CpuContext& context, NodeStream& node) const {
    Tensor& out = context.output(0);
    if (out.num_elements() == 0) return OkStatus();
    TRY_ASSIGN(const kernels::Philox stream, node.ReserveNumbers(context, out.num_elements()));
    return DrawPoisson(context, context.input(1), stream, out);
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeDrawingKernel<RandomPoissonOp>(request);
  }
};

template <FixedString Name, class Default>
using PoissonType = TypeVarOr<Name, Default, half, float, double, int32_t, int64_t>;
using RandomPoisson = RandomPoissonOp<"RandomPoisson", TypeVar<"dtype", half, float, double>,
                                      TypeVar<"dtype", half, float, double>>;
using RandomPoissonV2 =
    RandomPoissonOp<"RandomPoissonV2", PoissonType<"R", double>, PoissonType<"dtype", int64_t>>;

struct StatelessRandomGammaV2 {
  static constexpr auto kName = "StatelessRandomGammaV2";
  static constexpr double kCost = 200;
  using Real = TypeVar<"dtype", half, float, double>;
  using Sig = Signature<In<"shape", IndexType<"T">>, In<"seed", SeedType<"Tseed">>,
                        In<"alpha", Real>, Out<"output", Real>>;

  Result<Shape> InferShape(const Integers& shape, const Shape& seed, const Shape& alpha) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& shape, const Tensor& seed,
                    const Tensor& alpha, Tensor& output) const;
};

struct StatelessRandomGammaV3 {
  static constexpr auto kName = "StatelessRandomGammaV3";
  static constexpr double kCost = 200;
  using Real = TypeVar<"dtype", half, float, double>;
  using Sig = Signature<In<"shape", IndexTypeOr32<"shape_dtype">>, In<"key", uint64_t>,
                        In<"counter", uint64_t>, In<"alg", int32_t>, In<"alpha", Real>,
                        Out<"output", Real>>;

  Result<Shape> InferShape(const Integers& shape, const Shape& key, const Shape& counter,
                           const Shape& alg, const Shape& alpha) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& shape, const Tensor& key,
                    const Tensor& counter, const Tensor& alg, const Tensor& alpha,
                    Tensor& output) const;
};

struct StatelessRandomPoisson {
  static constexpr auto kName = "StatelessRandomPoisson";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 200;
  using Rate = TypeVar<"Rtype", half, float, double, int32_t, int64_t>;
  using Number = TypeVar<"dtype", half, float, double, int32_t, int64_t>;
  using Sig = Signature<In<"shape", IndexType<"T">>, In<"seed", SeedType<"Tseed">>, In<"lam", Rate>,
                        Out<"output", Number>>;

  Result<Shape> InferShape(const Integers& shape, const Shape& seed, const Shape& lam) const;
  Status ComputeCpu(CpuContext& context, const Tensor& shape, const Tensor& seed, const Tensor& lam,
                    Tensor& output) const;
};

}  // namespace penstock::ops
