#include "penstock/ops/random/draws.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "penstock/kernels/random.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/index_rows.h"
#include "penstock/ops/strided_copy.h"

namespace penstock::ops {
namespace {

using kernels::Philox;
using kernels::PhiloxWords;

// Uniform and normal doubles for one number: each kind takes a block of two when it has none left,
// and gives the second of them first.
class NumberSource {
 public:
  explicit NumberSource(const Philox& stream) : stream_(stream) {}

  double Uniform() {
    if (uniforms_left_ == 0) {
      const Philox::Block block = stream_.Next();
      uniforms_[0] = kernels::UnitDouble(block[0], block[1]);
      uniforms_[1] = kernels::UnitDouble(block[2], block[3]);
      uniforms_left_ = 2;
    }
    return uniforms_[--uniforms_left_];
  }
  double Normal() {
    if (normals_left_ == 0) {
      kernels::NormalPair(stream_.Next(), normals_);
      normals_left_ = 2;
    }
    return normals_[--normals_left_];
  }

 private:
  Philox stream_;
  double uniforms_[2] = {};
  double normals_[2] = {};
  int uniforms_left_ = 0;
  int normals_left_ = 0;
};

// Marsaglia and Tsang (2000): a cubed normal, accepted 95 times of 100 or more.
class GammaDistribution {
 public:
  explicit GammaDistribution(double alpha)
      : alpha_(alpha), d_(alpha + (alpha < 1 ? 2.0 / 3 : -1.0 / 3)), c_(1.0 / 3 / std::sqrt(d_)) {}

  double operator()(NumberSource source) const {
    if (alpha_ == 1) return -std::log1p(-source.Uniform());
    if (!(alpha_ > 0)) return std::numeric_limits<double>::quiet_NaN();
    while (true) {
      const double x = source.Normal();
      double v = 1 + c_ * x;
      if (v <= 0) continue;
      v = v * v * v;
      const double u = source.Uniform();
      const bool accept = u < 1 - 0.0331 * (x * x) * (x * x) ||
                          std::log(u) < 0.5 * x * x + d_ * (1 - v + std::log(v));
      // Infinite alphas are accepted at once or never.
      if (!accept && std::isfinite(d_)) continue;
      const double sample = d_ * v;
      return alpha_ < 1 ? sample * std::pow(source.Uniform(), 1 / alpha_) : sample;
    }
  }

 private:
  const double alpha_, d_, c_;
};

// Few events: multiplies uniforms until they fall below exp(-rate). Many: Hoermann's transformed
// rejection (1993), whose constants these are.
class PoissonDistribution {
 public:
  // Numbers above `highest` are drawn again.
  PoissonDistribution(double rate, double highest)
      : rate_(rate),
        highest_(highest),
        log_rate_(std::log(rate)),
        b_(0.931 + 2.53 * std::sqrt(rate)),
        a_(-0.059 + 0.02483 * b_),
        inverse_alpha_(1.1239 + 1.1328 / (b_ - 3.4)) {}

  double operator()(NumberSource source) const {
    if (rate_ < 10) return ByProducts(source);
    if (std::isinf(rate_)) return std::numeric_limits<double>::infinity();
    // Where no number that is likely can be held, the nearest that can.
    if (rate_ > highest_) return highest_;
    return std::isnan(rate_) ? rate_ : ByRejection(source);
  }

 private:
  double ByProducts(NumberSource& source) const {
    const double limit = std::exp(-rate_);
    double product = source.Uniform();
    double events = 0;
    for (; product > limit; ++events) product *= source.Uniform();
    return events;
  }
  double ByRejection(NumberSource& source) const {
    while (true) {
      const double u = source.Uniform() - 0.5;
      const double v = source.Uniform();
      const double margin = 0.5 - std::fabs(u);
      const double k = std::floor((2 * a_ / margin + b_) * u + rate_ + 0.43);
      if (k > highest_) continue;
      if (margin >= 0.07 && v <= 0.9277 - 3.6224 / (b_ - 2)) return k;
      if (k < 0 || (margin < 0.013 && v > margin)) continue;
      int sign = 0;
      const double s = std::log(v * inverse_alpha_ / (a_ / (margin * margin) + b_));
      const double t = -rate_ + k * log_rate_ - lgamma_r(k + 1, &sign);
      if (s <= t) return k;
    }
  }

