#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "penstock/core/mutex.h"
#include "penstock/core/tensor.h"
#include "penstock/execute/plan.h"

namespace penstock {

// The plans of one function: a general one, and a few for the shapes that its arguments turned out
// to have. Where shapes are known the compiler settles, fuses and places what it cannot otherwise.
// Shapes are worth a plan when they came several times in a row, as they do in a loop.
// Threads: all methods may be called concurrently; making a plan holds no lock.
class ShapedPlans {
 public:
  using Maker = std::function<Result<std::unique_ptr<Plan>>(std::span<const Shape> args)>;

  // Without a maker there is the general plan alone.
  ShapedPlans(std::unique_ptr<Plan> general, Maker maker)
      : general_(std::move(general)), maker_(std::move(maker)) {}

  const Plan& general() const { return *general_; }
  // The plan to run on these arguments. Lives as long as this.
  Plan& For(std::span<const Tensor> args) {
    // Acquire: the plan was made by another thread.
    const Shaped* last = last_used_.load(std::memory_order_acquire);
    return last != nullptr && last->Fits(args) ? *last->plan : Find(args);
  }

 private:
  struct Shaped {
    std::vector<Shape> shapes;
    Plan* plan = nullptr;  // `owned`, or the general one when the shapes do not compile
    std::unique_ptr<Plan> owned;
    bool Fits(std::span<const Tensor> args) const;
  };
  Plan& Find(std::span<const Tensor> args);
  bool IsWorthAPlan(std::span<const Tensor> args) REQUIRES_LOCK(mu_);
  std::unique_ptr<Shaped> Make(std::span<const Tensor> args) const;

  const std::unique_ptr<Plan> general_;
  const Maker maker_;
  std::atomic<const Shaped*> last_used_{nullptr};
  Mutex mu_;
  std::vector<std::unique_ptr<Shaped>> shaped_ GUARDED_BY(mu_);
  Shaped seen_ GUARDED_BY(mu_);  // the shapes that came last without a plan
  int times_seen_ GUARDED_BY(mu_) = 0;
  bool making_ GUARDED_BY(mu_) = false;
};

}  // namespace penstock
