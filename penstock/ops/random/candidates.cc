#include "penstock/ops/random/candidates.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "penstock/io/file.h"
#include "penstock/ops/random/range_sampler.h"

namespace penstock::ops {
namespace {

using kernels::PhiloxWords;

// How often a class of probability p is expected in a sample that took `tries` draws to find
// `sampled` classes.
float ExpectedCount(float p, int64_t sampled, int64_t tries) {
  if (tries == sampled) return p * static_cast<float>(sampled);
  return -std::expm1(static_cast<float>(tries) * std::log1p(-p));
}

// Fills `sampled` and returns the number of draws.
Result<int64_t> SampleInto(const RangeSampler& sampler, bool unique, PhiloxWords& words,
                           std::span<int64_t> sampled) {
  if (!unique) {
    for (int64_t& value : sampled) value = sampler.Sample(words);
    return static_cast<int64_t>(sampled.size());
  }
  std::unordered_set<int64_t> used(sampled.size());
  int64_t tries = 0;
  for (size_t picked = 0; picked < sampled.size(); ++tries) {
    if (tries == std::numeric_limits<int32_t>::max())
      return ResourceExhausted("{} draws gave {} different classes, {} are wanted", tries, picked,
                               sampled.size());
    const int64_t value = sampler.Sample(words);
    if (used.insert(value).second) sampled[picked++] = value;
  }
  return tries;
}

// The words that a step's sample may take before it meets those of the next.
constexpr uint64_t kWordsPerSample = 2048;

// A distribution that steps change. Threads: as SampleAndLearn says.
class LearnedState final : public Resource {
 public:
  explicit LearnedState(int64_t range) : range_(range) {}

  // Calls `sample` with the distribution, then takes in `values`; steps take turns.
  Status SampleAndLearn(FunctionRef<Status(const RangeSampler&)> sample,
                        std::span<const int64_t> values) {
    MutexLock lock(mu_);
    if (sampler_ == nullptr) {
      TRY_ASSIGN(sampler_, LearnedRangeSampler(range_));
    }
    TRY(sample(*sampler_));
    sampler_->Learn(values);
    return OkStatus();
  }
  std::string DebugString() const override { return "learned unigram distribution"; }
  size_t MemoryBytes() const override { return sizeof *this; }

 private:
  const int64_t range_;
  Mutex mu_;
  std::unique_ptr<RangeSampler> sampler_ GUARDED_BY(mu_);  // made by the first step
};

class CandidateKernel final : public Kernel {
 public:
  // `sampler`: null for what is learnt and for kAll.
  CandidateKernel(const KernelRequest& request, CandidatePlan plan,
                  std::unique_ptr<const RangeSampler> sampler)
      : plan_(std::move(plan)),
        sampler_(std::move(sampler)),
        stream_(request, plan_.seed, plan_.seed2),
        learned_("_random", request.node + "/distribution", "LearnedUnigram",
                 [range = plan_.range_max] { return std::make_shared<LearnedState>(range); }) {}

  Status Compute(KernelContext& context) override {
    const Tensor& true_classes = context.input(0);
    TRY_ASSIGN(const auto shapes,
               CandidateShapes(true_classes.shape(), plan_.num_true, plan_.num_sampled));
    constexpr DType kTypes[] = {DType::kInt64, DType::kFloat, DType::kFloat};
    for (int i = 0; i < 3; ++i)
      TRY(context.AllocateOutput(i, kTypes[i], shapes[static_cast<size_t>(i)]));
    if (plan_.source == CandidateSource::kAll) return TakeAll(context);
    const auto sample = [&](const RangeSampler& sampler) { return Sample(context, sampler); };
    if (plan_.source != CandidateSource::kLearned) return sample(*sampler_);
    TRY_ASSIGN(const std::shared_ptr<LearnedState> learned, learned_.Get(context));
    return learned->SampleAndLearn(sample, true_classes.values<int64_t>());
  }

 private:
  static Status TakeAll(KernelContext& context) {
    const auto sampled = context.output(0).mutable_values<int64_t>();
    for (size_t i = 0; i < sampled.size(); ++i) sampled[i] = static_cast<int64_t>(i);
    for (const int i : {1, 2}) {
      const auto counts = context.output(i).mutable_values<float>();
      std::fill(counts.begin(), counts.end(), 1.0f);
    }
    return OkStatus();
  }

