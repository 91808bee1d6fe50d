#pragma once

#include <vector>

#include "penstock/core/status.h"
#include "penstock/graph/scope.h"

namespace penstock {

// What to differentiate, and with regard to what.
struct GradientRequest {
  std::vector<OutputRef> ys;
  std::vector<OutputRef> xs;          // values, or handles of variables
  std::vector<OutputRef> dys = {};    // what arrives at each y; kNoNode, or none given: ones
  std::vector<OutputRef> stops = {};  // values that count as constants
};

// Adds the nodes that compute d(sum of dy * y) / dx for each x, and returns where: kNoNode for an x
// on which no y depends. Gradients of a value that is read several times are added up. Calls,
// branches and loops on the way get further outputs, by which they hand on what their derivatives
// need; those made of primitives become While and If nodes first. InvalidArgument when a y is not
// of a floating or complex type.
Result<std::vector<OutputRef>> AddGradients(const Scope& scope, const GradientRequest& request);

// The gradient of one x: whole, or as rows of it.
struct GradientValue {
  OutputRef dense = {};    // in the shape of x; kNoNode when no y depends on x
  OutputRef values = {};   // kNoNode unless only some rows of x took part: then [n, ...]
  OutputRef indices = {};  // and the [n] rows of x they belong to, which may repeat

  bool connected() const { return dense.node != kNoNode; }
  bool has_rows() const { return values.node != kNoNode; }
};

// The same, telling of each x whether its gradient is one of rows only (an embedding of which a few
// were looked up). Nodes of the dense form that nobody reads are not run.
Result<std::vector<GradientValue>> AddSparseGradients(const Scope& scope,
                                                      const GradientRequest& request);

// Whether a gradient may arrive at values of that type: numbers with fractions, lists of them, and
// handles of variables.
bool IsDifferentiable(DType dtype);

}  // namespace penstock
