#include "penstock/ops/nn/gru.h"

#include <algorithm>

#include "penstock/kernels/gemm.h"
#include "penstock/kernels/math.h"

// B rows of a batch, I inputs, H cells.

namespace penstock::ops {
namespace {

struct GruShape {
  int64_t batch = -1;
  int64_t inputs = -1;
  int64_t cells = -1;
};

Result<GruShape> Learn(const Shape& x, const Shape& h_prev, const Shape& w_ru, const Shape& w_c,
                       const Shape& b_ru, const Shape& b_c) {
  for (const Shape* matrix : {&x, &h_prev, &w_ru, &w_c})
    TRY(CheckRank(*matrix, 2, "x, h_prev and the weights"));
  TRY(CheckVector(b_ru, "b_ru"));
  TRY(CheckVector(b_c, "b_c"));
  GruShape shape;
  if (x.has_rank()) shape.batch = x.dim(0), shape.inputs = x.dim(1);
  if (h_prev.has_rank()) {
    if (shape.batch < 0) shape.batch = h_prev.dim(0);
    shape.cells = h_prev.dim(1);
  }
  const auto check = [](const Shape& got, const Shape& expected, std::string_view what) {
    if (expected.IsCompatibleWith(got)) return OkStatus();
    return InvalidArgument("expected {} of shape {}, got {}", what, expected, got);
  };
  const bool known = shape.cells >= 0;
  const auto sum = CheckedAdd(shape.inputs, shape.cells), twice = CheckedMul(2, shape.cells);
  if (!sum || !twice) return InvalidArgument("{} cells are too many", shape.cells);
  const int64_t joined = known && shape.inputs >= 0 ? *sum : -1;
  const int64_t two = known ? *twice : -1;
  TRY(check(h_prev, {shape.batch, shape.cells}, "h_prev"));
  TRY(check(w_ru, {joined, two}, "w_ru"));
  TRY(check(w_c, {joined, shape.cells}, "w_c"));
  TRY(check(b_ru, Shape{two}, "b_ru"));
  TRY(check(b_c, Shape{shape.cells}, "b_c"));
  return shape;
}

// [x, h] row by row, each element of h times that of `factor` where there is one.
void Join(const GruShape& s, const float* x, const float* h, const float* factor, float* joined) {
  for (int64_t row = 0; row < s.batch; ++row, joined += s.inputs + s.cells) {
    std::copy_n(x + row * s.inputs, s.inputs, joined);
    for (int64_t k = 0; k < s.cells; ++k) {
      const int64_t at = row * s.cells + k;
      joined[s.inputs + k] = h[at] * (factor == nullptr ? 1.0f : factor[at]);
    }
  }
}

}  // namespace

Result<std::array<Shape, 4>> GRUBlockCell::InferShape(const Shape& x, const Shape& h_prev,
                                                      const Shape& w_ru, const Shape& w_c,
                                                      const Shape& b_ru, const Shape& b_c) const {
  TRY_ASSIGN(const GruShape shape, Learn(x, h_prev, w_ru, w_c, b_ru, b_c));
  std::array<Shape, 4> out;
  out.fill(Shape{shape.batch, shape.cells});
  return out;
}

Status GRUBlockCell::ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& h_prev,
                                const Tensor& w_ru, const Tensor& w_c, const Tensor& b_ru,
                                const Tensor& b_c, Tensor& r, Tensor& u, Tensor& c,
                                Tensor& h) const {
  const int64_t B = x.shape().dim(0), I = x.shape().dim(1), H = h_prev.shape().dim(1);
  const GruShape shape{B, I, H};
  TRY_ASSIGN(Tensor joined_room, context.Allocate(DType::kFloat, Shape{B, I + H}));
  TRY_ASSIGN(Tensor sums_room, context.Allocate(DType::kFloat, Shape{B, 2 * H}));
  float *joined = joined_room.mutable_data<float>(), *sums = sums_room.mutable_data<float>();
  float *reset = r.mutable_data<float>(), *update = u.mutable_data<float>();
  float *candidate = c.mutable_data<float>(), *to = h.mutable_data<float>();
  const float* before = h_prev.data<float>();
  Join(shape, x.data<float>(), before, nullptr, joined);
  kernels::Gemm<float>(false, false, B, 2 * H, I + H, joined, I + H, w_ru.data<float>(), 2 * H,
                       sums, 2 * H, 0, context.parallel());
  for (int64_t at = 0; at < B * H; ++at) {
    const float* row = sums + at / H * 2 * H;
    const int64_t k = at % H;
    reset[at] = math::Sigmoid(row[k] + b_ru.data<float>()[k]);
    update[at] = math::Sigmoid(row[H + k] + b_ru.data<float>()[H + k]);
  }
  Join(shape, x.data<float>(), before, reset, joined);
  kernels::Gemm<float>(false, false, B, H, I + H, joined, I + H, w_c.data<float>(), H, candidate, H,
                       0, context.parallel());
  for (int64_t at = 0; at < B * H; ++at) {
    candidate[at] = math::Tanh(candidate[at] + b_c.data<float>()[at % H]);
    to[at] = update[at] * before[at] + (1 - update[at]) * candidate[at];
  }
  return OkStatus();
}

