#include "penstock/session/shaped_plans.h"

namespace penstock {
namespace {

constexpr int kTimesWorthAPlan = 4;
constexpr size_t kMaxPlans = 4;

}  // namespace

bool ShapedPlans::Shaped::Fits(std::span<const Tensor> args) const {
  if (shapes.size() != args.size()) return false;
  for (size_t i = 0; i < args.size(); ++i) {
    if (!(shapes[i] == args[i].shape())) return false;
  }
  return true;
}

Plan& ShapedPlans::Find(std::span<const Tensor> args) {
  if (args.empty() || !maker_) return *general_;
  {
    MutexLock lock(mu_);
    for (const std::unique_ptr<Shaped>& shaped : shaped_) {
      if (!shaped->Fits(args)) continue;
      last_used_.store(shaped.get(), std::memory_order_release);
      return *shaped->plan;
    }
    if (!IsWorthAPlan(args)) return *general_;
    making_ = true;  // others go on with the general plan
  }
  std::unique_ptr<Shaped> made = Make(args);
  MutexLock lock(mu_);
  making_ = false;
  shaped_.push_back(std::move(made));
  last_used_.store(shaped_.back().get(), std::memory_order_release);
  return *shaped_.back()->plan;
}

bool ShapedPlans::IsWorthAPlan(std::span<const Tensor> args) {
  if (making_ || shaped_.size() >= kMaxPlans) return false;
  if (!seen_.Fits(args)) {
    seen_.shapes.clear();
    for (const Tensor& arg : args) seen_.shapes.push_back(arg.shape());
    times_seen_ = 0;
  }
  return ++times_seen_ >= kTimesWorthAPlan;
}

std::unique_ptr<ShapedPlans::Shaped> ShapedPlans::Make(std::span<const Tensor> args) const {
  auto made = std::make_unique<Shaped>();
  for (const Tensor& arg : args) made->shapes.push_back(arg.shape());
  // Shapes that do not fit the body fail when it runs, in the general plan, with the node's name.
  if (Result<std::unique_ptr<Plan>> plan = maker_(made->shapes); plan.ok())
    made->owned = *std::move(plan);
  made->plan = made->owned != nullptr ? made->owned.get() : general_.get();
  return made;
}

}  // namespace penstock
