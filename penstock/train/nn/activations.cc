#include "penstock/train/nn/activations.h"

#include "penstock/client/build_scope.h"
#include "penstock/client/error.h"

namespace penstock::nn::activations_internal {
namespace {

template <class F>
Output<float> Write(const Output<float>& x, CallSite site, F f) {
  const Scope scope = BuildScope::Current(x.graph(), site);
  const Expr y = f(Expr(&scope, x.ref()));
  OrThrow(scope.status(), site);
  return {x.graph(), y.ref()};
}

}  // namespace

Output<float> Softmax(const Output<float>& x, CallSite site) {
  return Write(x, site, [](const Expr& v) { return Op("Softmax", v); });
}

Output<float> LogSoftmax(const Output<float>& x, CallSite site) {
  return Write(x, site, [](const Expr& v) { return Op("LogSoftmax", v); });
}

Output<float> Gelu(const Output<float>& x, CallSite site) {
  constexpr double kHalfRoot = 0.70710678118654752;  // 1 / sqrt(2)
  return Write(x, site, [](const Expr& v) { return v * 0.5 * (Op("Erf", v * kHalfRoot) + 1.0); });
}

Output<float> GeluTanh(const Output<float>& x, CallSite site) {
  constexpr double kRoot = 0.79788456080286536;  // sqrt(2 / pi)
  return Write(x, site, [](const Expr& v) {
    const Expr inner = (v + v * v * v * 0.044715) * kRoot;
    return v * 0.5 * (Op("Tanh", inner) + 1.0);
  });
}

Output<float> Silu(const Output<float>& x, CallSite site) {
  return Write(x, site, [](const Expr& v) { return v * Op("Sigmoid", v); });
}

Output<float> HardSigmoid(const Output<float>& x, CallSite site) {
  return Write(x, site, [](const Expr& v) { return Op("Relu6", v + 3.0) / 6.0; });
}

}  // namespace penstock::nn::activations_internal