  const double rate_, highest_, log_rate_, b_, a_, inverse_alpha_;
};

template <class T>
T FromDouble(double value) {
  if constexpr (std::is_integral_v<T>) {
    // Not a number, or infinitely many.
    if (!(value < static_cast<double>(std::numeric_limits<T>::max())))
      return std::isnan(value) ? 0 : std::numeric_limits<T>::max();
  }
  return static_cast<T>(value);
}

// out[i, j] is number i of the distribution that make(parameters[j]) gives.
template <class T, class Parameter, class F>
void DrawEach(CpuContext& context, const Tensor& parameters, const Philox& stream, Tensor& out,
              F make) {
  const int64_t count = parameters.num_elements();
  if (out.num_elements() == 0) return;
  const int64_t samples = out.num_elements() / count;
  const Parameter* parameter = parameters.data<Parameter>();
  T* to = out.mutable_data<T>();
  context.parallel()(out.num_elements(), 200, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t j = begin / samples;
      const auto distribution = make(static_cast<double>(parameter[j]));
      for (const int64_t stop = std::min(end, (j + 1) * samples); begin < stop; ++begin) {
        const Philox start = stream.At(static_cast<uint64_t>(begin) * kBlocksPerNumber);
        to[(begin - j * samples) * count + j] = FromDouble<T>(distribution(NumberSource(start)));
      }
    }
  });
}

template <class T>
double HighestOf() {
  if constexpr (std::is_same_v<T, half>) {
    return 65504;
  } else {
    return static_cast<double>(std::numeric_limits<T>::max());
  }
}

// The sums of the classes' weights, relative to that of the likeliest.
template <class T>
double CumulativeWeights(const T* logits, std::vector<double>& sums) {
  double highest = -std::numeric_limits<double>::infinity();
  const auto at = [&](size_t i) { return static_cast<double>(logits[i]); };
  for (size_t i = 0; i < sums.size(); ++i)
    if (std::isfinite(at(i))) highest = std::max(highest, at(i));
  double total = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (std::isfinite(at(i))) total += std::exp(at(i) - highest);
    sums[i] = total;
  }
  return total;
}

template <class T, class Index>
void DrawClassRows(CpuContext& context, const T* logits, int64_t classes, const Philox& stream,
                   Tensor& out) {
  const int64_t rows = out.shape()[0], samples = out.shape()[1];
  Index* to = out.mutable_data<Index>();
  const double cost = 30.0 * static_cast<double>(classes) + 100.0 * static_cast<double>(samples);
  context.parallel()(rows, cost, [&](int64_t begin, int64_t end) {
    std::vector<double> sums(static_cast<size_t>(classes));
    for (int64_t row = begin; row < end; ++row) {
      const double total = CumulativeWeights(logits + row * classes, sums);
      // Each sample takes two words.
      PhiloxWords words(stream, static_cast<uint64_t>(row * samples) * 2);
      for (int64_t i = 0; i < samples; ++i) {
        const auto found = std::upper_bound(sums.begin(), sums.end(), words.NextDouble() * total);
        to[row * samples + i] = static_cast<Index>(found - sums.begin());
      }
    }
  });
}

// The gradient of a sample by alpha, summed over the samples of each alpha.
void GammaGradient(Gradients& g, int alpha_input) {
  const Expr alpha = g.input(alpha_input);
  const Expr partial = Op("RandomGammaGrad", alpha, g.output(0));
  const Expr sums = partial * g.dy();
  const Expr shape = Op("Shape", sums), alpha_shape = Op("Shape", alpha);
  const Expr axes = g.scope().Add("BroadcastGradientArgs", {alpha_shape, shape}, {});
  g.Set(alpha_input, Op("Reshape", Op("Sum", sums, axes), alpha_shape));
}

}  // namespace

// Fisher and Yates, from the front.
Status ShuffleRows(CpuContext& context, const Tensor& value, PhiloxWords words, Tensor& out) {
  const int64_t rows = value.shape()[0];
  if (rows > std::numeric_limits<uint32_t>::max())
    return InvalidArgument("a shuffle takes fewer than 2^32 rows, got {}", rows);
  const int64_t width = ProductOf(value.shape(), 1, value.shape().rank());
  TRY_ASSIGN(Tensor order, context.Allocate(DType::kInt64, Shape{rows}));
  const std::span<int64_t> places = order.mutable_values<int64_t>();
  std::iota(places.begin(), places.end(), int64_t{0});
  for (int64_t i = 0; i + 1 < rows; ++i) {
    const int64_t other = i + words.Next() % static_cast<uint32_t>(rows - i);
    std::swap(places[static_cast<size_t>(i)], places[static_cast<size_t>(other)]);
  }
  for (int64_t i = 0; i < rows; ++i)
    CopyRun(value, places[static_cast<size_t>(i)] * width, out, i * width, width,
            context.parallel());
  return OkStatus();
}

