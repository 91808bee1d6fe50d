#pragma once

#include <array>
#include <tuple>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// Long short-term memories: one step (LSTMBlockCell), or a step for each of seq_len_max times of an
// array of inputs [time, batch, inputs] (BlockLSTM). After them all is 0. V2 has its gates in
// another order and no forget_bias. Outputs are the gates i, f, o, the cells' input ci, state cs
// and output co = tanh(cs), and h = o co. Derivatives do not see the clipping of the state.

namespace penstock::ops {

using LstmType = TypeVar<"T", half, float>;

struct LSTMBlockCell {
  static constexpr auto kName = "LSTMBlockCell";
  static constexpr double kCost = 200;
  static constexpr bool kNoGradient = true;
  float forget_bias = 1;
  float cell_clip = 3;
  bool use_peephole = false;
  using Sig =
      Signature<In<"x", LstmType>, In<"cs_prev", LstmType>, In<"h_prev", LstmType>,
                In<"w", LstmType>, In<"wci", LstmType>, In<"wcf", LstmType>, In<"wco", LstmType>,
                In<"b", LstmType>, Out<"i", LstmType>, Out<"cs", LstmType>, Out<"f", LstmType>,
                Out<"o", LstmType>, Out<"ci", LstmType>, Out<"co", LstmType>, Out<"h", LstmType>>;
  static constexpr std::tuple kAttrs{Field{"forget_bias", &LSTMBlockCell::forget_bias},
                                     Field{"cell_clip", &LSTMBlockCell::cell_clip},
                                     Field{"use_peephole", &LSTMBlockCell::use_peephole}};

  Result<std::array<Shape, 7>> InferShape(const Shape& x, const Shape& cs_prev, const Shape& h_prev,
                                          const Shape& w, const Shape& wci, const Shape& wcf,
                                          const Shape& wco, const Shape& b) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& cs_prev,
                    const Tensor& h_prev, const Tensor& w, const Tensor& wci, const Tensor& wcf,
                    const Tensor& wco, const Tensor& b, Tensor& i, Tensor& cs, Tensor& f, Tensor& o,
                    Tensor& ci, Tensor& co, Tensor& h) const;
};

struct LSTMBlockCellGrad {
  static constexpr auto kName = "LSTMBlockCellGrad";
  static constexpr double kCost = 60;
  static constexpr bool kNoGradient = true;
  bool use_peephole = false;
  using Sig =
      Signature<In<"x", LstmType>, In<"cs_prev", LstmType>, In<"h_prev", LstmType>,
                In<"w", LstmType>, In<"wci", LstmType>, In<"wcf", LstmType>, In<"wco", LstmType>,
                In<"b", LstmType>, In<"i", LstmType>, In<"cs", LstmType>, In<"f", LstmType>,
                In<"o", LstmType>, In<"ci", LstmType>, In<"co", LstmType>, In<"cs_grad", LstmType>,
                In<"h_grad", LstmType>, Out<"cs_prev_grad", LstmType>, Out<"dicfo", LstmType>,
                Out<"wci_grad", LstmType>, Out<"wcf_grad", LstmType>, Out<"wco_grad", LstmType>>;
  static constexpr std::tuple kAttrs{
      Field{"use_peephole", &LSTMBlockCellGrad::use_peephole}.Required()};

  Result<std::array<Shape, 5>> InferShape(const Shape& x, const Shape& cs_prev, const Shape& h_prev,
                                          const Shape& w, const Shape& wci, const Shape& wcf,
                                          const Shape& wco, const Shape& b, const Shape& i,
                                          const Shape& cs, const Shape& f, const Shape& o,
                                          const Shape& ci, const Shape& co, const Shape& cs_grad,
                                          const Shape& h_grad) const;
  Status ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& cs_prev,
                    const Tensor& h_prev, const Tensor& w, const Tensor& wci, const Tensor& wcf,
                    const Tensor& wco, const Tensor& b, const Tensor& i, const Tensor& cs,
                    const Tensor& f, const Tensor& o, const Tensor& ci, const Tensor& co,
                    const Tensor& cs_grad, const Tensor& h_grad, Tensor& cs_prev_grad,
                    Tensor& dicfo, Tensor& wci_grad, Tensor& wcf_grad, Tensor& wco_grad) const;
};

struct BlockLSTM {
  static constexpr auto kName = "BlockLSTM";
  static constexpr double kCost = 400;
  float forget_bias = 1;
  float cell_clip = 3;
  bool use_peephole = false;
  using Sig =
      Signature<In<"seq_len_max", int64_t>, In<"x", LstmType>, In<"cs_prev", LstmType>,
                In<"h_prev", LstmType>, In<"w", LstmType>, In<"wci", LstmType>, In<"wcf", LstmType>,
                In<"wco", LstmType>, In<"b", LstmType>, Out<"i", LstmType>, Out<"cs", LstmType>,
                Out<"f", LstmType>, Out<"o", LstmType>, Out<"ci", LstmType>, Out<"co", LstmType>,
                Out<"h", LstmType>>;
  static constexpr std::tuple kAttrs{Field{"forget_bias", &BlockLSTM::forget_bias},
                                     Field{"cell_clip", &BlockLSTM::cell_clip},
                                     Field{"use_peephole", &BlockLSTM::use_peephole}};

