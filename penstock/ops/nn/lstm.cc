#include "penstock/ops/nn/lstm.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "penstock/kernels/gemm.h"
#include "penstock/ops/nn/lstm_step.h"
#include "penstock/ops/nn/widened.h"

namespace penstock::ops {
namespace {

// What each LSTM has besides its inputs over time.
template <class T>
struct LstmState {
  const T &cs_prev, &h_prev, &w, &wci, &wcf, &wco, &b;
};
using StateShapes = LstmState<Shape>;
using StateTensors = LstmState<Tensor>;

Status LearnState(LstmShape& shape, const StateShapes& s) {
  return shape.Learn(s.cs_prev, s.h_prev, s.w, s.wci, s.wcf, s.wco, s.b);
}

// The inputs are [batch, inputs] or, over `times`, [time, batch, inputs].
Result<LstmShape> Learn(const Shape& x, const StateShapes& state, int rank) {
  TRY(CheckRank(x, rank, "x"));
  LstmShape shape;
  TRY(LearnState(shape, state));
  if (x.has_rank()) TRY(shape.LearnInput(x.dim(rank - 2), x.dim(rank - 1)));
  return shape;
}
int64_t Times(const Shape& x) { return x.has_rank() ? x.dim(0) : Shape::kUnknownDim; }

// A size made of others: unknown where they are, or where it would not fit, which no full shape of
// weights can ask for.
int64_t Sized(std::optional<int64_t> size, int64_t from) {
  return from < 0 ? Shape::kUnknownDim : size.value_or(Shape::kUnknownDim);
}

Status CheckLike(const Shape& expected, std::initializer_list<const Shape*> shapes) {
  for (const Shape* shape : shapes) {
    if (expected.IsCompatibleWith(*shape)) continue;
    return InvalidArgument("expected gates and derivatives of shape {}, got {}", expected, *shape);
  }
  return OkStatus();
}

LstmShape ShapeOfWeights(const Tensor& w, const Tensor& cs_prev) {
  const int64_t cells = cs_prev.shape().dim(1);
  return {cs_prev.shape().dim(0), w.shape().dim(0) - cells, cells};
}

LstmWeights Weights(Widened& wide, const StateTensors& state, bool use_peephole, GateOrder order) {
  return {wide.In(state.w),
          wide.In(state.wci),
          wide.In(state.wcf),
          wide.In(state.wco),
          wide.In(state.b),
          use_peephole,
          order};
}

// The gates at time t of arrays over time.
LstmGates At(const LstmGates& g, int64_t offset) {
  return {g.i + offset, g.cs + offset, g.f + offset, g.o + offset, g.ci + offset, g.co + offset};
}

// Reads gates that a forward pass has written: LstmGates serves both, and nothing is written here.
LstmGates Read(Widened& wide, const Tensor& i, const Tensor& cs, const Tensor& f, const Tensor& o,
               const Tensor& ci, const Tensor& co) {
  const auto read = [&](const Tensor& gate) { return const_cast<float*>(wide.In(gate)); };
  return {read(i), read(cs), read(f), read(o), read(ci), read(co)};
}

struct GateTensors {
  Tensor &i, &cs, &f, &o, &ci, &co, &h;
};

Status CheckTimes(int64_t steps, int64_t times) {
  if (steps >= 0 && steps <= times) return OkStatus();
  return InvalidArgument("seq_len_max must be in [0, {}], got {}", times, steps);
}

Status Forward(CpuContext& context, int64_t steps, int64_t times, float forget_bias,
               float cell_clip, bool use_peephole, GateOrder order, const Tensor& x,
               const StateTensors& state, GateTensors out) {
  TRY(CheckTimes(steps, times));
  const LstmShape shape = ShapeOfWeights(state.w, state.cs_prev);
  const int64_t B = shape.batch, I = shape.inputs, H = shape.cells;
  Widened wide(context);
  const LstmWeights weights = Weights(wide, state, use_peephole, order);
  const float* inputs = wide.In(x);
  const float* cs_prev = wide.In(state.cs_prev);
  const float* h_prev = wide.In(state.h_prev);
  float* sums = wide.Room({steps * B, 4 * H});
  const LstmGates gates{wide.Out(out.i), wide.Out(out.cs), wide.Out(out.f),
                        wide.Out(out.o), wide.Out(out.ci), wide.Out(out.co)};
  float* h = wide.Out(out.h);
  TRY(wide.status());
  if (B == 0 || H == 0) return OkStatus();
  // What the inputs add to the sums of all steps is one product.
  kernels::Gemm<float>(false, false, steps * B, 4 * H, I, inputs, I, weights.w, 4 * H, sums, 4 * H,
                       0, context.parallel());
  for (int64_t t = 0; t < steps; ++t) {
    const int64_t at = t * B * H;
    kernels::Gemm<float>(false, false, B, 4 * H, H, t == 0 ? h_prev : h + at - B * H, H,
                         weights.w + I * 4 * H, 4 * H, sums + 4 * at, 4 * H, 1, context.parallel());
    LstmForward(shape, weights, forget_bias, cell_clip, t == 0 ? cs_prev : gates.cs + at - B * H,
                sums + 4 * at, At(gates, at), h + at, context.parallel());
  }
  const int64_t done = steps * B * H, rest = (times - steps) * B * H;
  for (float* array : {gates.i, gates.cs, gates.f, gates.o, gates.ci, gates.co, h}) {
    std::fill_n(array + done, rest, 0.0f);
  }
  wide.Store();
  return OkStatus();
}

// The derivatives that need no order of steps: one product each over all of them.
struct OverTimeGradients {
  float *x, *w, *b;
};
void OverTime(const LstmShape& shape, int64_t steps, const float* inputs, const float* first_h,
              const float* outputs, const float* w, const float* by_gates,
              const OverTimeGradients& by, const ParallelFor& each) {
  const int64_t B = shape.batch, I = shape.inputs, H = shape.cells, rows = steps * B;
  kernels::Gemm<float>(false, true, rows, I, 4 * H, by_gates, 4 * H, w, 4 * H, by.x, I, 0, each);
  kernels::Gemm<float>(true, false, I, 4 * H, rows, inputs, I, by_gates, 4 * H, by.w, 4 * H, 0,
                       each);
  // The state before each step: the first one's, then the outputs but the last.
  float* recurrent = by.w + I * 4 * H;
  kernels::Gemm<float>(true, false, H, 4 * H, B, first_h, H, by_gates, 4 * H, recurrent, 4 * H, 0,
                       each);
  if (steps > 1)
    kernels::Gemm<float>(true, false, H, 4 * H, rows - B, outputs, H, by_gates + B * 4 * H, 4 * H,
                         recurrent, 4 * H, 1, each);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < 4 * H; ++c) by.b[c] += by_gates[r * 4 * H + c];
  }
}