Status RandomShuffle::Draw(CpuContext& context, NodeStream& node) const {
  const Tensor& value = context.input(0);
  if (value.num_elements() <= 1 || value.shape()[0] <= 1) {
    CopyRun(value, 0, context.output(0), 0, value.num_elements(), context.parallel());
    return OkStatus();
  }
  const auto words = static_cast<uint64_t>(value.shape()[0] - 1);
  TRY_ASSIGN(const Philox stream, node.ReserveWords(context, words));
  return ShuffleRows(context, value, PhiloxWords(stream), context.output(0));
}

Result<Shape> StatelessShuffle::InferShape(const Shape& value, const Shape& key,
                                           const Shape& counter, const Shape& alg) const {
  TRY(CheckKey(key, counter, alg));
  return value;
}
Status StatelessShuffle::ComputeCpu(CpuContext& context, const Tensor& value, const Tensor& key,
                                    const Tensor& counter, const Tensor& alg,
                                    Tensor& output) const {
  TRY_ASSIGN(const Philox stream, StreamOfKey(key, counter, alg));
  if (value.num_elements() == 0) return OkStatus();
  if (value.shape().rank() > 0) return ShuffleRows(context, value, PhiloxWords(stream), output);
  CopyRun(value, 0, output, 0, 1, context.parallel());
  return OkStatus();
}

Result<Shape> ClassesShape(const Shape& logits, const Integers& num_samples) {
  TRY(CheckRank(logits, 2, "logits"));
  TRY(CheckScalar(num_samples.shape(), "num_samples"));
  const int64_t samples = num_samples.known() ? num_samples[0] : Shape::kUnknownDim;
  if (num_samples.known() && samples < 0)
    return InvalidArgument("num_samples must not be negative, got {}", samples);
  const int64_t rows = logits.has_rank() ? logits[0] : Shape::kUnknownDim;
  if (logits.has_rank() && logits[1] == 0 && rows > 0 && samples > 0)
    return InvalidArgument("num_classes must be positive, got logits of shape {}", logits);
  const int64_t dims[] = {rows, samples};
  return Shape::Make(dims);
}

Status DrawClasses(CpuContext& context, const Tensor& logits, const Philox& stream, Tensor& out) {
  if (out.num_elements() == 0) return OkStatus();
  return ForDType(logits.dtype(), PlainRealNumbers(), [&]<class T>() {
    return ForDType(out.dtype(), Types<int32_t, int64_t>(), [&]<class Index>() {
      DrawClassRows<T, Index>(context, logits.data<T>(), logits.shape()[1], stream, out);
      return OkStatus();
    });
  });
}

Status Multinomial::Draw(CpuContext& context, NodeStream& node) const {
  Tensor& out = context.output(0);
  if (out.num_elements() == 0) return OkStatus();
  // Two words a sample, and samples in fours.
  const int64_t samples = out.shape()[1] / 4 * 4 + (out.shape()[1] % 4 != 0 ? 4 : 0);
  TRY_ASSIGN(const Philox stream, node.ReserveNumbers(context, out.shape()[0] * samples * 2));
  return DrawClasses(context, context.input(0), stream, out);
}

Result<Shape> StatelessMultinomial::InferShape(const Shape& logits, const Integers& num_samples,
                                               const Shape& seed) const {
  TRY(CheckSeed(seed));
  return ClassesShape(logits, num_samples);
}
Status StatelessMultinomial::ComputeCpu(CpuContext& context, const Tensor& logits, const Tensor&,
                                        const Tensor& seed, Tensor& output) const {
  return DrawClasses(context, logits, StreamOfSeed(seed), output);
}

Result<Shape> PerParameterShape(const Integers& shape, const Shape& parameter) {
  TRY_ASSIGN(Shape drawn, DrawnShape(shape));
  if (!drawn.has_rank() || !parameter.has_rank()) return Shape::Unknown();
  std::vector<int64_t> dims(drawn.dims().begin(), drawn.dims().end());
  dims.insert(dims.end(), parameter.dims().begin(), parameter.dims().end());
  return Shape::Make(dims);
}

