#pragma once

#include <array>
#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/random/stream.h"

// Candidate classes for losses that look at a few of many classes: sampled classes, and how often
// each of them and each of the true classes was to be expected in the sample.

namespace penstock::ops {

// What the kernels of all samplers are made from.
enum class CandidateSource { kUniform, kLogUniform, kLearned, kFixed, kAll };
struct CandidatePlan {
  CandidateSource source = CandidateSource::kAll;
  int64_t num_true = 1;
  int64_t num_sampled = 1;
  bool unique = false;
  int64_t range_max = 1;
  int64_t seed = 0;
  int64_t seed2 = 0;
  std::vector<float> weights = {};  // of kFixed
  std::string vocab_file = {};      // of kFixed, in place of weights
  double distortion = 1;
  int64_t num_reserved_ids = 0;
  int64_t num_shards = 1;
  int64_t shard = 0;
};
Result<std::unique_ptr<Kernel>> MakeCandidateKernel(const KernelRequest& request,
                                                    CandidatePlan plan);
Result<std::array<Shape, 3>> CandidateShapes(const Shape& true_classes, int64_t num_true,
                                             int64_t num_sampled);
// A range above what 32-bit draws and tables in memory allow is refused for these.
Status CheckCandidates(CandidateSource source, int64_t num_sampled, bool unique, int64_t range_max);

using CandidateSignature =
    Signature<In<"true_classes", int64_t>, Out<"sampled_candidates", int64_t>,
              Out<"true_expected_count", float>, Out<"sampled_expected_count", float>>;

template <FixedString Name, CandidateSource Source>
struct CandidateSampler {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  int64_t num_true = 1;
  int64_t num_sampled = 1;
  bool unique = false;
  int64_t range_max = 1;
  int64_t seed = 0;
  int64_t seed2 = 0;
  using Sig = CandidateSignature;
  static constexpr std::tuple kAttrs{
      Field{"num_true", &CandidateSampler::num_true}.Required().Min(1),
      Field{"num_sampled", &CandidateSampler::num_sampled}.Required().Min(1),
      Field{"unique", &CandidateSampler::unique}.Required(),
      Field{"range_max", &CandidateSampler::range_max}.Required().Min(1),
      Field{"seed", &CandidateSampler::seed},
      Field{"seed2", &CandidateSampler::seed2}};

  Status CheckAttrs() const { return CheckCandidates(Source, num_sampled, unique, range_max); }
  Result<std::array<Shape, 3>> InferShape(const Shape& true_classes) const {
    return CandidateShapes(true_classes, num_true, num_sampled);
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    const CandidateSampler& op =
        static_cast<const op_internal::Decoded<CandidateSampler>*>(request.op.get())->op;
    CandidatePlan plan{.source = Source, .num_true = op.num_true, .num_sampled = op.num_sampled};
    plan.unique = op.unique;
    plan.range_max = op.range_max;
    plan.seed = op.seed;
    plan.seed2 = op.seed2;
    return MakeCandidateKernel(request, std::move(plan));
  }
};

using UniformCandidateSampler =
    CandidateSampler<"UniformCandidateSampler", CandidateSource::kUniform>;
using LogUniformCandidateSampler =
    CandidateSampler<"LogUniformCandidateSampler", CandidateSource::kLogUniform>;
using LearnedUnigramCandidateSampler =
    CandidateSampler<"LearnedUnigramCandidateSampler", CandidateSource::kLearned>;
using ThreadUnsafeUnigramCandidateSampler =
    CandidateSampler<"ThreadUnsafeUnigramCandidateSampler", CandidateSource::kLearned>;

// Every class, each once.
struct AllCandidateSampler {
  static constexpr auto kName = "AllCandidateSampler";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  int64_t num_true = 1;
  int64_t num_sampled = 1;
  bool unique = false;
  int64_t seed = 0;
  int64_t seed2 = 0;
  using Sig = CandidateSignature;
  static constexpr std::tuple kAttrs{
      Field{"num_true", &AllCandidateSampler::num_true}.Required().Min(1),
      Field{"num_sampled", &AllCandidateSampler::num_sampled}.Required().Min(1),
      Field{"unique", &AllCandidateSampler::unique}.Required(),
      Field{"seed", &AllCandidateSampler::seed}, Field{"seed2", &AllCandidateSampler::seed2}};

  Result<std::array<Shape, 3>> InferShape(const Shape& true_classes) const {
    return CandidateShapes(true_classes, num_true, num_sampled);
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// By weights that the node or a file gives, each raised to the power `distortion`; of several
// shards, this one's share of the classes.
struct FixedUnigramCandidateSampler {
  static constexpr auto kName = "FixedUnigramCandidateSampler";
  static constexpr bool kStateful = true;
  static constexpr bool kNoGradient = true;
  int64_t num_true = 1;
  int64_t num_sampled = 1;
  bool unique = false;
  int64_t range_max = 1;
  std::string vocab_file = "";
  float distortion = 1;
  int64_t num_reserved_ids = 0;
  int64_t num_shards = 1;
  int64_t shard = 0;
  std::vector<float> unigrams = {};
  int64_t seed = 0;
  int64_t seed2 = 0;
  using Sig = CandidateSignature;
  using Self = FixedUnigramCandidateSampler;
  static constexpr std::tuple kAttrs{Field{"num_true", &Self::num_true}.Required().Min(1),
                                     Field{"num_sampled", &Self::num_sampled}.Required().Min(1),
                                     Field{"unique", &Self::unique}.Required(),
                                     Field{"range_max", &Self::range_max}.Required().Min(1),
                                     Field{"vocab_file", &Self::vocab_file},
                                     Field{"distortion", &Self::distortion},
                                     Field{"num_reserved_ids", &Self::num_reserved_ids},
                                     Field{"num_shards", &Self::num_shards}.Min(1),
                                     Field{"shard", &Self::shard}.Min(0),
                                     Field{"unigrams", &Self::unigrams},
                                     Field{"seed", &Self::seed},
                                     Field{"seed2", &Self::seed2}};

  Status CheckAttrs() const;
  Result<std::array<Shape, 3>> InferShape(const Shape& true_classes) const {
    return CandidateShapes(true_classes, num_true, num_sampled);
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request);
};

// Where a sampled class is also a true one: the row, the place in the sample, and the weight that
// takes it out of a loss.
struct ComputeAccidentalHits {
  static constexpr auto kName = "ComputeAccidentalHits";
  static constexpr bool kNoGradient = true;
  int64_t num_true = 0;
  int64_t seed = 0;
  int64_t seed2 = 0;
  using Sig = Signature<In<"true_classes", int64_t>, In<"sampled_candidates", int64_t>,
                        Out<"indices", int32_t>, Out<"ids", int64_t>, Out<"weights", float>>;
  static constexpr std::tuple kAttrs{Field{"num_true", &ComputeAccidentalHits::num_true}.Required(),
                                     Field{"seed", &ComputeAccidentalHits::seed},
                                     Field{"seed2", &ComputeAccidentalHits::seed2}};

  Result<std::array<Shape, 3>> InferShape(const Shape& true_classes,
                                          const Shape& sampled_candidates) const;
  Status ComputeCpu(CpuContext& context, const Tensor& true_classes,
                    const Tensor& sampled_candidates) const;
};

}  // namespace penstock::ops