// The derivative over time, from the last step to the first.
template <class Op>
void SetGradients(const Op& op, Gradients& g, std::string_view gradient) {
  std::vector<Expr> inputs;
  for (int k = 0; k < 9; ++k) inputs.push_back(g.input(k));
  for (int k = 0; k < 7; ++k) inputs.push_back(g.output(k));
  inputs.push_back(g.dy(1));
  inputs.push_back(g.dy(6));
  const Expr terms = g.scope().Add(gradient, inputs, {{"use_peephole", op.use_peephole}});
  if (!terms.valid()) return;
  for (int k = 0; k < 8; ++k) g.Set(k + 1, terms.Output(k));
}

}  // namespace

Result<std::array<Shape, 7>> LSTMBlockCell::InferShape(const Shape& x, const Shape& cs_prev,
                                                       const Shape& h_prev, const Shape& w,
                                                       const Shape& wci, const Shape& wcf,
                                                       const Shape& wco, const Shape& b) const {
  TRY_ASSIGN(const LstmShape shape, Learn(x, {cs_prev, h_prev, w, wci, wcf, wco, b}, 2));
  std::array<Shape, 7> out;
  out.fill(Shape{shape.batch, shape.cells});
  return out;
}
Status LSTMBlockCell::ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& cs_prev,
                                 const Tensor& h_prev, const Tensor& w, const Tensor& wci,
                                 const Tensor& wcf, const Tensor& wco, const Tensor& b, Tensor& i,
                                 Tensor& cs, Tensor& f, Tensor& o, Tensor& ci, Tensor& co,
                                 Tensor& h) const {
  return Forward(context, 1, 1, forget_bias, cell_clip, use_peephole, kInputCellForgetOutput, x,
                 {cs_prev, h_prev, w, wci, wcf, wco, b}, {i, cs, f, o, ci, co, h});
}

