#pragma once

#include "penstock/train/nn/body.h"
#include "penstock/train/nn/recurrent.h"

namespace penstock::nn {

// What LSTM and GRU have in common: the order of axes, direction, lengths and states. Inside, time
// comes first: T steps, B batch, F features, U units.
class RecurrentBody : public Body {
 public:
  RecurrentBody(std::string_view kind, std::string_view base_name, int64_t units,
                RecurrentOptions options, CallSite site);

  // Inputs: x, lengths or nothing, then the states or none.
  Expr Apply(Context& context, const std::vector<Expr>& inputs) final;
  bool TakesIntegers() const override { return true; }  // lengths
  // A layer with the same settings and variables of its own.
  virtual std::shared_ptr<RecurrentBody> Copy(RecurrentOptions options) const = 0;

  const RecurrentOptions& options() const { return options_; }
  int64_t units() const { return units_; }

 protected:
  virtual int num_states() const = 0;
  // All states over time, [T, B, U] each; the first is the output. x is [T, B, F], F known.
  virtual std::vector<Expr> Step(Context& context, const Expr& x,
                                 const std::vector<Expr>& states) = 0;

 private:
  std::vector<Expr> FirstStates(Context& context, const Expr& x,
                                const std::vector<Expr>& inputs) const;
  Expr Reverse(const Context& context, const Expr& x, const Expr& lengths) const;
  Expr LastOf(const Context& context, const Expr& steps, const Expr& lengths,
              const Expr& first) const;
  void CheckInputs(const Context& context, const std::vector<Expr>& inputs) const;

  int64_t units_;
  RecurrentOptions options_;
};

}  // namespace penstock::nn
