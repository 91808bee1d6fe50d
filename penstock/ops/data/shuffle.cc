#include "penstock/ops/data/shuffle.h"

#include <deque>
#include <random>

#include "penstock/core/mutex.h"
#include "penstock/kernels/philox.h"
#include "penstock/ops/data/dataset_over.h"
#include "penstock/ops/data/transforms.h"

namespace penstock::ops {
namespace {

using kernels::Philox;
using kernels::PhiloxWords;

struct Seeds {
  uint64_t first, second;
};

// Where iterators of one dataset get their seeds from: always the same, or a new pair each.
// Threads: all methods may be called concurrently.
class SeedSource {
 public:
  SeedSource(Seeds seeds, bool reshuffle)
      : seeds_(seeds), reshuffle_(reshuffle), words_(Philox(seeds.first, seeds.second)) {}
  Seeds Next() {
    if (!reshuffle_) return seeds_;
    MutexLock lock(mu_);
    const uint64_t first = words_.Next();
    return {first, words_.Next()};
  }

 private:
  const Seeds seeds_;
  const bool reshuffle_;
  Mutex mu_;
  PhiloxWords words_ GUARDED_BY(mu_);
};

class ShuffleIterator final : public DatasetIterator {
 public:
  ShuffleIterator(const DatasetPtr& input, int64_t buffer_size,
                  const std::shared_ptr<SeedSource>& seeds)
      : input_(input->MakeIterator()), buffer_size_(static_cast<uint64_t>(buffer_size)) {
    const Seeds own = seeds->Next();
    words_ = PhiloxWords(Philox(own.first, own.second));
  }

  Result<Pulled> Next(Puller& puller, Element* element) override {
    while (!ended_ && buffer_.size() < buffer_size_) {
      Element next;
      TRY_ASSIGN(const Pulled pulled, Pull(*input_, puller, &next));
      if (pulled == Pulled::kPending) return pulled;
      ended_ = pulled == Pulled::kEnd;
      if (!ended_) buffer_.push_back(std::move(next));
    }
    if (buffer_.empty()) return Pulled::kEnd;
    // The one drawn changes places with the first, which goes.
    std::swap(buffer_[words_.Next() % buffer_.size()], buffer_.front());
    *element = std::move(buffer_.front());
    buffer_.pop_front();
    return Pulled::kElement;
  }

 private:
  const std::unique_ptr<DatasetIterator> input_;
  const uint64_t buffer_size_;
  bool ended_ = false;
  PhiloxWords words_{Philox()};
  std::deque<Element> buffer_;
};

Result<DatasetPtr> Shuffled(const Tensor& input, int64_t buffer_size, int64_t seed, int64_t seed2,
                            bool reshuffle) {
  if (buffer_size < 1) return InvalidArgument("buffer_size must be greater than zero.");
  Seeds seeds{static_cast<uint64_t>(seed), static_cast<uint64_t>(seed2)};
  if (seed == 0 && seed2 == 0) {  // the user did not choose
    std::random_device random;
    seeds = {uint64_t{random()} << 32 | random(), uint64_t{random()} << 32 | random()};
  }
  TRY_ASSIGN(DatasetPtr dataset, DatasetIn(input));
  return MakeOver<ShuffleIterator>(std::move(dataset), buffer_size,
                                   std::make_shared<SeedSource>(seeds, reshuffle));
}

}  // namespace

Status ShuffleDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                  int64_t buffer_size, int64_t seed, int64_t seed2) const {
  TRY_ASSIGN(DatasetPtr shuffled,
             Shuffled(input_dataset, buffer_size, seed, seed2, reshuffle_each_iteration));
  return SetDataset(context, std::move(shuffled));
}

Status ShuffleAndRepeatDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                           int64_t buffer_size, int64_t seed, int64_t seed2,
                                           int64_t count) const {
  TRY_ASSIGN(DatasetPtr shuffled,
             Shuffled(input_dataset, buffer_size, seed, seed2, reshuffle_each_iteration));
  return SetDataset(context, Repeated(std::move(shuffled), count));
}

void RegisterDatasetShuffles(Registrar& registrar) {
  registrar.AddAll<ShuffleDataset, ShuffleAndRepeatDataset>();
}

}  // namespace penstock::ops