Result<std::array<Shape, 5>> LSTMBlockCellGrad::InferShape(
    const Shape& x, const Shape& cs_prev, const Shape& h_prev, const Shape& w, const Shape& wci,
    const Shape& wcf, const Shape& wco, const Shape& b, const Shape& i, const Shape& cs,
    const Shape& f, const Shape& o, const Shape& ci, const Shape& co, const Shape& cs_grad,
    const Shape& h_grad) const {
  TRY_ASSIGN(const LstmShape shape, Learn(x, {cs_prev, h_prev, w, wci, wcf, wco, b}, 2));
  const Shape rows{shape.batch, shape.cells}, cells{shape.cells};
  TRY(CheckLike(rows, {&i, &cs, &f, &o, &ci, &co, &cs_grad, &h_grad}));
  const Shape gates{shape.batch, Sized(CheckedMul(4, shape.cells), shape.cells)};
  return std::array<Shape, 5>{rows, gates, cells, cells, cells};
}
Status LSTMBlockCellGrad::ComputeCpu(CpuContext& context, const Tensor&, const Tensor& cs_prev,
                                     const Tensor& h_prev, const Tensor& w, const Tensor& wci,
                                     const Tensor& wcf, const Tensor& wco, const Tensor& b,
                                     const Tensor& i, const Tensor& cs, const Tensor& f,
                                     const Tensor& o, const Tensor& ci, const Tensor& co,
                                     const Tensor& cs_grad, const Tensor& h_grad,
                                     Tensor& cs_prev_grad, Tensor& dicfo, Tensor& wci_grad,
                                     Tensor& wcf_grad, Tensor& wco_grad) const {
  const LstmShape shape = ShapeOfWeights(w, cs_prev);
  Widened wide(context);
  const LstmWeights weights =
      Weights(wide, {cs_prev, h_prev, w, wci, wcf, wco, b}, use_peephole, kInputCellForgetOutput);
  const LstmGates gates = Read(wide, i, cs, f, o, ci, co);
  const float* before = wide.In(cs_prev);
  const float* by_cs = wide.In(cs_grad);
  const float* by_h = wide.In(h_grad);
  const LstmPeepholeGradients peepholes{wide.Out(wci_grad), wide.Out(wcf_grad), wide.Out(wco_grad)};
  float* by_gates = wide.Out(dicfo);
  float* by_before = wide.Out(cs_prev_grad);
  TRY(wide.status());
  for (float* sum : {peepholes.wci, peepholes.wcf, peepholes.wco})
    std::fill_n(sum, shape.cells, 0.0f);
  LstmBackward(shape, weights, before, gates, by_cs, by_h, by_gates, by_before, peepholes,
               context.parallel());
  wide.Store();
  return OkStatus();
}

