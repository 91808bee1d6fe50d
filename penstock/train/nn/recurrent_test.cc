#include "penstock/train/nn/recurrent.h"

#include "penstock/train/nn/nn.h"
#include "penstock/train/testing/layer_values.h"

// Expected values were recorded from PyTorch 2 on the same waves: 2 entries, 4 steps, 3 features, 2
// units.

namespace penstock::nn {
namespace {

using namespace testing;
using Floats = std::vector<float>;

const Floats kLstm{0.090099,  -0.132992, -0.079816, -0.209286, -0.219088, 0.006089,
                   -0.171113, 0.108453,  0.136216,  0.158664,  0.185969,  0.199988,
                   0.167262,  0.066034,  0.065477,  0.007665};
const Floats kLstmCells{-0.290784, 0.422217, 0.081774, 0.01396};
const Floats kGru{-0.202755, 0.276543,  -0.619056, 0.523904,  -0.589791, 0.043365,
                  -0.101545, -0.403044, 0.201122,  -0.113314, 0.216344,  0.139722,
                  -0.255105, 0.425429,  -0.535972, 0.042878};

RecurrentOptions Waves(bool sequences) {
  return {.sequences = sequences, .kernel = WaveInit(1), .recurrent_kernel = WaveInit(2)};
}

// Row t of each of two entries of [2, 4, 2].
Floats StepOf(const Floats& all, size_t t) {
  return {all[t * 2], all[t * 2 + 1], all[8 + t * 2], all[8 + t * 2 + 1]};
}

TEST(LSTM, AgreesWithPyTorch) {
  Graph g;
  const auto x = Constant(g, WaveOf({2, 4, 3}, 0));
  const LSTM layer{2, Waves(true)};
  const auto y = layer(x);
  EXPECT_EQ(y.shape(), (Shape{2, 4, 2}));
  EXPECT_EQ(VariableNames(g),
            (std::vector<std::string>{"lstm/lstm_cell/kernel", "lstm/lstm_cell/recurrent_kernel",
                                      "lstm/lstm_cell/bias"}));
  ExpectNear(Evaluate(g, y), kLstm);
  const auto steps = layer.Run(x, {});
  ExpectNear(Evaluate(g, steps.state[0]), StepOf(kLstm, 3));
  ExpectNear(Evaluate(g, steps.state[1]), kLstmCells);
  ExpectGradientsReachAll(g, y);
}

TEST(LSTM, TheLastOutputIsTheDefault) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, -1, 3});
  const auto y = LSTM{2, Waves(false)}(x);
  EXPECT_EQ(y.shape(), (Shape{-1, 2}));
  const Operation init = InitVariables(g);
  Session session(g);
  session.Run(init);
  ExpectNear(session.Run({{x, WaveOf({2, 4, 3}, 0)}}, y), StepOf(kLstm, 3));
}

TEST(GRU, AgreesWithPyTorchUnrolledAndInALoop) {
  for (const Shape& known : {Shape{2, 4, 3}, Shape{-1, -1, 3}}) {
    Graph g;
    const auto x = Placeholder<float>(g, known);
    const auto y = GRU{2, Waves(true)}(x);
    EXPECT_EQ(y.shape(), (Shape{known[0], known[1], 2}));
    EXPECT_EQ(VariableNames(g),
              (std::vector<std::string>{"gru/gru_cell/kernel", "gru/gru_cell/recurrent_kernel",
                                        "gru/gru_cell/bias"}));
    const Operation init = InitVariables(g);
    Session session(g);
    session.Run(init);
    ExpectNear(session.Run({{x, WaveOf({2, 4, 3}, 0)}}, y), kGru);
  }
}

TEST(GRU, HasGradientsUnrolledAndInALoop) {
  for (const int64_t time : {5, 30}) {  // the second is longer than what is unrolled
    Graph g;
    const auto x = Constant(g, WaveOf({2, time, 3}, 0));
    ExpectGradientsReachAll(g, GRU{2, Waves(true)}(x));
  }
}

