#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "penstock/penstock.h"
#include "penstock/train/nn/initializers.h"
#include "penstock/train/parameters.h"

// What the tests of layers have in common.

namespace penstock::nn::testing {

// Values without a pattern that a wrong axis could hide behind, in [-1, 1].
std::vector<float> Wave(int64_t count, float phase);
Array<float> WaveOf(const Shape& shape, float phase);
// A variable that begins with Wave(size, phase).
Initializer WaveInit(float phase);

// The value of `y` with all variables initialised.
Array<float> Evaluate(Graph& graph, const Output<float>& y);
void ExpectNear(const Array<float>& got, const std::vector<float>& want, float tolerance = 1e-5f);
// All trainable variables get a gradient of sum(y * weights) that is finite and, somewhere, not
// zero; it agrees with differences at a few places of each.
void ExpectGradientsReachAll(Graph& graph, const Output<float>& y);
// Names of all variables in order.
std::vector<std::string> VariableNames(const Graph& graph);
// That `f` throws an InvalidArgument whose text has all of `parts`.
void ExpectError(const std::function<void()>& f, const std::vector<std::string>& parts);

}  // namespace penstock::nn::testing