Result<Shape> BroadcastParameterShape(const Integers& shape, const Shape& parameter) {
  TRY_ASSIGN(Shape drawn, DrawnShape(shape));
  if (!drawn.has_rank() || !parameter.has_rank()) return drawn;
  const int lead = drawn.rank() - parameter.rank();
  if (lead < 0 || !drawn.Slice(lead, drawn.rank()).IsCompatibleWith(parameter))
    return InvalidArgument("shape must end with the parameter's shape {}, got {}", parameter,
                           drawn);
  return drawn;
}

Status DrawGamma(CpuContext& context, const Tensor& alpha, const Philox& stream, Tensor& out) {
  return ForDType(alpha.dtype(), Types<half, float, double>(), [&]<class T>() {
    DrawEach<T, T>(context, alpha, stream, out, [](double a) { return GammaDistribution(a); });
    return OkStatus();
  });
}

Status DrawPoisson(CpuContext& context, const Tensor& rate, const Philox& stream, Tensor& out) {
  using Numbers = Types<half, float, double, int32_t, int64_t>;
  return ForDType(rate.dtype(), Numbers(), [&]<class Rate>() {
    return ForDType(out.dtype(), Numbers(), [&]<class T>() {
      DrawEach<T, Rate>(context, rate, stream, out,
                        [](double each) { return PoissonDistribution(each, HighestOf<T>()); });
      return OkStatus();
    });
  });
}

void RandomGamma::Gradient(Gradients& g) const { GammaGradient(g, 1); }
Status RandomGamma::Draw(CpuContext& context, NodeStream& node) const {
  Tensor& out = context.output(0);
  if (out.num_elements() == 0) return OkStatus();
  TRY_ASSIGN(const Philox stream, node.ReserveNumbers(context, out.num_elements()));
  return DrawGamma(context, context.input(1), stream, out);
}

Result<Shape> StatelessRandomGammaV2::InferShape(const Integers& shape, const Shape& seed,
                                                 const Shape& alpha) const {
  TRY(CheckSeed(seed));
  return BroadcastParameterShape(shape, alpha);
}
void StatelessRandomGammaV2::Gradient(Gradients& g) const { GammaGradient(g, 2); }
Status StatelessRandomGammaV2::ComputeCpu(CpuContext& context, const Tensor&, const Tensor& seed,
                                          const Tensor& alpha, Tensor& output) const {
  return DrawGamma(context, alpha, StreamOfSeed(seed), output);
}

Result<Shape> StatelessRandomGammaV3::InferShape(const Integers& shape, const Shape& key,
                                                 const Shape& counter, const Shape& alg,
                                                 const Shape& alpha) const {
  TRY(CheckKey(key, counter, alg));
  return BroadcastParameterShape(shape, alpha);
}
void StatelessRandomGammaV3::Gradient(Gradients& g) const { GammaGradient(g, 4); }
Status StatelessRandomGammaV3::ComputeCpu(CpuContext& context, const Tensor&, const Tensor& key,
                                          const Tensor& counter, const Tensor& alg,
                                          const Tensor& alpha, Tensor& output) const {
  TRY_ASSIGN(const Philox stream, StreamOfKey(key, counter, alg));
  return DrawGamma(context, alpha, stream, output);
}

Result<Shape> StatelessRandomPoisson::InferShape(const Integers& shape, const Shape& seed,
                                                 const Shape& lam) const {
  TRY(CheckSeed(seed));
  return BroadcastParameterShape(shape, lam);
}
Status StatelessRandomPoisson::ComputeCpu(CpuContext& context, const Tensor&, const Tensor& seed,
                                          const Tensor& lam, Tensor& output) const {
  return DrawPoisson(context, lam, StreamOfSeed(seed), output);
}

void RegisterRandomDraws(Registrar& registrar) {
  registrar.AddAll<RandomShuffle, StatelessShuffle, Multinomial, StatelessMultinomial>();
  registrar.AddAll<RandomGamma, RandomPoisson, RandomPoissonV2>();
  registrar.AddAll<StatelessRandomGammaV2, StatelessRandomGammaV3, StatelessRandomPoisson>();
}

}  // namespace penstock::ops
