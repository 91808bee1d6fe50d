#include "penstock/train/optim/loss_scale.h"

#include "penstock/client/operators.h"
#include "penstock/client/ops.h"
#include "penstock/train/optim/numbers.h"

namespace penstock {

Status LossScale::Check() const {
  if (kind == Kind::kNone) return OkStatus();
  TRY(optim_internal::Positive("the scale of the loss", initial));
  if (kind == Kind::kStatic) return OkStatus();
  TRY(optim_internal::Positive("growth_steps", static_cast<double>(growth_steps)));
  if (!(factor > 1)) return InvalidArgument("the factor must be over 1, got {}", factor);
  return OkStatus();
}

namespace optim_internal {

DynamicScale::DynamicScale(Graph& graph, const LossScale& options, CallSite site)
    : options_(options),
      scale_(Variable<float>::NotTrainable(
          graph, Constant(graph, static_cast<float>(options.initial)), "current_loss_scale", site)),
      good_steps_(
          Variable<int64_t>::NotTrainable(graph, Constant<int64_t>(graph, 0), "good_steps", site)),
      value_(scale_.Read(site)) {}

Operation DynamicScale::Update(const Output<bool>& finite) const {
  Graph& graph = value_.graph();
  const auto factor = static_cast<float>(options_.factor);
  const Output<int64_t> good = good_steps_.Read() + int64_t{1};
  const Output<float> grown = value_ * factor;
  const auto grows = LogicalAnd(good >= options_.growth_steps, IsFinite(grown));
  const Output<float> after_good = Where(grows, grown, value_);
  const Output<float> after_bad = Maximum(value_ / factor, Constant(graph, 1.f));
  const Output<int64_t> zero = Constant<int64_t>(graph, 0);
  const Output<int64_t> count = Where(good >= options_.growth_steps, zero, good);
  return Group({scale_.Assign(Where(finite, after_good, after_bad)),
                good_steps_.Assign(Where(finite, count, zero))});
}

}  // namespace optim_internal
}  // namespace penstock