// What holds for any of them: the sequence in pieces, time first, reversed, and of given lengths.
template <class L>
void ExpectFollowsOptions(const Floats& whole) {
  Graph g;
  const Array<float> in = WaveOf({2, 4, 3}, 0);
  const auto x = Constant(g, in);
  const L layer{2, Waves(true)};
  const auto first = layer.Run(Slice(x, {0, 0, 0}, {2, 1, 3}), {});
  const auto rest = layer.Run(Slice(x, {0, 1, 0}, {2, 3, 3}), {.state = first.state});
  ExpectNear(Evaluate(g, rest.state[0]), StepOf(whole, 3));

  RecurrentOptions time_major = Waves(true);
  time_major.time_major = true;
  Floats by_time;
  for (size_t t = 0; t < 4; ++t)
    for (const float v : StepOf(whole, t)) by_time.push_back(v);
  Floats in_by_time;
  for (int64_t t = 0; t < 4; ++t)
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t f = 0; f < 3; ++f) in_by_time.push_back(in(b, t, f));
  const auto swapped = L{2, time_major}(Constant(g, Array<float>({4, 2, 3}, in_by_time)));
  ExpectNear(Evaluate(g, swapped), by_time);

  // The second entry has two steps: zeros follow, and its state is that of the second.
  const auto lengths = Constant(g, Array<int32_t>(std::vector<int32_t>{4, 2}));
  const auto short_run = layer.Run(x, {.lengths = lengths});
  Floats cut = whole;
  std::fill(cut.begin() + 12, cut.end(), 0.f);
  ExpectNear(Evaluate(g, short_run.output), cut);
  ExpectNear(Evaluate(g, short_run.state[0]), {whole[6], whole[7], whole[10], whole[11]});
  const auto none =
      layer.Run(x, {.lengths = Constant(g, Array<int32_t>(std::vector<int32_t>{4, 0}))});
  ExpectNear(Evaluate(g, none.state[0]), {whole[6], whole[7], 0, 0});
}
TEST(LSTM, FollowsItsOptions) { ExpectFollowsOptions<LSTM>(kLstm); }
TEST(GRU, FollowsItsOptions) { ExpectFollowsOptions<GRU>(kGru); }

TEST(Recurrent, ReversedGoesFromTheEnd) {
  Graph g;
  const Array<float> in = WaveOf({2, 4, 3}, 0);
  Floats mirrored;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t t = 3; t >= 0; --t)
      for (int64_t f = 0; f < 3; ++f) mirrored.push_back(in(b, t, f));
  RecurrentOptions reversed = Waves(true);
  reversed.reversed = true;
  const auto x = Constant(g, Array<float>({2, 4, 3}, mirrored));
  Floats want;  // the outputs of the wave itself, in the order of x
  for (size_t b = 0; b < 2; ++b)
    for (size_t t = 4; t-- > 0;)
      for (size_t u = 0; u < 2; ++u) want.push_back(kLstm[b * 8 + t * 2 + u]);
  ExpectNear(Evaluate(g, LSTM{2, reversed}(x)), want);
  const auto lengths = Constant(g, Array<int32_t>(std::vector<int32_t>{4, 4}));
  ExpectNear(Evaluate(g, LSTM{2, reversed}.Run(x, {.lengths = lengths}).output), want);
}

TEST(Bidirectional, JoinsBothDirections) {
  Graph g;
  const auto x = Constant(g, WaveOf({2, 4, 3}, 0));
  RecurrentOptions reversed = Waves(true);
  reversed.reversed = true;
  const Floats back = Evaluate(g, LSTM{2, reversed}(x)).ToVector();
  Graph h;
  const auto y = Bidirectional{LSTM{2, Waves(true)}}(Constant(h, WaveOf({2, 4, 3}, 0)));
  EXPECT_EQ(VariableNames(h)[0], "bidirectional/forward_lstm/lstm_cell/kernel");
  EXPECT_EQ(VariableNames(h)[3], "bidirectional/backward_lstm/lstm_cell/kernel");
  Floats want, sum;
  for (size_t i = 0; i < 16; i += 2) {
    want.insert(want.end(), {kLstm[i], kLstm[i + 1], back[i], back[i + 1]});
    sum.insert(sum.end(), {kLstm[i] + back[i], kLstm[i + 1] + back[i + 1]});
  }
  ExpectNear(Evaluate(h, y), want);
  ExpectGradientsReachAll(h, y);
  ExpectNear(Evaluate(g, (Bidirectional{LSTM{2, Waves(true)}, Merge::kSum}(x))), sum);
  EXPECT_EQ((Bidirectional{GRU{5}}(x).shape()), (Shape{2, 10}));
  const auto lengths = Constant(g, Array<int32_t>(std::vector<int32_t>{4, 2}));
  EXPECT_EQ((Bidirectional{GRU{5}}.Run(x, lengths).shape()), (Shape{2, 10}));
}

TEST(Recurrent, RefusesWhatItCannotUse) {
  Graph g;
  const auto x = Placeholder<float>(g, {-1, 4, 3});
  ExpectError([] { LSTM{0}; }, {"LSTM", "units"});
  ExpectError([] { GRU{int64_t{1} << 40}; }, {"GRU", "too large"});
  ExpectError(
      [&] {
        LSTM{2}(Placeholder<float>(g, {-1, 3}));
      },
      {"lstm", "[batch, time, features]"});
  ExpectError([&] { LSTM{2}(Placeholder<float>(g, {-1, 4, -1})); }, {"known"});
  ExpectError(
      [&] {
        LSTM{2}.Run(x, {.state = {Constant(g, Shape{2, 2}, 0.f)}});
      },
      {"lstm", "2 states", "got 1"});
  ExpectError(
      [&] {
        GRU{2}.Run(x, {.state = {Constant(g, Shape{2, 3}, 0.f)}});
      },
      {"gru", "[batch,2]", "[2,3]"});
  ExpectError([&] { GRU{2}.Run(x, {.lengths = Constant<int32_t>(g, 3)}); }, {"gru", "lengths"});
}

}  // namespace
}  // namespace penstock::nn
