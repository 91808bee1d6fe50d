#pragma once

#include <array>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// One step of a gated recurrent unit, and its derivative:
//   r, u = sigmoid([x, h_prev] w_ru + b_ru),  c = tanh([x, r h_prev] w_c + b_c),
//   h = u h_prev + (1 - u) c.

namespace penstock::ops {

struct GRUBlockCell {
  static constexpr auto kName = "GRUBlockCell";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 200;
  using Num = TypeVar<"T", float>;
  using Sig =
      Signature<In<"x", Num>, In<"h_prev", Num>, In<"w_ru", Num>, In<"w_c", Num>, In<"b_ru", Num>,
                In<"b_c", Num>, Out<"r", Num>, Out<"u", Num>, Out<"c", Num>, Out<"h", Num>>;

  Result<std::array<Shape, 4>> InferShape(const Shape& x, const Shape& h_prev, const Shape& w_ru,
                                          const Shape& w_c, const Shape& b_ru,
                                          const Shape& b_c) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& h_prev, const Tensor& w_ru,
                    const Tensor& w_c, const Tensor& b_ru, const Tensor& b_c, Tensor& r, Tensor& u,
                    Tensor& c, Tensor& h) const;
};

struct GRUBlockCellGrad {
  static constexpr auto kName = "GRUBlockCellGrad";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 200;
  using Num = TypeVar<"T", float>;
  using Sig = Signature<In<"x", Num>, In<"h_prev", Num>, In<"w_ru", Num>, In<"w_c", Num>,
                        In<"b_ru", Num>, In<"b_c", Num>, In<"r", Num>, In<"u", Num>, In<"c", Num>,
                        In<"d_h", Num>, Out<"d_x", Num>, Out<"d_h_prev", Num>, Out<"d_c_bar", Num>,
                        Out<"d_r_bar_u_bar", Num>>;

  Result<std::array<Shape, 4>> InferShape(const Shape& x, const Shape& h_prev, const Shape& w_ru,
                                          const Shape& w_c, const Shape& b_ru, const Shape& b_c,
                                          const Shape& r, const Shape& u, const Shape& c,
                                          const Shape& d_h) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& h_prev, const Tensor& w_ru,
                    const Tensor& w_c, const Tensor& b_ru, const Tensor& b_c, const Tensor& r,
                    const Tensor& u, const Tensor& c, const Tensor& d_h, Tensor& d_x,
                    Tensor& d_h_prev, Tensor& d_c_bar, Tensor& d_r_bar_u_bar) const;
};

}  // namespace penstock::ops
