#include "penstock/kernels/random.h"

#include <limits>
#include <thread>

#include "penstock/ops/random/candidates.h"
#include "penstock/ops/random/draws.h"
#include "penstock/ops/random/fill.h"
#include "penstock/ops/random/generator.h"
#include "penstock/ops/random/parameterized.h"
#include "penstock/ops/state/testing/state_fixture.h"
#include "penstock/ops/testing/rows.h"

// The numbers expected here are TensorFlow's for these seeds.

namespace penstock::rows {
namespace {

constexpr Code kBad = Code::kInvalidArgument;
constexpr int64_t kSeed = 1, kSeed2 = 2;

const Value kFive = Vector<int32_t>({5});
const Value kThree = Vector<int32_t>({3});
const Value kSeeds = Vector<int64_t>({1, 2});
const Value kKey = Vector<uint64_t>({7});
const Value kCounter = Vector<uint64_t>({0xffffffff, 3});
const Value kAlg = Scalar<int32_t>(1);

const OpRows kFillRows{
    Row(RandomUniform{kSeed, kSeed2})
        .Attr("dtype", DType::kFloat)
        .Inputs(kFive)
        .Expect(Vector<float>({0.406396747, 0.857599616, 0.0553958416, 0.0858722925, 0.412153602}))
        .Tolerance(0),
    Row(RandomUniform{kSeed, kSeed2})
        .Attr("dtype", DType::kDouble)
        .Inputs(Vector<int64_t>({2, 0}))
        .Expect(Empty<double>({2, 0})),
    Row(RandomUniform{kSeed, kSeed2})
        .Attr("dtype", DType::kHalf)
        .Inputs(Vector<int64_t>({70, 100})),
    Row(RandomUniform{})
        .Attr("dtype", DType::kFloat)
        .Inputs(Scalar<int32_t>(3))
        .Fails(kBad, "shape"),
    Row(RandomUniform{})
        .Attr("dtype", DType::kFloat)
        .Inputs(Vector<int32_t>({-1}))
        .Fails(kBad, "-1"),
    Row(RandomStandardNormal{kSeed, kSeed2})
        .Attr("dtype", DType::kFloat)
        .Inputs(kFive)
        .Expect(Vector<float>({-1.04677927, 0.839704573, 1.23583639, 2.06378531, 0.303742707}))
        .Tolerance(1e-6),
    Row(RandomStandardNormal{kSeed, kSeed2})
        .Attr("dtype", DType::kFloat)
        .Inputs(Vector<int32_t>({300, 301}))
        .Named("shared_out"),
    Row(RandomStandardNormal{})
        .Attr("dtype", DType::kFloat)
        .Inputs(Vector<int64_t>({int64_t{1} << 40, int64_t{1} << 40}))
        .Fails(kBad, ""),
    Row(RandomStandardNormal{})
        .Attr("dtype", DType::kFloat)
        .Inputs(Values<int32_t>({1, 1}, {1}))
        .Fails(kBad, "shape"),
    Row(TruncatedNormal{kSeed, kSeed2})
        .Attr("dtype", DType::kFloat)
        .Inputs(kFive)
        .Expect(Vector<float>({-1.04677927, 0.839704573, 1.23583639, 0.303742707, 0.388690919}))
        .Tolerance(1e-6),
    Row(TruncatedNormal{})
        .Attr("dtype", DType::kFloat)
        .Inputs(Scalar<int32_t>(3))
        .Fails(kBad, "shape"),
    Row(TruncatedNormal{})
        .Attr("dtype", DType::kFloat)
        .Inputs(Vector<int64_t>({-7}))
        .Fails(kBad, "-7"),
    Row(RandomUniformInt{kSeed, kSeed2})
        .Inputs(kFive, Scalar<int32_t>(-10), Scalar<int32_t>(10))
        .Expect(Vector<int32_t>({9, 5, -8, -1, 1})),
    Row(RandomUniformInt{})
        .Inputs(kFive, Scalar<int32_t>(3), Scalar<int32_t>(3))
        .Fails(kBad, "3 >= 3"),
    Row(RandomUniformInt{})
        .Inputs(Vector<int32_t>({0}), Scalar<int32_t>(3), Scalar<int32_t>(3))
        .Expect(Empty<int32_t>({0})),
    Row(RandomUniformInt{})
        .Inputs(kFive, Vector<int32_t>({3}), Scalar<int32_t>(3))
        .Fails(kBad, "minval"),
    Row(StatelessRandomUniform{})
        .Inputs(kThree, kSeeds)
        .Expect(Vector<float>({0.844060421, 0.192045331, 0.996223211}))
        .Tolerance(0),
    Row(StatelessRandomUniform{}).Inputs(kThree, kThree).Fails(kBad, "seed"),
    Row(StatelessRandomUniform{}).Inputs(Vector<int32_t>({-3}), kSeeds).Fails(kBad, "-3"),
    Row(StatelessRandomNormal{})
        .Attr("dtype", DType::kDouble)
        .Inputs(kThree, kSeeds)
        .Expect(Vector<double>({-0.1423118100189212, 0.7406072461585091, -1.469047669443883}))
        .Tolerance(1e-14),
    Row(StatelessRandomNormal{}).Inputs(kThree, Scalar<int64_t>(1)).Fails(kBad, "seed"),
    Row(StatelessTruncatedNormal{})
        .Inputs(kThree, kSeeds)
        .Expect(Vector<float>({0.544110119, 0.20738031, 0.0735643208}))
        .Tolerance(1e-6),
    Row(StatelessRandomUniformInt{})
        .Inputs(kThree, kSeeds, Scalar<int32_t>(0), Scalar<int32_t>(100))
        .Expect(Vector<int32_t>({40, 49, 94})),
    Row(StatelessRandomUniformInt{})
        .Inputs(kThree, kSeeds, Scalar<int32_t>(9), Scalar<int32_t>(0))
        .Fails(kBad, "9 >= 0"),
    Row(StatelessRandomUniformFullInt{})
        .Attr("dtype", DType::kUint32)
        .Inputs(kThree, kSeeds)
        .Expect(Vector<uint32_t>({1105988140, 1738052849, 3959391294})),
    Row(StatelessRandomGetKeyCounter{})
        .Inputs(kSeeds)
        .Expect(Vector<uint64_t>({10413732777507651514u}),
                Vector<uint64_t>({0, 17830669156045600267u})),
    Row(StatelessRandomGetKeyCounter{}).Inputs(kThree).Fails(kBad, "seed"),
    // The counter's lower word overflows after the first block.
    Row(StatelessRandomUniformV2{})
        .Inputs(Vector<int32_t>({6}), kKey, kCounter, kAlg)
        .Expect(Vector<float>(
            {0.544001102, 0.865074039, 0.821942091, 0.765313387, 0.527541399, 0.475972533}))
        .Tolerance(0),
    Row(StatelessRandomUniformV2{})
        .Inputs(kThree, kKey, kCounter, Scalar<int32_t>(2))
        .Fails(kBad, "alg"),
    Row(StatelessRandomUniformV2{}).Inputs(kThree, kKey, kKey, kAlg).Fails(kBad, "counter"),
    Row(StatelessRandomUniformV2{}).Inputs(kThree, kCounter, kCounter, kAlg).Fails(kBad, "key"),
    Row(StatelessRandomUniformIntV2{})
        .Inputs(Vector<int32_t>({4}), kKey, kCounter, kAlg, Scalar<int32_t>(0),
                Scalar<int32_t>(100))
        .Expect(Vector<int32_t>({68, 51, 30, 42})),
};

const Value kLogits = Values<float>({1, 3}, {0, 1, 2});

const OpRows kDrawRows{
    Row(RandomShuffle{kSeed, kSeed2})
        .Inputs(Vector<int32_t>({0, 1, 2, 3, 4, 5}))
        .Expect(Vector<int32_t>({5, 1, 4, 0, 3, 2})),
    Row(RandomShuffle{kSeed, kSeed2}).Inputs(Scalar<float>(3)).Expect(Scalar<float>(3)),
    Row(RandomShuffle{kSeed, kSeed2}).Inputs(Empty({3, 0})).Expect(Empty({3, 0})),
    Row(StatelessShuffle{})
        .Inputs(Vector<int32_t>({0, 1, 2, 3, 4, 5}), kKey, kCounter, kAlg)
        .Expect(Vector<int32_t>({0, 2, 4, 5, 1, 3})),
    Row(StatelessShuffle{}).Inputs(kFive, kKey, kKey, kAlg).Fails(kBad, "counter"),
    Row(Multinomial{kSeed, kSeed2})
        .Inputs(kLogits, Scalar<int32_t>(8))
        .Expect(Values<int64_t>({1, 8}, {1, 2, 1, 1, 2, 2, 2, 2})),
    Row(Multinomial{}).Inputs(kLogits, Scalar<int32_t>(-1)).Fails(kBad, "-1"),
    Row(Multinomial{}).Inputs(Empty({2, 0}), Scalar<int32_t>(1)).Fails(kBad, "num_classes"),
    Row(Multinomial{}).Inputs(kThree, Scalar<int32_t>(1)).Fails(kBad, "logits"),
    Row(Multinomial{}).Inputs(Empty({0, 3}), Scalar<int32_t>(2)).Expect(Empty<int64_t>({0, 2})),
    Row(StatelessMultinomial{})
        .Inputs(kLogits, Scalar<int32_t>(8), kSeeds)
        .Expect(Values<int64_t>({1, 8}, {2, 2, 1, 2, 2, 2, 2, 1})),
    Row(ParameterizedTruncatedNormal{kSeed, kSeed2})
        .Inputs(Vector<int32_t>({2, 70}), Scalar<float>(0), Vector<float>({1, 2}),
                Scalar<float>(-1), Vector<float>({1, 1e30f})),
    Row(ParameterizedTruncatedNormal{})
        .Inputs(kFive, Scalar<float>(0), Scalar<float>(-1), Scalar<float>(-1), Scalar<float>(1))
        .Fails(kBad, "stdevs"),
    Row(ParameterizedTruncatedNormal{})
        .Inputs(kFive, Scalar<float>(0), Scalar<float>(1), Vector<float>({1, 2}), Scalar<float>(1))
        .Fails(kBad, "minvals"),
    Row(RandomGamma{kSeed, kSeed2})
        .Inputs(Vector<int32_t>({2}), Vector<float>({.5, 1, 4}))
        .Expect(Values<float>(
            {2, 3}, {0.0144395577, 0.251913071, 4.04807091, 0.191065297, 0.334041834, 1.84956455}))
        .NoGradient(),
    Row(RandomGamma{kSeed, kSeed2})
        .Inputs(Vector<int32_t>({1}), Vector<float>({-1, std::numeric_limits<float>::quiet_NaN()}))
        .NoGradient()
        .Named("no_such_alpha"),
    Row(RandomGamma{}).Inputs(Scalar<int32_t>(2), Vector<float>({1})).Fails(kBad, "shape"),
    Row(RandomPoissonV2{kSeed, kSeed2})
        .Attr("dtype", DType::kInt32)
        .Inputs(kThree, Vector<float>({2, 40}))
        .Expect(Values<int32_t>({3, 2}, {1, 36, 2, 35, 3, 42})),
    Row(RandomPoissonV2{kSeed, kSeed2})
        .Attr("dtype", DType::kInt32)
        .Inputs(Vector<int32_t>({1}),
                Vector<float>({-1, std::numeric_limits<float>::quiet_NaN(), 1e20f,
                               std::numeric_limits<float>::infinity()}))
        .Named("no_such_rate"),
    Row(RandomPoissonV2{}).Inputs(Vector<int32_t>({-2}), Vector<double>({1})).Fails(kBad, "-2"),
    Row(StatelessRandomGammaV2{})
        .Inputs(Vector<int32_t>({2, 2}), kSeeds, Vector<float>({.5, 4}))
        .Expect(Values<float>({2, 2}, {0.0669536144, 5.95526886, 0.628235459, 4.45933628}))
        .NoGradient(),
    Row(StatelessRandomGammaV2{})
        .Inputs(Vector<int32_t>({2, 1}), kSeeds, Vector<float>({.5, 4}))
        .Fails(kBad, "shape"),
    Row(StatelessRandomPoisson{})
        .Attr("dtype", DType::kInt32)
        .Inputs(Vector<int32_t>({2, 2}), kSeeds, Vector<float>({2, 40}))
        .Expect(Values<int32_t>({2, 2}, {3, 49, 4, 57})),
};

const Value kTrue = Values<int64_t>({2, 1}, {0, 3});

const OpRows kCandidateRows{
    Row(UniformCandidateSampler{1, 3, true, 20, kSeed, kSeed2})
        .Inputs(kTrue)
        .Expect(Vector<int64_t>({19, 6, 7}), Values<float>({2, 1}, {.15, .15}),
                Vector<float>({.15, .15, .15})),
    Row(LogUniformCandidateSampler{1, 3, true, 20, kSeed, kSeed2})
        .Inputs(kTrue)
        .Expect(Vector<int64_t>({1, 2, 17}), Values<float>({2, 1}, {0.725201845, 0.316543043}),
                Vector<float>({0.510617733, 0.39121747, 0.0856959969})),
    Row(LearnedUnigramCandidateSampler{1, 3, true, 20, kSeed, kSeed2})
        .Inputs(kTrue)
        .Expect(Vector<int64_t>({19, 15, 2}), Values<float>({2, 1}, {.15, .15}),
                Vector<float>({.15, .15, .15})),
    Row(UniformCandidateSampler{1, 30, true, 20}).Inputs(kTrue).Fails(kBad, "range"),
    Row(UniformCandidateSampler{2, 3, true, 20}).Inputs(kTrue).Fails(kBad, "num_true"),
    Row(LogUniformCandidateSampler{1, 3, true, 20}).Inputs(kSeeds).Fails(kBad, "true_classes"),
    Row(LearnedUnigramCandidateSampler{1, 3, true, int64_t{1} << 40})
        .Inputs(kTrue)
        .Fails(kBad, "range_max"),
    Row(FixedUnigramCandidateSampler{.num_sampled = 3,
                                     .unique = true,
                                     .range_max = 4,
                                     .unigrams = {1, 2, 3, 4},
                                     .seed = kSeed,
                                     .seed2 = kSeed2})
        .Inputs(kTrue)
        .Expect(Vector<int64_t>({3, 1, 2}), Values<float>({2, 1}, {.3, 1.2}),
                Vector<float>({1.2, .6, .9})),
    Row(FixedUnigramCandidateSampler{.range_max = 3}).Inputs(kTrue).Fails(kBad, "exactly one"),
    Row(FixedUnigramCandidateSampler{.range_max = 3, .unigrams = {1, 2}})
        .Inputs(kTrue)
        .Fails(kBad, "range_max"),
    Row(FixedUnigramCandidateSampler{
            .num_sampled = 2, .unique = true, .range_max = 2, .unigrams = {1, 0}})
        .Inputs(kTrue)
        .Fails(kBad, "positive weight"),
    Row(FixedUnigramCandidateSampler{.range_max = 2, .vocab_file = "/no/such/file"})
        .Inputs(kTrue)
        .Fails(Code::kNotFound, "/no/such/file"),
    Row(AllCandidateSampler{1, 3, true})
        .Inputs(kTrue)
        .Expect(Vector<int64_t>({0, 1, 2}), Values<float>({2, 1}, {1, 1}),
                Vector<float>({1, 1, 1})),
    Row(ComputeAccidentalHits{2})
        .Inputs(Values<int64_t>({2, 2}, {5, 1, 7, 5}), Vector<int64_t>({7, 5}))
        .Expect(
            Vector<int32_t>({0, 1, 1}), Vector<int64_t>({1, 0, 1}),
            Vector<float>({-std::numeric_limits<float>::max(), -std::numeric_limits<float>::max(),
                           -std::numeric_limits<float>::max()})),
    Row(ComputeAccidentalHits{1}).Inputs(Empty<int64_t>({0, 1}), Empty<int64_t>({0})),
    Row(ComputeAccidentalHits{1}).Inputs(kTrue, kTrue).Fails(kBad, "sampled_candidates"),
};

}  // namespace
}  // namespace penstock::rows