  Status Sample(KernelContext& context, const RangeSampler& sampler) {
    const auto sampled = context.output(0).mutable_values<int64_t>();
    TRY_ASSIGN(const kernels::Philox stream,
               stream_.ReserveWords(context, kWordsPerSample * sampled.size()));
    PhiloxWords words(stream);
    TRY_ASSIGN(const int64_t tries, SampleInto(sampler, plan_.unique, words, sampled));
    const auto count = [&](std::span<const int64_t> values, std::span<float> counts) {
      for (size_t i = 0; i < values.size(); ++i)
        counts[i] = ExpectedCount(sampler.Probability(values[i]), plan_.num_sampled, tries);
    };
    count(context.input(0).values<int64_t>(), context.output(1).mutable_values<float>());
    count(sampled, context.output(2).mutable_values<float>());
    return OkStatus();
  }

  const CandidatePlan plan_;
  const std::unique_ptr<const RangeSampler> sampler_;
  NodeStream stream_;
  SharedState<LearnedState> learned_;
};

constexpr uint64_t kLargestVocabulary = uint64_t{1} << 31;

// The last field of each line of a file of comma-separated values.
Result<std::vector<float>> ReadWeights(const std::string& path) {
  TRY_ASSIGN(const io::File file, io::File::OpenToRead(path));
  TRY_ASSIGN(const uint64_t size, file.Size());
  if (size > kLargestVocabulary)
    return InvalidArgument("{} must have at most {} bytes, got {}", Printable(path),
                           kLargestVocabulary, size);
  std::string text(size, '\0');
  TRY_ASSIGN(const size_t read, file.ReadAt(0, text.size(), text.data()));
  text.resize(read);
  std::vector<float> weights;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.empty()) continue;
    const size_t comma = line.rfind(',');
    const std::string field = comma == std::string::npos ? line : line.substr(comma + 1);
    char* stop = nullptr;
    const float weight = std::strtof(field.c_str(), &stop);
    if (stop == field.c_str() || (*stop != '\0' && *stop != '\r'))
      return InvalidArgument("Wrong vocabulary format at line: {}", Printable(line));
    weights.push_back(weight);
  }
  return weights;
}

// The weights of this shard's classes: the reserved ones have none.
Result<std::vector<float>> ShardWeights(const CandidatePlan& plan) {
  std::vector<float> all = plan.weights;
  if (!plan.vocab_file.empty()) {
    TRY_ASSIGN(all, ReadWeights(plan.vocab_file));
  }
  std::vector<float> weights;
  for (int64_t i = 0; i < plan.num_reserved_ids; ++i)
    if (i % plan.num_shards == plan.shard) weights.push_back(0);
  auto id = static_cast<int64_t>(weights.size());
  for (const float weight : all)
    if (id++ % plan.num_shards == plan.shard)
      weights.push_back(static_cast<float>(std::pow(weight, plan.distortion)));
  int64_t positive = 0;
  for (const float weight : weights) {
    if (!(weight >= 0) || std::isinf(weight))
      return InvalidArgument("weights of classes must be finite and not negative, got {}", weight);
    positive += weight > 0 ? 1 : 0;
  }
  if (static_cast<int64_t>(weights.size()) != plan.range_max)
    return InvalidArgument("range_max must be the number of classes, {}, got {}", weights.size(),
                           plan.range_max);
  if (positive < (plan.unique ? plan.num_sampled : 1))
    return InvalidArgument("{} classes of positive weight are too few for {} candidates", positive,
                           plan.num_sampled);
  return weights;
}

}  // namespace

Result<std::array<Shape, 3>> CandidateShapes(const Shape& true_classes, int64_t num_true,
                                             int64_t num_sampled) {
  TRY(CheckRank(true_classes, 2, "true_classes"));
  const int64_t batch = true_classes.has_rank() ? true_classes[0] : Shape::kUnknownDim;
  if (true_classes.has_rank() && true_classes[1] >= 0 && true_classes[1] != num_true)
    return InvalidArgument("true_classes must have num_true columns, expected {}, got {}", num_true,
                           true_classes[1]);
  return std::array<Shape, 3>{Shape{num_sampled}, Shape{batch, num_true}, Shape{num_sampled}};
}

Status CheckCandidates(CandidateSource source, int64_t num_sampled, bool unique,
                       int64_t range_max) {
  if (unique && num_sampled > range_max)
    return InvalidArgument("Sampler's range is too small: {} unique candidates of {} classes",
                           num_sampled, range_max);
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();  // draws have 32 bits
  if (source == CandidateSource::kLearned && range_max > kMost)
    return InvalidArgument("range_max must be at most {}, got {}", kMost, range_max);
  return OkStatus();
}