Result<std::array<Shape, 4>> GRUBlockCellGrad::InferShape(const Shape& x, const Shape& h_prev,
                                                          const Shape& w_ru, const Shape& w_c,
                                                          const Shape& b_ru, const Shape& b_c,
                                                          const Shape& r, const Shape& u,
                                                          const Shape& c, const Shape& d_h) const {
  TRY_ASSIGN(const GruShape shape, Learn(x, h_prev, w_ru, w_c, b_ru, b_c));
  const Shape rows{shape.batch, shape.cells};
  for (const Shape* gate : {&r, &u, &c, &d_h}) {
    if (rows.IsCompatibleWith(*gate)) continue;
    return InvalidArgument("expected r, u, c and d_h of shape {}, got {}", rows, *gate);
  }
  return std::array<Shape, 4>{Shape{shape.batch, shape.inputs}, rows, rows,
                              Shape{shape.batch, shape.cells < 0 ? -1 : 2 * shape.cells}};
}

Status GRUBlockCellGrad::ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& h_prev,
                                    const Tensor& w_ru, const Tensor& w_c, const Tensor&,
                                    const Tensor&, const Tensor& r, const Tensor& u,
                                    const Tensor& c, const Tensor& d_h, Tensor& d_x,
                                    Tensor& d_h_prev, Tensor& d_c_bar,
                                    Tensor& d_r_bar_u_bar) const {
  const int64_t B = x.shape().dim(0), I = x.shape().dim(1), H = h_prev.shape().dim(1);
  TRY_ASSIGN(Tensor room, context.Allocate(DType::kFloat, Shape{2, B, I + H}));
  float* by_reset = room.mutable_data<float>();  // by [x, r h_prev]
  float* by_joined = by_reset + B * (I + H);     // by [x, h_prev]
  const float *before = h_prev.data<float>(), *dh = d_h.data<float>();
  const float *reset = r.data<float>(), *update = u.data<float>(), *candidate = c.data<float>();
  float *by_c = d_c_bar.mutable_data<float>(), *by_ru = d_r_bar_u_bar.mutable_data<float>();
  for (int64_t at = 0; at < B * H; ++at) {
    const float gate = update[at];
    by_c[at] = dh[at] * (1 - gate) * (1 - candidate[at] * candidate[at]);
    by_ru[at / H * 2 * H + H + at % H] = dh[at] * (before[at] - candidate[at]) * gate * (1 - gate);
  }
  kernels::Gemm<float>(false, true, B, I + H, H, by_c, H, w_c.data<float>(), H, by_reset, I + H, 0,
                       context.parallel());
  for (int64_t at = 0; at < B * H; ++at) {
    const float pulled = by_reset[at / H * (I + H) + I + at % H];
    by_ru[at / H * 2 * H + at % H] = pulled * before[at] * reset[at] * (1 - reset[at]);
  }
  kernels::Gemm<float>(false, true, B, I + H, 2 * H, by_ru, 2 * H, w_ru.data<float>(), 2 * H,
                       by_joined, I + H, 0, context.parallel());
  for (int64_t at = 0; at < B * I; ++at) {
    const int64_t k = at / I * (I + H) + at % I;
    d_x.mutable_data<float>()[at] = by_joined[k] + by_reset[k];
  }
  for (int64_t at = 0; at < B * H; ++at) {
    const int64_t k = at / H * (I + H) + I + at % H;
    d_h_prev.mutable_data<float>()[at] =
        by_joined[k] + by_reset[k] * reset[at] + dh[at] * update[at];
  }
  return OkStatus();
}

void RegisterGru(Registrar& registrar) { registrar.AddAll<GRUBlockCell, GRUBlockCellGrad>(); }

}  // namespace penstock::ops
