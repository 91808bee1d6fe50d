#include "penstock/train/nn/dense.h"

#include <algorithm>

#include "penstock/train/nn/body.h"

namespace penstock::nn {
namespace {

class DenseBody final : public Body {
 public:
  DenseBody(int64_t units, Activation activation, DenseOptions options, CallSite site)
      : Body("Dense", "dense", options.name, site),
        units_(units),
        activation_(std::move(activation)),
        options_(std::move(options)) {
    RequirePositive("the number of units", units);
  }

  Expr Apply(Context& context, const std::vector<Expr>& inputs) override {
    Expr x = inputs[0];
    context.RequireRank(x, 0, "[batch..., features]");
    const int64_t features = context.Channels(x);
    const Expr kernel =
        context.Weight("kernel", {features, units_}, options_.kernel, {.l2 = options_.l2});
    const bool is_matrix = x.shape().rank() == 2;
    const Shape outer = x.shape();
    const Expr dims = is_matrix ? Expr() : Op("Shape", x);
    if (!is_matrix) x = context.Reshape(x, {-1, features});
    Expr y = Op("MatMul", x, kernel);
    if (options_.bias) y = Op("BiasAdd", y, context.Weight("bias", {units_}, options_.bias_value));
    y = context.Activate(activation_, y);
    return is_matrix ? y : Restore(context, y, outer, dims);
  }

 private:
  // Back to the axes that x had before the last.
  Expr Restore(Context& context, const Expr& y, const Shape& outer, const Expr& dims) const {
    std::vector<int64_t> known(outer.dims().begin(), outer.dims().end() - 1);
    known.push_back(units_);
    if (std::count(known.begin(), known.end(), -1) <= 1) return context.Reshape(y, known);
    const Expr leading = context.scope().Add(
        "Slice", {dims, context.Vector({0}), context.Vector({outer.rank() - 1})});
    const Expr shape = context.scope().Add(
        "ConcatV2", {leading, context.Vector({units_}), context.Scalar(int32_t{0})});
    return context.WithShape(Op("Reshape", y, shape), Shape(known));
  }

  int64_t units_;
  Activation activation_;
  DenseOptions options_;
};

}  // namespace

Dense::Dense(int64_t units, Activation activation, DenseOptions options, CallSite site)
    : Layer(std::make_shared<DenseBody>(units, std::move(activation), std::move(options), site)) {}

}  // namespace penstock::nn