namespace penstock::ops {
namespace {

class RandomStateTest : public StateFixture {
 protected:
  Expr Uniform(int64_t seed, std::string_view name) {
    return s.Add("RandomUniform", {Int32s({2})},
                 {{"dtype", DType::kFloat}, {"seed", seed}, {"seed2", int64_t{2}}}, name);
  }
};

// A node goes on with its stream from step to step, also when other nodes are fetched with it.
TEST_F(RandomStateTest, StreamsGoOnAcrossStepsAndSignatures) {
  const Expr a = Uniform(1, "a"), b = Uniform(1, "b");
  const Expr both = Op("AddV2", a, b) * 0.5;
  Expect(a, "float [2] {0.406396747, 0.857599616}");
  const kernels::Philox stream(1, 2);
  float want[2];
  kernels::FillUniform(stream.At(2 * 256), want, 2, ParallelFor());
  Expect(a, Tensor::FromValues<float>({2}, std::span<const float>(want)).ToString());
  Expect(b, "float [2] {0.406396747, 0.857599616}");
  kernels::FillUniform(stream.At(4 * 256), want, 2, ParallelFor());
  float other[2];
  kernels::FillUniform(stream.At(2 * 256), other, 2, ParallelFor());
  for (int i = 0; i < 2; ++i) want[i] = (want[i] + other[i]) * 0.5f;
  Expect(both, Tensor::FromValues<float>({2}, std::span<const float>(want)).ToString());
}

TEST_F(RandomStateTest, GeneratorsInVariablesSkipWhatWasTaken) {
  const Expr h = Handle({3}, DType::kInt64);
  Do(Node("AssignVariableOp", {h, Const<int64_t>({3}, {-1, 2, 3})}));
  const Expr value = s.Add("RngReadAndSkip", {h, Scalar(1), Scalar(uint64_t{1})}, {});
  Expect(value, "int64 [3] {-1, 2, 3}");
  Expect(value, "int64 [3] {255, 3, 3}");
}

}  // namespace
}  // namespace penstock::ops
