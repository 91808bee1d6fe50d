#include "penstock/ops/nn/ctc.h"
#include "penstock/ops/nn/gru.h"
#include "penstock/ops/nn/lstm.h"
#include "penstock/ops/testing/rows.h"

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;

// B = 2, I = 3, H = 2.
Row Cell(Row row, int64_t bias = 8) {
  return row.Inputs(Uniform({2, 3}), Uniform({2, 2}), Uniform({2, 2}), Uniform({5, 8}),
                    Uniform({2}), Uniform({2}), Uniform({2}), Uniform({bias}));
}
Row Block(Row row, int64_t steps, int64_t cells = 2) {
  return row.Inputs(Scalar<int64_t>(steps), Uniform({3, 2, 3}), Uniform({2, cells}),
                    Uniform({2, 2}), Uniform({5, 8}), Uniform({2}), Uniform({2}), Uniform({2}),
                    Uniform({8}));
}
Row BlockGrad(Row row, int64_t steps, int64_t times = 3) {
  const Value gate = Uniform({3, 2, 2});
  return row.Inputs(Scalar<int64_t>(steps), Uniform({3, 2, 3}), Uniform({2, 2}), Uniform({2, 2}),
                    Uniform({5, 8}), Uniform({2}), Uniform({2}), Uniform({2}), Uniform({8}), gate,
                    gate, gate, gate, gate, gate, gate, gate, Uniform({times, 2, 2}));
}
Row CellGrad(Row row, int64_t cells) {
  const Value gate = Uniform({2, 2});
  return row.Inputs(Uniform({2, 3}), Uniform({2, 2}), Uniform({2, 2}), Uniform({5, 8}),
                    Uniform({2}), Uniform({2}), Uniform({2}), Uniform({8}), gate, gate, gate, gate,
                    gate, gate, gate, Uniform({2, cells}));
}

const OpRows kLstmRows{
    Cell(Row(LSTMBlockCell{.use_peephole = true})),
    Row(LSTMBlockCell{.forget_bias = 0})
        .Inputs(Values<float>({1, 1}, {0}), Values<float>({1, 1}, {1}), Values<float>({1, 1}, {0}),
                Uniform({2, 4}), Uniform({1}), Uniform({1}), Uniform({1}),
                Vector<float>({0, 0, 0, 0}))
        .Expect(Values<float>({1, 1}, {0.5}), Values<float>({1, 1}, {0.5}),
                Values<float>({1, 1}, {0.5}), Values<float>({1, 1}, {0.5}),
                Values<float>({1, 1}, {0}), Values<float>({1, 1}, {0.46211716f}),
                Values<float>({1, 1}, {0.23105858f})),
    Cell(Row(LSTMBlockCell{}), 7).Fails(kBad, "7"),
    Cell(Row(LSTMBlockCell{}), 12).Fails(kBad, "number of cells"),
    Block(Row(BlockLSTM{.use_peephole = true}), 3),
    Block(Row(BlockLSTM{}), 1).Named("one_step"),
    Block(Row(BlockLSTM{}), 4).Fails(kBad, "got 4"),
    Block(Row(BlockLSTM{}), 3, 5).Fails(kBad, "number of cells"),
    Block(Row(BlockLSTMV2{.cell_clip = 0.1f}), 2),
    Block(Row(BlockLSTMV2{}), -1).Fails(kBad, "got -1"),
    Block(Row(BlockLSTMV2{}), 3, 1).Fails(kBad, "number of cells"),
    CellGrad(Row(LSTMBlockCellGrad{.use_peephole = true}), 2),
    CellGrad(Row(LSTMBlockCellGrad{}), 3).Fails(kBad, ",3]"),
    Row(LSTMBlockCellGrad{})
        .Inputs(Uniform({3}), Uniform({2, 2}), Uniform({2, 2}), Uniform({5, 8}), Uniform({2}),
                Uniform({2}), Uniform({2}), Uniform({8}), Uniform({2, 2}), Uniform({2, 2}),
                Uniform({2, 2}), Uniform({2, 2}), Uniform({2, 2}), Uniform({2, 2}), Uniform({2, 2}),
                Uniform({2, 2}))
        .Fails(kBad, "rank 2"),
    BlockGrad(Row(BlockLSTMGrad{true}), 2),
    BlockGrad(Row(BlockLSTMGrad{}), 9).Fails(kBad, "got 9"),
    BlockGrad(Row(BlockLSTMGrad{}), 3, 1).Fails(kBad, "got [1,2,2]"),
    BlockGrad(Row(BlockLSTMGradV2{}), 3),
    BlockGrad(Row(BlockLSTMGradV2{}), -9).Fails(kBad, "got -9"),
    BlockGrad(Row(BlockLSTMGradV2{}), 3, 2).Fails(kBad, "got [2,2,2]"),
};

