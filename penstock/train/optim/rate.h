#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "penstock/client/output.h"
#include "penstock/core/status.h"

namespace penstock {

// A learning rate: a number, or a function of the number of steps so far.
//
//   Adam{.rate = 1e-3}
//   Adam{.rate = CosineDecay{.initial = 0.1, .decay_steps = 1000}}
//   Adam{.rate = [](Output<float> step) { return 0.1f / (1.f + step); }}
//
// A function is called while the graph is built, with the step as an output. One that has a
// `Status Check() const` is checked first.
class Rate {
 public:
  Rate(double value) : number_(value) {}
  template <class F>
  requires std::is_invocable_r_v < Output<float>,
  const F&, Output < float >> Rate(F schedule)
      : schedule_(std::make_shared<ScheduleOf<F>>(std::move(schedule))) {}
  // Whatever the graph computes, such as a placeholder.
  Rate(Output<float> value) : Rate([value](Output<float>) { return value; }) {}

  bool is_number() const { return schedule_ == nullptr; }
  // REQUIRES: is_number().
  double number() const { return number_; }
  // Not OK for a negative number, one that is not finite, or a schedule that makes no sense.
  Status Check() const;
  Output<float> At(Output<float> step) const;
  // At the graph's GlobalStep.
  Output<float> In(Graph& graph) const;

 private:
  struct Schedule {
    virtual ~Schedule() = default;
    virtual Output<float> At(Output<float> step) const = 0;
    virtual Status Check() const = 0;
  };
  template <class F>
  struct ScheduleOf final : Schedule {
    explicit ScheduleOf(F function) : function(std::move(function)) {}
    Output<float> At(Output<float> step) const override { return function(step); }
    Status Check() const override {
      if constexpr (requires { function.Check(); }) {
        return function.Check();
      } else {
        return OkStatus();
      }
    }
    F function;
  };

  double number_ = 0;
  std::shared_ptr<const Schedule> schedule_;
};

}  // namespace penstock