Result<std::array<Shape, 7>> BlockLSTM::InferShape(const Shape& seq_len_max, const Shape& x,
                                                   const Shape& cs_prev, const Shape& h_prev,
                                                   const Shape& w, const Shape& wci,
                                                   const Shape& wcf, const Shape& wco,
                                                   const Shape& b) const {
  TRY(CheckScalar(seq_len_max, "seq_len_max"));
  TRY_ASSIGN(const LstmShape shape, Learn(x, {cs_prev, h_prev, w, wci, wcf, wco, b}, 3));
  std::array<Shape, 7> out;
  out.fill(Shape{Times(x), shape.batch, shape.cells});
  return out;
}
void BlockLSTM::Gradient(Gradients& g) const { SetGradients(*this, g, "BlockLSTMGrad"); }
Status BlockLSTM::ComputeCpu(CpuContext& context, const Tensor& seq_len_max, const Tensor& x,
                             const Tensor& cs_prev, const Tensor& h_prev, const Tensor& w,
                             const Tensor& wci, const Tensor& wcf, const Tensor& wco,
                             const Tensor& b, Tensor& i, Tensor& cs, Tensor& f, Tensor& o,
                             Tensor& ci, Tensor& co, Tensor& h) const {
  return Forward(context, seq_len_max.scalar<int64_t>(), x.shape().dim(0), forget_bias, cell_clip,
                 use_peephole, kInputCellForgetOutput, x, {cs_prev, h_prev, w, wci, wcf, wco, b},
                 {i, cs, f, o, ci, co, h});
}

Result<std::array<Shape, 7>> BlockLSTMV2::InferShape(const Shape& seq_len_max, const Shape& x,
                                                     const Shape& cs_prev, const Shape& h_prev,
                                                     const Shape& w, const Shape& wci,
                                                     const Shape& wcf, const Shape& wco,
                                                     const Shape& b) const {
  TRY(CheckScalar(seq_len_max, "seq_len_max"));
  TRY_ASSIGN(const LstmShape shape, Learn(x, {cs_prev, h_prev, w, wci, wcf, wco, b}, 3));
  std::array<Shape, 7> out;
  out.fill(Shape{Times(x), shape.batch, shape.cells});
  return out;
}
void BlockLSTMV2::Gradient(Gradients& g) const { SetGradients(*this, g, "BlockLSTMGradV2"); }
Status BlockLSTMV2::ComputeCpu(CpuContext& context, const Tensor& seq_len_max, const Tensor& x,
                               const Tensor& cs_prev, const Tensor& h_prev, const Tensor& w,
                               const Tensor& wci, const Tensor& wcf, const Tensor& wco,
                               const Tensor& b, Tensor& i, Tensor& cs, Tensor& f, Tensor& o,
                               Tensor& ci, Tensor& co, Tensor& h) const {
  return Forward(context, seq_len_max.scalar<int64_t>(), x.shape().dim(0), 0, cell_clip,
                 use_peephole, kInputForgetCellOutput, x, {cs_prev, h_prev, w, wci, wcf, wco, b},
                 {i, cs, f, o, ci, co, h});
}