const OpRows kGruRows{
    Row(GRUBlockCell{})
        .Inputs(Values<float>({1, 1}, {0}), Values<float>({1, 1}, {2}),
                Values<float>({2, 2}, {0, 0, 0, 0}), Values<float>({2, 1}, {0, 0}),
                Vector<float>({0, 0}), Vector<float>({0}))
        .Expect(Values<float>({1, 1}, {0.5}), Values<float>({1, 1}, {0.5}),
                Values<float>({1, 1}, {0}), Values<float>({1, 1}, {1})),
    Row(GRUBlockCell{})
        .Inputs(Uniform({2, 3}), Uniform({2, 4}), Uniform({7, 8}), Uniform({7, 4}), Uniform({8}),
                Uniform({5}))
        .Fails(kBad, "b_c"),
    Row(GRUBlockCell{})
        .Inputs(Uniform({2, 3}), Uniform({3, 4}), Uniform({7, 8}), Uniform({7, 4}), Uniform({8}),
                Uniform({4}))
        .Fails(kBad, "h_prev"),
    Row(GRUBlockCellGrad{})
        .Inputs(Uniform({2, 3}), Uniform({2, 4}), Uniform({7, 8}), Uniform({7, 4}), Uniform({8}),
                Uniform({4}), Uniform({2, 4}), Uniform({2, 4}), Uniform({2, 4}), Uniform({2, 4})),
    Row(GRUBlockCellGrad{})
        .Inputs(Uniform({2, 3}), Uniform({2, 4}), Uniform({7, 8}), Uniform({7, 4}), Uniform({8}),
                Uniform({4}), Uniform({2, 4}), Uniform({2, 4}), Uniform({2, 4}), Uniform({2, 5}))
        .Fails(kBad, ",5]"),
    Row(GRUBlockCellGrad{})
        .Inputs(Uniform({2, 3}), Uniform({2, 4}), Uniform({6, 8}), Uniform({7, 4}), Uniform({8}),
                Uniform({4}), Uniform({2, 4}), Uniform({2, 4}), Uniform({2, 4}), Uniform({2, 4}))
        .Fails(kBad, "w_ru"),
};

Row Loss(CTCLoss op, std::initializer_list<int32_t> labels, int32_t length) {
  const auto n = static_cast<int64_t>(labels.size());
  Tensor places(DType::kInt64, Shape{n, 2});
  for (int64_t i = 0; i < n; ++i) {
    places.mutable_data<int64_t>()[2 * i] = 0;
    places.mutable_data<int64_t>()[2 * i + 1] = i;
  }
  return Row(op).Inputs(
      Uniform({4, 1, 3}), [places](uint64_t) { return places; }, Vector<int32_t>(labels),
      Vector<int32_t>({length}));
}

// Differences of the loss alone would confirm its derivative; here its output counts too.
const OpRows kCtcRows{
    Loss(CTCLoss{}, {0, 1}, 4).NoGradient(),
    Loss(CTCLoss{}, {1, 1}, 3).NoGradient().Named("repeated"),
    Loss(CTCLoss{.ignore_longer_outputs_than_inputs = true}, {0, 1, 0}, 2)
        .NoGradient()
        .Named("too_long"),
    Row(CTCLoss{})
        .Inputs(Values<float>({1, 1, 2}, {0, 0}), Values<int64_t>({1, 2}, {0, 0}),
                Vector<int32_t>({0}), Vector<int32_t>({1}))
        .Expect(Vector<float>({0.6931472f}), Values<float>({1, 1, 2}, {-0.5, 0.5}))
        .NoGradient(),
    Loss(CTCLoss{}, {0, 1, 0}, 2).Fails(kBad, "required: 3, available: 2"),
    Loss(CTCLoss{}, {0}, 5).Fails(kBad, "got 5"),
    Loss(CTCLoss{}, {0, -1}, 4).Fails(kBad, "got -1"),
    Loss(CTCLoss{}, {2, 1}, 4).Fails(kBad, "after a blank"),
    Loss(CTCLoss{}, {}, 4).Fails(kBad, "zero in batch 0"),
    Row(CTCLoss{})
        .Inputs(Uniform({4, 1, 3}), Values<int64_t>({1, 2}, {1, 0}), Vector<int32_t>({0}),
                Vector<int32_t>({4}))
        .Fails(kBad, "out of bounds"),
    Row(CTCGreedyDecoder{.merge_repeated = true})
        .Inputs(Values<float>({3, 1, 3}, {5, 0, 0, 4, 0, 0, 0, 3, 0}), Vector<int32_t>({3}))
        .Expect(Values<int64_t>({2, 2}, {0, 0, 0, 1}), Vector<int64_t>({0, 1}),
                Vector<int64_t>({1, 2}), Values<float>({1, 1}, {-12})),
    Row(CTCGreedyDecoder{})
        .Inputs(Uniform({3, 2, 3}), Vector<int32_t>({4, 1}))
        .Fails(kBad, "got 4"),
    Row(CTCBeamSearchDecoder{.beam_width = 2, .top_paths = 1})
        .Inputs(Values<float>({2, 1, 2}, {9, 0, 0, 9}), Vector<int32_t>({2})),
    Row(CTCBeamSearchDecoder{.beam_width = 2, .top_paths = 3})
        .Inputs(Uniform({2, 1, 2}), Vector<int32_t>({2}))
        .Fails(kBad, "got 3"),
    Row(CTCBeamSearchDecoder{.beam_width = 2, .top_paths = 2})
        .Inputs(Uniform({2, 1, 2}), Vector<int32_t>({0}))
        .Fails(kBad, "found 1 paths"),
    Row(CTCGreedyDecoder{.blank_index = 3})
        .Inputs(Uniform({3, 1, 3}), Vector<int32_t>({3}))
        .Fails(kBad, "was 3"),
};

}  // namespace
}  // namespace penstock::rows
