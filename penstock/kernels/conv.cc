#include "penstock/kernels/conv.h"

#include <cstdio>
#include <iterator>
#include <list>
#include <unordered_map>

#include "penstock/core/mutex.h"
#include "penstock/kernels/conv_candidates.h"
#include "penstock/kernels/verbose.h"

namespace penstock::kernels {
namespace {

struct Candidate {
  const char* name;
  std::unique_ptr<Convolution> (*make)(const ConvProblem&, const char** why);
};
constexpr Candidate kCandidates[] = {
    {"winograd", MakeWinogradConvolution},
    {"onednn", MakeOneDnnConvolution},
    {"direct", MakeDirectConvolution},
};

void Print(const ConvProblem& problem, const char* name, const char* why) {
  static constexpr const char* kPasses[] = {"forward", "input_gradient", "filter_gradient"};
  const ConvShape& s = problem.shape;
  auto text = [](const ConvShape::Extents& e) {
    return std::to_string(e[0]) + "x" + std::to_string(e[1]) + "x" + std::to_string(e[2]);
  };
  std::fprintf(stderr,
               "penstock kernels: conv %s %s %lldx[%s]x%lld filter [%s] to %lld, %lld groups: "
               "%s%s%s\n",
               kPasses[static_cast<int>(problem.pass)], ToString(problem.dtype).data(),
               static_cast<long long>(s.batch), text(s.in).c_str(),
               static_cast<long long>(s.in_channels), text(s.filter).c_str(),
               static_cast<long long>(s.out_channels), static_cast<long long>(s.groups), name,
               why == nullptr ? " runs" : " skipped: ", why == nullptr ? "" : why);
}

std::shared_ptr<const Convolution> Choose(const ConvProblem& problem) {
  for (const Candidate& candidate : kCandidates) {
    const char* why = "PENSTOCK_DISABLE_KERNELS names it";
    std::unique_ptr<Convolution> made;
    const bool last = &candidate + 1 == std::end(kCandidates);
    if (last || !KernelDisabled(candidate.name)) made = candidate.make(problem, &why);
    if (VerboseKernels()) Print(problem, candidate.name, made == nullptr ? why : nullptr);
    if (made != nullptr) return made;
  }
  return nullptr;
}

struct Hash {
  size_t operator()(const ConvProblem& p) const {
    uint64_t h = static_cast<uint64_t>(p.pass) * 31 + static_cast<uint64_t>(p.dtype);
    auto mix = [&](int64_t v) {
      h = (h ^ static_cast<uint64_t>(v)) * 0x9E3779B97F4A7C15u;
      h ^= h >> 29;
    };
    const ConvShape& s = p.shape;
    for (const int64_t v : {s.batch, s.in_channels, s.out_channels, s.groups}) mix(v);
    for (const auto* extents : {&s.in, &s.filter, &s.out, &s.stride, &s.dilation, &s.pad}) {
      for (const int64_t v : *extents) mix(v);
    }
    mix(static_cast<int64_t>(p.epilogue.activation) * 4 + p.epilogue.bias * 2 + p.epilogue.addend);
    return h;
  }
};

// The plans used last.
// Threads: all methods may be called concurrently.
class Cache {
 public:
  std::shared_ptr<const Convolution> Get(const ConvProblem& problem) {
    {
      MutexLock lock(mu_);
      if (const auto found = index_.find(problem); found != index_.end()) {
        plans_.splice(plans_.begin(), plans_, found->second);
        return plans_.front().plan;
      }
    }
    // Made outside the lock: a library may take milliseconds to generate code.
    std::shared_ptr<const Convolution> plan = Choose(problem);
    MutexLock lock(mu_);
    if (index_.count(problem) != 0) return plan;
    plans_.push_front({problem, plan});
    index_[problem] = plans_.begin();
    if (plans_.size() > kMost) {
      index_.erase(plans_.back().problem);
      plans_.pop_back();
    }
    return plan;
  }

 private:
  static constexpr size_t kMost = 512;
  struct Entry {
    ConvProblem problem;
    std::shared_ptr<const Convolution> plan;
  };

  Mutex mu_;
  std::list<Entry> plans_ GUARDED_BY(mu_);  // the last used first
  std::unordered_map<ConvProblem, std::list<Entry>::iterator, Hash> index_ GUARDED_BY(mu_);
};

}  // namespace

std::shared_ptr<const Convolution> PlanConvolution(ConvPass pass, DType dtype,
                                                   const ConvShape& shape,
                                                   const Epilogue& epilogue) {
  static Cache cache;
  return cache.Get({pass, dtype, shape, epilogue});
}

}  // namespace penstock::kernels