template <FixedString Name, bool v2>
Result<std::array<Shape, 8>> BlockLSTMGradOf<Name, v2>::InferShape(
    const Shape& seq_len_max, const Shape& x, const Shape& cs_prev, const Shape& h_prev,
    const Shape& w, const Shape& wci, const Shape& wcf, const Shape& wco, const Shape& b,
    const Shape& i, const Shape& cs, const Shape& f, const Shape& o, const Shape& ci,
    const Shape& co, const Shape& h, const Shape& cs_grad, const Shape& h_grad) const {
  TRY(CheckScalar(seq_len_max, "seq_len_max"));
  TRY_ASSIGN(const LstmShape shape, Learn(x, {cs_prev, h_prev, w, wci, wcf, wco, b}, 3));
  const Shape rows{shape.batch, shape.cells}, cells{shape.cells};
  const Shape over_time{Times(x), shape.batch, shape.cells};
  TRY(CheckLike(over_time, {&i, &cs, &f, &o, &ci, &co, &h, &cs_grad, &h_grad}));
  const int64_t four = Sized(CheckedMul(4, shape.cells), shape.cells);
  const int64_t joined =
      Sized(CheckedAdd(shape.inputs, shape.cells), std::min(shape.inputs, shape.cells));
  return std::array<Shape, 8>{Shape{Times(x), shape.batch, shape.inputs},
                              rows,
                              rows,
                              Shape{joined, four},
                              cells,
                              cells,
                              cells,
                              Shape{four}};
}
template <FixedString Name, bool v2>
Status BlockLSTMGradOf<Name, v2>::ComputeCpu(
    CpuContext& context, const Tensor& seq_len_max, const Tensor& x, const Tensor& cs_prev,
    const Tensor& h_prev, const Tensor& w, const Tensor& wci, const Tensor& wcf, const Tensor& wco,
    const Tensor& b, const Tensor& i, const Tensor& cs, const Tensor& f, const Tensor& o,
    const Tensor& ci, const Tensor& co, const Tensor& h, const Tensor& cs_grad,
    const Tensor& h_grad, Tensor& x_grad, Tensor& cs_prev_grad, Tensor& h_prev_grad, Tensor& w_grad,
    Tensor& wci_grad, Tensor& wcf_grad, Tensor& wco_grad, Tensor& b_grad) const {
  const int64_t steps = seq_len_max.scalar<int64_t>(), times = x.shape().dim(0);
  TRY(CheckTimes(steps, times));
  const LstmShape shape = ShapeOfWeights(w, cs_prev);
  const int64_t B = shape.batch, I = shape.inputs, H = shape.cells;
  Widened wide(context);
  const LstmWeights weights = Weights(wide, {cs_prev, h_prev, w, wci, wcf, wco, b}, use_peephole,
                                      v2 ? kInputForgetCellOutput : kInputCellForgetOutput);
  const LstmGates gates = Read(wide, i, cs, f, o, ci, co);
  const float *inputs = wide.In(x), *first_cs = wide.In(cs_prev), *first_h = wide.In(h_prev);
  const float *outputs = wide.In(h), *from_cs = wide.In(cs_grad), *from_h = wide.In(h_grad);
  float *by_x = wide.Out(x_grad), *by_w = wide.Out(w_grad), *by_b = wide.Out(b_grad);
  float *by_cs = wide.Out(cs_prev_grad), *by_h = wide.Out(h_prev_grad);
  const LstmPeepholeGradients peepholes{wide.Out(wci_grad), wide.Out(wcf_grad), wide.Out(wco_grad)};
  float *by_gates = wide.Room({steps * B, 4 * H}), *sum_h = wide.Room({B, H});
  TRY(wide.status());
  std::fill_n(by_x + steps * B * I, (times - steps) * B * I, 0.0f);
  std::fill_n(by_b, 4 * H, 0.0f);
  for (float* sum : {by_cs, by_h}) std::fill_n(sum, B * H, 0.0f);
  for (float* sum : {peepholes.wci, peepholes.wcf, peepholes.wco}) std::fill_n(sum, H, 0.0f);
  if (B == 0 || H == 0 || steps == 0) {
    std::fill_n(by_w, (I + H) * 4 * H, 0.0f);
    return wide.Store(), OkStatus();
  }
  const float* recurrent = weights.w + I * 4 * H;
  for (int64_t t = steps - 1; t >= 0; --t) {
    const int64_t at = t * B * H;
    // What comes from the output at this time, and from the next step.
    for (int64_t k = 0; k < B * H; ++k) {
      by_cs[k] += from_cs[at + k];
      sum_h[k] = from_h[at + k] + by_h[k];
    }
    LstmBackward(shape, weights, t == 0 ? first_cs : gates.cs + at - B * H, At(gates, at), by_cs,
                 sum_h, by_gates + 4 * at, by_cs, peepholes, context.parallel());
    kernels::Gemm<float>(false, true, B, H, 4 * H, by_gates + 4 * at, 4 * H, recurrent, 4 * H, by_h,
                         H, 0, context.parallel());
  }
  OverTime(shape, steps, inputs, first_h, outputs, weights.w, by_gates, {by_x, by_w, by_b},
           context.parallel());
  wide.Store();
  return OkStatus();
}

void RegisterLstm(Registrar& registrar) {
  registrar.AddAll<LSTMBlockCell, LSTMBlockCellGrad, BlockLSTM, BlockLSTMV2, BlockLSTMGrad,
                   BlockLSTMGradV2>();
}

}  // namespace penstock::ops