Result<std::unique_ptr<Kernel>> MakeCandidateKernel(const KernelRequest& request,
                                                    CandidatePlan plan) {
  std::unique_ptr<const RangeSampler> sampler;
  switch (plan.source) {
    case CandidateSource::kUniform:
      sampler = UniformRangeSampler(plan.range_max);
      break;
    case CandidateSource::kLogUniform:
      sampler = LogUniformRangeSampler(plan.range_max);
      break;
    case CandidateSource::kFixed: {
      TRY_ASSIGN(std::vector<float> weights, ShardWeights(plan));
      sampler = WeightedRangeSampler(std::move(weights));
      break;
    }
    case CandidateSource::kLearned:
    case CandidateSource::kAll:
      break;
  }
  return std::unique_ptr<Kernel>(
      std::make_unique<CandidateKernel>(request, std::move(plan), std::move(sampler)));
}

Result<std::unique_ptr<Kernel>> AllCandidateSampler::MakeCpuKernel(const KernelRequest& request) {
  const auto& op =
      static_cast<const op_internal::Decoded<AllCandidateSampler>*>(request.op.get())->op;
  CandidatePlan plan;
  plan.num_true = op.num_true;
  plan.num_sampled = op.num_sampled;
  return MakeCandidateKernel(request, std::move(plan));
}

Status FixedUnigramCandidateSampler::CheckAttrs() const {
  if (vocab_file.empty() == unigrams.empty())
    return InvalidArgument("Must provide exactly one of vocab_file and unigrams, got {}",
                           unigrams.empty() ? "neither" : "both");
  if (!InRange(shard, num_shards))
    return InvalidArgument("shard must be in [0, {}), got {}", num_shards, shard);
  constexpr int64_t kMostReserved = int64_t{1} << 28;
  if (num_reserved_ids < 0 || num_reserved_ids > kMostReserved)
    return InvalidArgument("num_reserved_ids must be in [0, {}], got {}", kMostReserved,
                           num_reserved_ids);
  return CheckCandidates(CandidateSource::kFixed, num_sampled, unique, range_max);
}

Result<std::unique_ptr<Kernel>> FixedUnigramCandidateSampler::MakeCpuKernel(
    const KernelRequest& request) {
  const auto& op = static_cast<const op_internal::Decoded<Self>*>(request.op.get())->op;
  CandidatePlan plan{.source = CandidateSource::kFixed,
                     .num_true = op.num_true,
                     .num_sampled = op.num_sampled,
                     .unique = op.unique,
                     .range_max = op.range_max,
                     .seed = op.seed,
                     .seed2 = op.seed2,
                     .weights = op.unigrams,
                     .vocab_file = op.vocab_file,
                     .distortion = op.distortion,
                     .num_reserved_ids = op.num_reserved_ids,
                     .num_shards = op.num_shards,
                     .shard = op.shard};
  return MakeCandidateKernel(request, std::move(plan));
}

Result<std::array<Shape, 3>> ComputeAccidentalHits::InferShape(
    const Shape& true_classes, const Shape& sampled_candidates) const {
  TRY(CandidateShapes(true_classes, num_true, 1));
  TRY(CheckVector(sampled_candidates, "sampled_candidates"));
  const Shape hits{Shape::kUnknownDim};
  return std::array<Shape, 3>{hits, hits, hits};
}

Status ComputeAccidentalHits::ComputeCpu(CpuContext& context, const Tensor& true_classes,
                                         const Tensor& sampled_candidates) const {
  std::unordered_map<int64_t, int64_t>
      place;  // of a class in the sample, the last if there are many
  const auto sampled = sampled_candidates.values<int64_t>();
  for (size_t i = 0; i < sampled.size(); ++i) place[sampled[i]] = static_cast<int64_t>(i);
  std::vector<std::pair<int32_t, int64_t>> hits;
  const auto classes = true_classes.values<int64_t>();
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto found = place.find(classes[i]);
    if (found != place.end())
      hits.emplace_back(static_cast<int32_t>(static_cast<int64_t>(i) / num_true), found->second);
  }
  const Shape shape{static_cast<int64_t>(hits.size())};
  TRY(context.AllocateOutput(0, DType::kInt32, shape));
  TRY(context.AllocateOutput(1, DType::kInt64, shape));
  TRY(context.AllocateOutput(2, DType::kFloat, shape));
  for (size_t i = 0; i < hits.size(); ++i) {
    context.output(0).mutable_data<int32_t>()[i] = hits[i].first;
    context.output(1).mutable_data<int64_t>()[i] = hits[i].second;
    context.output(2).mutable_data<float>()[i] = -std::numeric_limits<float>::max();
  }
  return OkStatus();
}

void RegisterCandidates(Registrar& registrar) {
  registrar.AddAll<UniformCandidateSampler, LogUniformCandidateSampler,
                   LearnedUnigramCandidateSampler, ThreadUnsafeUnigramCandidateSampler,
                   AllCandidateSampler, FixedUnigramCandidateSampler, ComputeAccidentalHits>();
}

}  // namespace penstock::ops
