#include "penstock/train/optim/schedules.h"

#include <cmath>
#include <numbers>

#include "penstock/client/array_ops.h"
#include "penstock/client/operators.h"
#include "penstock/client/ops.h"
#include "penstock/train/optim/numbers.h"

namespace penstock {
namespace {

using optim_internal::AtLeast;
using optim_internal::Positive;
using Value = Output<float>;

// Formulas below read as in the header: numbers become floats once, here.
float F(double value) { return static_cast<float>(value); }
float F(int64_t value) { return static_cast<float>(value); }
Value Number(const Value& like, double value) { return Constant(like.graph(), F(value)); }

Status CheckDecay(double initial, int64_t decay_steps) {
  TRY(AtLeast("initial", initial, 0));
  return Positive("decay_steps", static_cast<double>(decay_steps));
}

// step / decay_steps.
Value Periods(const Value& step, int64_t decay_steps, bool staircase) {
  const Value periods = step / F(decay_steps);
  return staircase ? Value(Floor(periods)) : periods;
}
// The same, and 1 from the end on.
Value Part(const Value& step, int64_t decay_steps) {
  return Value(Minimum(step, Number(step, static_cast<double>(decay_steps)))) / F(decay_steps);
}
// From 1 at part 0 down to 0 at part 1.
Value HalfCosine(const Value& part) {
  return 0.5f * (1.f + Value(Cos(part * F(std::numbers::pi))));
}

}  // namespace

Status ExponentialDecay::Check() const {
  TRY(CheckDecay(initial, decay_steps));
  return AtLeast("decay_rate", decay_rate, 0);
}
Value ExponentialDecay::operator()(Value step) const {
  return F(initial) * Value(Pow(Number(step, decay_rate), Periods(step, decay_steps, staircase)));
}

Status NaturalExpDecay::Check() const {
  TRY(CheckDecay(initial, decay_steps));
  return AtLeast("decay_rate", decay_rate, 0);
}
Value NaturalExpDecay::operator()(Value step) const {
  return F(initial) * Value(Exp(F(-decay_rate) * Periods(step, decay_steps, staircase)));
}

Status InverseTimeDecay::Check() const {
  TRY(CheckDecay(initial, decay_steps));
  return AtLeast("decay_rate", decay_rate, 0);
}
Value InverseTimeDecay::operator()(Value step) const {
  return F(initial) / (1.f + F(decay_rate) * Periods(step, decay_steps, staircase));
}

Status PolynomialDecay::Check() const {
  TRY(CheckDecay(initial, decay_steps));
  TRY(AtLeast("end", end, 0));
  return AtLeast("power", power, 0);
}
Value PolynomialDecay::operator()(Value step) const {
  Value part = Part(step, decay_steps);
  if (cycle) {
    // At least one way, also at step 0.
    const Value ways = Maximum(Ceil(step / F(decay_steps)), Number(step, 1));
    part = step / (F(decay_steps) * ways);
  }
  return F(initial - end) * Value(Pow(1.f - part, Number(step, power))) + F(end);
}

Status PiecewiseConstant::Check() const {
  if (values.size() != boundaries.size() + 1)
    return InvalidArgument("{} boundaries need {} values, got {}", boundaries.size(),
                           boundaries.size() + 1, values.size());
  for (size_t i = 1; i < boundaries.size(); ++i) {
    if (boundaries[i - 1] >= boundaries[i])
      return InvalidArgument("boundaries must increase, got {} before {}", boundaries[i - 1],
                             boundaries[i]);
  }
  for (const double value : values) TRY(AtLeast("a value", value, 0));
  return OkStatus();
}
Value PiecewiseConstant::operator()(Value step) const {
  Value rate = Number(step, values.back());
  for (size_t i = boundaries.size(); i-- > 0;)
    rate = Where(step <= F(boundaries[i]), Number(step, values[i]), rate);
  return rate;
}

Status CosineDecay::Check() const {
  TRY(CheckDecay(initial, decay_steps));
  return AtLeast("alpha", alpha, 0);
}
Value CosineDecay::operator()(Value step) const {
  return F(initial) * (F(1 - alpha) * HalfCosine(Part(step, decay_steps)) + F(alpha));
}

Status CosineRestarts::Check() const {
  TRY(CheckDecay(initial, first_decay_steps));
  TRY(AtLeast("t_mul", t_mul, 1));
  TRY(Positive("m_mul", m_mul));
  return AtLeast("alpha", alpha, 0);
}
Value CosineRestarts::operator()(Value step) const {
  const Value periods = step / F(first_decay_steps);
  Value restarts = Floor(periods);
  Value part = periods - restarts;
  if (t_mul != 1) {
    // The restart i comes at (1 - t_mul^i) / (1 - t_mul) periods.
    restarts = Floor(Value(Log(1.f - periods * F(1 - t_mul))) / F(std::log(t_mul)));
    const Value length = Pow(Number(step, t_mul), restarts);
    part = (periods - (1.f - length) / F(1 - t_mul)) / length;
  }
  const Value height = Pow(Number(step, m_mul), restarts);
  return F(initial) * (F(1 - alpha) * (height * HalfCosine(part)) + F(alpha));
}

Status LinearCosineDecay::Check() const {
  TRY(CheckDecay(initial, decay_steps));
  TRY(AtLeast("num_periods", num_periods, 0));
  TRY(AtLeast("alpha", alpha, 0));
  return AtLeast("beta", beta, 0);
}
Value LinearCosineDecay::operator()(Value step) const {
  const Value part = Part(step, decay_steps);
  const Value cosine = HalfCosine(part * F(2 * num_periods));
  return F(initial) * ((F(alpha) + (1.f - part)) * cosine + F(beta));
}

Status LinearWarmup::Check() const {
  TRY(Positive("steps", static_cast<double>(steps)));
  TRY(AtLeast("start", start, 0));
  return then.Check();
}
Value LinearWarmup::operator()(Value step) const {
  const Value goal = then.At(Number(step, 0));
  const Value line = F(start) + (goal - F(start)) * (step / F(steps));
  const Value rest = Maximum(step - F(steps), Number(step, 0));
  return Where(step < F(steps), line, then.At(rest));
}

Status NoamDecay::Check() const {
  TRY(Positive("model_size", static_cast<double>(model_size)));
  TRY(Positive("warmup_steps", static_cast<double>(warmup_steps)));
  return AtLeast("scale", scale, 0);
}
Value NoamDecay::operator()(Value step) const {
  const Value n = step + 1.f;
  const double size = static_cast<double>(model_size), warmup = static_cast<double>(warmup_steps);
  return F(scale / std::sqrt(size)) * Value(Minimum(Rsqrt(n), n * F(std::pow(warmup, -1.5))));
}

Status InverseSqrtDecay::Check() const { return CheckDecay(initial, decay_steps); }
Value InverseSqrtDecay::operator()(Value step) const {
  const Value late = Maximum(step, Number(step, static_cast<double>(decay_steps)));
  return F(initial) * Value(Sqrt(F(decay_steps) / late));
}

Status OneCycle::Check() const {
  TRY(AtLeast("peak", peak, 0));
  TRY(AtLeast("steps", static_cast<double>(steps), 2));
  if (!(rising > 0 && rising < 1))
    return InvalidArgument("rising must be in (0, 1), got {}", rising);
  TRY(Positive("initial_divisor", initial_divisor));
  return Positive("final_divisor", final_divisor);
}
Value OneCycle::operator()(Value step) const {
  const double top = rising * static_cast<double>(steps) - 1;  // the step of the peak
  const double last = static_cast<double>(steps - 1);
  const double first_rate = peak / initial_divisor, last_rate = first_rate / final_divisor;
  const Value now = Minimum(step, Number(step, last));
  const Value up = top > 0 ? now / F(top) : Number(step, 1);
  const Value down = (now - F(top)) / F(last - top);
  const Value rise = F(peak) + F(first_rate - peak) * HalfCosine(up);
  const Value fall = F(last_rate) + F(peak - last_rate) * HalfCosine(down);
  return Where(now <= F(top), rise, fall);
}

}  // namespace penstock
