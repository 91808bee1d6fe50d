#pragma once

#include <cstdint>

#include "penstock/core/parallel.h"
#include "penstock/ops/op_kernel.h"

// One step of a long short-term memory, forward and backward, on floats.
// B rows of a batch, I inputs, H cells; arrays are row-major, [B, H] where nothing else is said.

namespace penstock::ops {

struct LstmShape {
  int64_t batch = -1;
  int64_t inputs = -1;
  int64_t cells = -1;

  // Learns from the shapes of the weights and the state, which must agree.
  Status Learn(const Shape& cs_prev, const Shape& h_prev, const Shape& w, const Shape& wci,
               const Shape& wcf, const Shape& wco, const Shape& b);
  // The same from the last two extents of an array of inputs.
  Status LearnInput(int64_t rows, int64_t columns);
};

// In which order the four gates lie in w and b: input, cell input, forget, output.
struct GateOrder {
  int64_t cell;
  int64_t forget;
};
inline constexpr GateOrder kInputCellForgetOutput{1, 2};
inline constexpr GateOrder kInputForgetCellOutput{2, 1};

struct LstmWeights {
  const float* w;  // [I + H, 4 H]
  const float* wci;
  const float* wcf;
  const float* wco;  // [H], of peepholes
  const float* b;    // [4 H]
  bool use_peephole;
  GateOrder order;
};

struct LstmGates {
  float* i;
  float* cs;
  float* f;
  float* o;
  float* ci;
  float* co;
};

// From the sums of the gates, [B, 4 H] in the order of w and without the bias, to the gates, cs and
// h.
void LstmForward(const LstmShape& shape, const LstmWeights& weights, float forget_bias,
                 float cell_clip, const float* cs_prev, const float* sums, const LstmGates& gates,
                 float* h, const ParallelFor& each);

struct LstmPeepholeGradients {
  float* wci;
  float* wcf;
  float* wco;
};

// From the derivatives by cs and h to those by the sums of the gates, [B, 4 H] in the order of w,
// and by cs_prev, which may be cs_grad. Adds to those of the peepholes.
void LstmBackward(const LstmShape& shape, const LstmWeights& weights, const float* cs_prev,
                  const LstmGates& gates, const float* cs_grad, const float* h_grad,
                  float* gate_grads, float* cs_prev_grad, const LstmPeepholeGradients& peepholes,
                  const ParallelFor& each);

}  // namespace penstock::ops