  Result<std::array<Shape, 7>> InferShape(const Shape& seq_len_max, const Shape& x,
                                          const Shape& cs_prev, const Shape& h_prev, const Shape& w,
                                          const Shape& wci, const Shape& wcf, const Shape& wco,
                                          const Shape& b) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& seq_len_max, const Tensor& x,
                    const Tensor& cs_prev, const Tensor& h_prev, const Tensor& w, const Tensor& wci,
                    const Tensor& wcf, const Tensor& wco, const Tensor& b, Tensor& i, Tensor& cs,
                    Tensor& f, Tensor& o, Tensor& ci, Tensor& co, Tensor& h) const;
};

struct BlockLSTMV2 {
  static constexpr auto kName = "BlockLSTMV2";
  static constexpr double kCost = 400;
  float cell_clip = 0;
  bool use_peephole = false;
  using Sig =
      Signature<In<"seq_len_max", int64_t>, In<"x", LstmType>, In<"cs_prev", LstmType>,
                In<"h_prev", LstmType>, In<"w", LstmType>, In<"wci", LstmType>, In<"wcf", LstmType>,
                In<"wco", LstmType>, In<"b", LstmType>, Out<"i", LstmType>, Out<"cs", LstmType>,
                Out<"f", LstmType>, Out<"o", LstmType>, Out<"ci", LstmType>, Out<"co", LstmType>,
                Out<"h", LstmType>>;
  static constexpr std::tuple kAttrs{Field{"cell_clip", &BlockLSTMV2::cell_clip},
                                     Field{"use_peephole", &BlockLSTMV2::use_peephole}};

  Result<std::array<Shape, 7>> InferShape(const Shape& seq_len_max, const Shape& x,
                                          const Shape& cs_prev, const Shape& h_prev, const Shape& w,
                                          const Shape& wci, const Shape& wcf, const Shape& wco,
                                          const Shape& b) const;
  void Gradient(Gradients& g) const;
  Status ComputeCpu(CpuContext& context, const Tensor& seq_len_max, const Tensor& x,
                    const Tensor& cs_prev, const Tensor& h_prev, const Tensor& w, const Tensor& wci,
                    const Tensor& wcf, const Tensor& wco, const Tensor& b, Tensor& i, Tensor& cs,
                    Tensor& f, Tensor& o, Tensor& ci, Tensor& co, Tensor& h) const;
};

// Both versions of the derivative differ in the order of the gates alone.
template <FixedString Name, bool v2>
struct BlockLSTMGradOf {
  static constexpr auto kName = Name.view();
  static constexpr double kCost = 400;
  static constexpr bool kNoGradient = true;
  bool use_peephole = false;
  using Sig =
      Signature<In<"seq_len_max", int64_t>, In<"x", LstmType>, In<"cs_prev", LstmType>,
                In<"h_prev", LstmType>, In<"w", LstmType>, In<"wci", LstmType>, In<"wcf", LstmType>,
                In<"wco", LstmType>, In<"b", LstmType>, In<"i", LstmType>, In<"cs", LstmType>,
                In<"f", LstmType>, In<"o", LstmType>, In<"ci", LstmType>, In<"co", LstmType>,
                In<"h", LstmType>, In<"cs_grad", LstmType>, In<"h_grad", LstmType>,
                Out<"x_grad", LstmType>, Out<"cs_prev_grad", LstmType>,
                Out<"h_prev_grad", LstmType>, Out<"w_grad", LstmType>, Out<"wci_grad", LstmType>,
                Out<"wcf_grad", LstmType>, Out<"wco_grad", LstmType>, Out<"b_grad", LstmType>>;
  static constexpr std::tuple kAttrs{
      Field{"use_peephole", &BlockLSTMGradOf::use_peephole}.Required()};

  Result<std::array<Shape, 8>> InferShape(const Shape& seq_len_max, const Shape& x,
                                          const Shape& cs_prev, const Shape& h_prev, const Shape& w,
                                          const Shape& wci, const Shape& wcf, const Shape& wco,
                                          const Shape& b, const Shape& i, const Shape& cs,
                                          const Shape& f, const Shape& o, const Shape& ci,
                                          const Shape& co, const Shape& h, const Shape& cs_grad,
                                          const Shape& h_grad) const;
  Status ComputeCpu(CpuContext& context, const Tensor& seq_len_max, const Tensor& x,
                    const Tensor& cs_prev, const Tensor& h_prev, const Tensor& w, const Tensor& wci,
                    const Tensor& wcf, const Tensor& wco, const Tensor& b, const Tensor& i,
                    const Tensor& cs, const Tensor& f, const Tensor& o, const Tensor& ci,
                    const Tensor& co, const Tensor& h, const Tensor& cs_grad, const Tensor& h_grad,
                    Tensor& x_grad, Tensor& cs_prev_grad, Tensor& h_prev_grad, Tensor& w_grad,
                    Tensor& wci_grad, Tensor& wcf_grad, Tensor& wco_grad, Tensor& b_grad) const;
};

using BlockLSTMGrad = BlockLSTMGradOf<"BlockLSTMGrad", false>;
using BlockLSTMGradV2 = BlockLSTMGradOf<"BlockLSTMGradV2", true>;

}  // namespace penstock::ops
