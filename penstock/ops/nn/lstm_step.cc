#include "penstock/ops/nn/lstm_step.h"

#include <algorithm>

#include "penstock/kernels/lstm_gates.h"
#include "penstock/kernels/math.h"

namespace penstock::ops {
namespace {

Status Agree(int64_t& known, int64_t extent, std::string_view what) {
  if (extent < 0) return OkStatus();
  if (known >= 0 && known != extent)
    return InvalidArgument("the {} of all arrays must agree, got {} and {}", what, known, extent);
  known = extent;
  return OkStatus();
}

}  // namespace

Status LstmShape::Learn(const Shape& cs_prev, const Shape& h_prev, const Shape& w, const Shape& wci,
                        const Shape& wcf, const Shape& wco, const Shape& b) {
  for (const Shape* state : {&cs_prev, &h_prev}) {
    TRY(CheckRank(*state, 2, "the state"));
    if (!state->has_rank()) continue;
    TRY(Agree(batch, state->dim(0), "batch size"));
    TRY(Agree(cells, state->dim(1), "number of cells"));
  }
  for (const Shape* peephole : {&wci, &wcf, &wco}) {
    TRY(CheckVector(*peephole, "the peephole weights"));
    if (peephole->has_rank()) TRY(Agree(cells, peephole->dim(0), "number of cells"));
  }
  TRY(CheckVector(b, "b"));
  TRY(CheckRank(w, 2, "w"));
  const int64_t gates[] = {b.has_rank() ? b.dim(0) : -1, w.has_rank() ? w.dim(1) : -1};
  for (const int64_t four : gates) {
    if (four >= 0 && four % 4 != 0)
      return InvalidArgument("expected weights for four gates, got {} columns", four);
    TRY(Agree(cells, four < 0 ? -1 : four / 4, "number of cells"));
  }
  if (w.has_rank() && w.dim(0) >= 0 && cells >= 0) {
    if (w.dim(0) < cells)
      return InvalidArgument("w must have a row for each input and cell, got {}", w);
    TRY(Agree(inputs, w.dim(0) - cells, "number of inputs"));
  }
  return OkStatus();
}

Status LstmShape::LearnInput(int64_t rows, int64_t columns) {
  TRY(Agree(batch, rows, "batch size"));
  return Agree(inputs, columns, "number of inputs");
}

namespace {

// The gates of one row of H floats each that lie one after the other, as w's columns do.
template <class Pointer>
kernels::LstmGateRow<Pointer> GateColumns(Pointer row, int64_t H, GateOrder order) {
  return {row, row + order.cell * H, row + order.forget * H, row + 3 * H};
}

// With peepholes, which are rare: by the definition.
void PeepForward(const LstmShape& shape, const LstmWeights& weights, float forget_bias,
                 float cell_clip, const float* cs_prev, const float* sums, const LstmGates& gates,
                 float* h, int64_t begin, int64_t end) {
  const int64_t H = shape.cells;
  for (int64_t at = begin * H; at < end * H; ++at) {
    const int64_t c = at % H;
    const float* row = sums + at / H * 4 * H;
    const auto gate = [&](int64_t g) { return row[g * H + c] + weights.b[g * H + c]; };
    const float before = cs_prev[at];
    const float i = math::Sigmoid(gate(0) + before * weights.wci[c]);
    const float f =
        math::Sigmoid(gate(weights.order.forget) + forget_bias + before * weights.wcf[c]);
    const float ci = math::Tanh(gate(weights.order.cell));
    float cs = ci * i + before * f;
    if (cell_clip > 0) cs = std::clamp(cs, -cell_clip, cell_clip);
    const float o = math::Sigmoid(gate(3) + cs * weights.wco[c]);
    const float co = math::Tanh(cs);
    gates.i[at] = i, gates.f[at] = f, gates.o[at] = o;
    gates.ci[at] = ci, gates.cs[at] = cs, gates.co[at] = co;
    h[at] = o * co;
  }
}

void PeepBackward(const LstmShape& shape, const LstmWeights& weights, const float* cs_prev,
                  const LstmGates& gates, const float* cs_grad, const float* h_grad,
                  float* gate_grads, float* cs_prev_grad, const LstmPeepholeGradients& peepholes) {
  const int64_t H = shape.cells;
  for (int64_t at = 0; at < shape.batch * H; ++at) {
    const int64_t c = at % H;
    float* row = gate_grads + at / H * 4 * H + c;
    const float i = gates.i[at], f = gates.f[at], o = gates.o[at];
    const float ci = gates.ci[at], co = gates.co[at];
    const float by_o = o * (1 - o) * h_grad[at] * co;
    const float by_cs = (1 - co * co) * h_grad[at] * o + cs_grad[at] + by_o * weights.wco[c];
    const float by_f = f * (1 - f) * by_cs * cs_prev[at];
    const float by_i = i * (1 - i) * by_cs * ci;
    row[0] = by_i;
    row[weights.order.cell * H] = (1 - ci * ci) * by_cs * i;
    row[weights.order.forget * H] = by_f;
    row[3 * H] = by_o;
    cs_prev_grad[at] = by_cs * f + by_i * weights.wci[c] + by_f * weights.wcf[c];
    peepholes.wci[c] += by_i * cs_prev[at];
    peepholes.wcf[c] += by_f * cs_prev[at];
    peepholes.wco[c] += by_o * gates.cs[at];
  }
}

}  // namespace

void LstmForward(const LstmShape& shape, const LstmWeights& weights, float forget_bias,
                 float cell_clip, const float* cs_prev, const float* sums, const LstmGates& gates,
                 float* h, const ParallelFor& each) {
  const int64_t H = shape.cells;
  each(shape.batch, 20.0 * static_cast<double>(H), [&](int64_t begin, int64_t end) {
    if (weights.use_peephole) {
      return PeepForward(shape, weights, forget_bias, cell_clip, cs_prev, sums, gates, h, begin,
                         end);
    }
    for (int64_t r = begin; r < end; ++r) {
      const int64_t at = r * H;
      kernels::LstmGates({H,
                          GateColumns(sums + 4 * at, H, weights.order),
                          GateColumns(weights.b, H, weights.order),
                          forget_bias,
                          cell_clip,
                          cs_prev + at,
                          {gates.i + at, gates.ci + at, gates.f + at, gates.o + at},
                          gates.cs + at,
                          gates.co + at,
                          h + at});
    }
  });
}

void LstmBackward(const LstmShape& shape, const LstmWeights& weights, const float* cs_prev,
                  const LstmGates& gates, const float* cs_grad, const float* h_grad,
                  float* gate_grads, float* cs_prev_grad, const LstmPeepholeGradients& peepholes,
                  const ParallelFor& each) {
  if (weights.use_peephole) {
    return PeepBackward(shape, weights, cs_prev, gates, cs_grad, h_grad, gate_grads, cs_prev_grad,
                        peepholes);
  }
  const int64_t H = shape.cells;
  each(shape.batch, 4.0 * static_cast<double>(H), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t at = r * H;
      kernels::LstmGatesGradient({H,
                                  {gates.i + at, gates.ci + at, gates.f + at, gates.o + at},
                                  gates.co + at,
                                  cs_prev + at,
                                  cs_grad + at,
                                  h_grad + at,
                                  GateColumns(gate_grads + 4 * at, H, weights.order),
                                  cs_prev_grad + at});
    }
  });
}

}  // namespace penstock::ops
