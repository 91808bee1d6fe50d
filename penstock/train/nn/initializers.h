#pragma once

#include <cstdint>
#include <functional>

#include "penstock/client/output.h"

// The first values of variables, computed by the graph when InitVariables runs. The random ones
// depend on nothing but the seed, the name of the variable and its shape: a graph that is built
// again, and a second run of InitVariables, give the same bits.

namespace penstock::nn {

struct InitialRequest {
  Graph& graph;
  Shape shape;  // fully known
  uint64_t seed = 0;
};

// Makes the node that computes the first value of a variable. Also made from a lambda:
//   nn::Dense{10, {}, {.kernel = [&](const nn::InitialRequest& r) { return Constant(...); }}}
using Initializer = std::function<Output<float>(const InitialRequest&)>;

Initializer Zeros();
Initializer Ones();
Initializer ConstantValue(float value);
Initializer Uniform(float low = -0.05f, float high = 0.05f, uint64_t seed = 0);
Initializer Normal(float mean = 0, float stddev = 0.05f, uint64_t seed = 0);
// Without what lies further than two standard deviations from the mean.
Initializer TruncatedNormal(float mean = 0, float stddev = 0.05f, uint64_t seed = 0);
// Variances after the number of inputs and outputs of a unit: of Glorot 2 / (in + out), of He 2 /
// in, of LeCun 1 / in. The normal ones are truncated, as those of Keras.
Initializer GlorotUniform(uint64_t seed = 0);
Initializer GlorotNormal(uint64_t seed = 0);
Initializer HeUniform(uint64_t seed = 0);
Initializer HeNormal(uint64_t seed = 0);
Initializer LecunUniform(uint64_t seed = 0);
Initializer LecunNormal(uint64_t seed = 0);
// A matrix with orthogonal rows or columns, whichever are fewer; axes before the last count as one.
Initializer Orthogonal(float gain = 1, uint64_t seed = 0);
// A matrix with `gain` on its diagonal.
Initializer IdentityMatrix(float gain = 1);

}  // namespace penstock::nn
