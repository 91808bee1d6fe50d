#pragma once

#include <string>
#include <vector>

#include "penstock/graph/gradients.h"
#include "penstock/train/parameters.h"

namespace penstock {

// A variable, and the derivative of the loss with regard to it: whole, or as rows.
struct ParameterGradient {
  Parameter parameter;
  GradientValue gradient;
};

// What ComputeGradients gives and ApplyGradients takes.
struct GradientList {
  Graph* graph = nullptr;
  std::vector<ParameterGradient> items = {};
};

// How gradients are kept short.
//
//   Adam{.rate = 1e-3}.Minimize(loss, {.clip = Clip::ByGlobalNorm(5)});
struct Clip {
  enum class Kind { kNone, kValue, kNorm, kGlobalNorm };
  Kind kind = Kind::kNone;
  double limit = 0;

  // Each element to [-limit, limit].
  static Clip ByValue(double limit) { return {Kind::kValue, limit}; }
  // Each gradient to that Euclidean norm.
  static Clip ByNorm(double limit) { return {Kind::kNorm, limit}; }
  // All of them, as one vector. A norm that is not finite makes every gradient NaN, as in
  // TensorFlow: scaled by it they would look harmless.
  static Clip ByGlobalNorm(double limit) { return {Kind::kGlobalNorm, limit}; }
};

// Rows of a gradient count as they are, as in TensorFlow, also where an index repeats.
GradientList ClipGradients(const GradientList& gradients, const Clip& clip,
                           CallSite site = CallSite::Here());
// The norm of all gradients as one vector.
Output<float> GlobalNorm(const GradientList& gradients, CallSite site = CallSite::Here());
// Whether no gradient holds a NaN or an infinity.
Output<bool> AllFinite(const GradientList& gradients, CallSite site = CallSite::Here());

namespace optim_internal {

// `gradient` times a scalar of any floating type.
GradientValue Scaled(const Scope& scope, const GradientValue& gradient, const Expr& by);
// `value` as one of `dtype`.
Expr CastTo(const Expr& value, DType dtype);
// The nodes that a gradient is made of.
std::vector<NodeId> NodesOf(const GradientValue& gradient);
// Throws unless there is something to work on.
void CheckList(const GradientList& gradients, CallSite site);

}  // namespace optim_internal
}  // namespace penstock
