#pragma once

#include "penstock/client/output.h"
#include "penstock/graph/call_site.h"

// Activations beside those of client/ops.h (Relu, Tanh, Sigmoid, Elu, Softplus, ...). As those they
// are values, to be handed to layers.

namespace penstock::nn {

namespace activations_internal {
Output<float> Softmax(const Output<float>& x, CallSite site);
Output<float> LogSoftmax(const Output<float>& x, CallSite site);
Output<float> Gelu(const Output<float>& x, CallSite site);
Output<float> GeluTanh(const Output<float>& x, CallSite site);
Output<float> Silu(const Output<float>& x, CallSite site);
Output<float> HardSigmoid(const Output<float>& x, CallSite site);
}  // namespace activations_internal

template <Output<float> (*F)(const Output<float>&, CallSite)>
struct ActivationFunction {
  Output<float> operator()(const Output<float>& x, CallSite site = CallSite::Here()) const {
    return F(x, site);
  }
};

// Over the last axis.
inline constexpr ActivationFunction<activations_internal::Softmax> Softmax;
inline constexpr ActivationFunction<activations_internal::LogSoftmax> LogSoftmax;
// x * Phi(x), exactly.
inline constexpr ActivationFunction<activations_internal::Gelu> Gelu;
// The approximation by tanh, which GPT and BERT use.
inline constexpr ActivationFunction<activations_internal::GeluTanh> GeluTanh;
// x * sigmoid(x), also called Swish.
inline constexpr ActivationFunction<activations_internal::Silu> Silu;
// x / 6 + 1 / 2, cut to [0, 1].
inline constexpr ActivationFunction<activations_internal::HardSigmoid> HardSigmoid;

}  // namespace penstock::nn
