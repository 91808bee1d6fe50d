#include "penstock/ops/data/transforms.h"

#include "penstock/core/mutex.h"
#include "penstock/ops/data/dataset_over.h"

namespace penstock::ops {
namespace {

class TakeIterator final : public DatasetIterator {
 public:
  TakeIterator(const DatasetPtr& input, int64_t count)
      : input_(input->MakeIterator()), left_(count) {}
  Result<Pulled> Next(Puller& puller, Element* element) override {
    if (left_ == 0) return Pulled::kEnd;
    TRY_ASSIGN(const Pulled pulled, Pull(*input_, puller, element));
    if (pulled == Pulled::kElement && left_ > 0) --left_;
    return pulled;
  }

 private:
  const std::unique_ptr<DatasetIterator> input_;
  int64_t left_;  // negative: no limit
};

// Gives one of every `period` elements, after the first `skip`.
class EveryIterator final : public DatasetIterator {
 public:
  EveryIterator(const DatasetPtr& input, int64_t skip, int64_t period)
      : input_(input->MakeIterator()), period_(period), skip_(skip) {}
  Result<Pulled> Next(Puller& puller, Element* element) override {
    while (true) {
      TRY_ASSIGN(const Pulled pulled, Pull(*input_, puller, element));
      if (pulled != Pulled::kElement) return pulled;
      if (skip_ == 0) break;
      --skip_;
    }
    skip_ = period_ - 1;
    return Pulled::kElement;
  }

 private:
  const std::unique_ptr<DatasetIterator> input_;
  const int64_t period_;
  int64_t skip_;
};

class RepeatIterator final : public DatasetIterator {
 public:
  RepeatIterator(DatasetPtr dataset, int64_t count) : dataset_(std::move(dataset)), left_(count) {}
  Result<Pulled> Next(Puller& puller, Element* element) override {
    while (left_ != 0) {
      if (input_ == nullptr) input_ = dataset_->MakeIterator();
      TRY_ASSIGN(const Pulled pulled, Pull(*input_, puller, element));
      if (pulled != Pulled::kEnd) {
        empty_ &= pulled != Pulled::kElement;
        return pulled;
      }
      input_.reset();
      if (left_ > 0) --left_;
      if (empty_) left_ = 0;  // or it would go round for ever
      empty_ = true;
    }
    return Pulled::kEnd;
  }

 private:
  const DatasetPtr dataset_;
  int64_t left_;  // negative: no end
  bool empty_ = true;
  std::unique_ptr<DatasetIterator> input_;
};

class ConcatenateIterator final : public DatasetIterator {
 public:
  ConcatenateIterator(const DatasetPtr& first, DatasetPtr second)
      : input_(first->MakeIterator()), second_(std::move(second)) {}
  Result<Pulled> Next(Puller& puller, Element* element) override {
    while (true) {
      TRY_ASSIGN(const Pulled pulled, Pull(*input_, puller, element));
      if (pulled != Pulled::kEnd || second_ == nullptr) return pulled;
      input_ = std::exchange(second_, nullptr)->MakeIterator();
    }
  }

 private:
  std::unique_ptr<DatasetIterator> input_;
  DatasetPtr second_;
};

class Concatenated final : public Dataset {
 public:
  explicit Concatenated(std::vector<DatasetPtr> inputs)
      : Dataset(inputs), inputs_(std::move(inputs)) {}
  std::unique_ptr<DatasetIterator> MakeIterator() const override {
    return std::make_unique<ConcatenateIterator>(inputs_[0], inputs_[1]);
  }

 private:
  const std::vector<DatasetPtr> inputs_;
};

class ZipIterator final : public DatasetIterator {
 public:
  explicit ZipIterator(const std::vector<DatasetPtr>& datasets) {
    for (const DatasetPtr& dataset : datasets) inputs_.push_back(dataset->MakeIterator());
  }
  Result<Pulled> Next(Puller& puller, Element* element) override {
    for (; at_ < inputs_.size(); ++at_) {
      Element part;
      const Result<Pulled> pulled = Pull(*inputs_[at_], puller, &part);
      if (!pulled.ok() || *pulled == Pulled::kEnd) {
        collected_.clear();
        // Those that were asked have lost an element; the others lose theirs with the next.
        at_ = 0;
        return pulled;
      }
      if (*pulled == Pulled::kPending) return pulled;
      std::move(part.begin(), part.end(), std::back_inserter(collected_));
    }
    at_ = 0;
    element->swap(collected_);
    return Pulled::kElement;
  }

 private:
  std::vector<std::unique_ptr<DatasetIterator>> inputs_;
  size_t at_ = 0;  // who is asked next
  Element collected_;
};

class Zipped final : public Dataset {
 public:
  explicit Zipped(std::vector<DatasetPtr> inputs) : Dataset(inputs), inputs_(std::move(inputs)) {}
  std::unique_ptr<DatasetIterator> MakeIterator() const override {
    return std::make_unique<ZipIterator>(inputs_);
  }

 private:
  const std::vector<DatasetPtr> inputs_;
};

// The elements of a dataset that was read to its end.
// Threads: all methods may be called concurrently.
class Cache {
 public:
  std::shared_ptr<const std::vector<Element>> Get() const {
    MutexLock lock(mu_);
    return elements_;
  }
  void Set(std::vector<Element> elements) {
    MutexLock lock(mu_);
    elements_ = std::make_shared<const std::vector<Element>>(std::move(elements));
  }

 private:
  mutable Mutex mu_;
  std::shared_ptr<const std::vector<Element>> elements_ GUARDED_BY(mu_);
};

class CacheIterator final : public DatasetIterator {
 public:
  CacheIterator(const DatasetPtr& input, std::shared_ptr<Cache> cache)
      : cache_(std::move(cache)), cached_(cache_->Get()) {
    if (cached_ == nullptr) input_ = input->MakeIterator();
  }
  Result<Pulled> Next(Puller& puller, Element* element) override {
    if (cached_ != nullptr) {
      if (at_ == cached_->size()) return Pulled::kEnd;
      *element = (*cached_)[at_++];
      return Pulled::kElement;
    }
    if (input_ == nullptr) return Pulled::kEnd;
    TRY_ASSIGN(const Pulled pulled, Pull(*input_, puller, element));
    if (pulled == Pulled::kElement) read_.push_back(*element);
    if (pulled == Pulled::kEnd) {
      cache_->Set(std::move(read_));
      input_.reset();
    }
    return pulled;
  }

 private:
  const std::shared_ptr<Cache> cache_;
  const std::shared_ptr<const std::vector<Element>> cached_;
  size_t at_ = 0;
  std::unique_ptr<DatasetIterator> input_;  // null when it has ended
  std::vector<Element> read_;
};

Result<std::vector<DatasetPtr>> DatasetsIn(std::span<Tensor* const> tensors) {
  std::vector<DatasetPtr> datasets;
  for (const Tensor* tensor : tensors) {
    TRY_ASSIGN(DatasetPtr dataset, DatasetIn(*tensor));
    datasets.push_back(std::move(dataset));
  }
  return datasets;
}

Status PassOn(CpuContext& context, const Tensor& input) {
  TRY_ASSIGN(DatasetPtr dataset, DatasetIn(input));
  return SetDataset(context, std::move(dataset));
}

}  // namespace

Status TakeDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                               int64_t count) const {
  return SetOver<TakeIterator>(context, input_dataset, count);
}

Status SkipDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                               int64_t count) const {
  if (count < 0) return SetOver<TakeIterator>(context, input_dataset, int64_t{0});
  return SetOver<EveryIterator>(context, input_dataset, count, int64_t{1});
}

Status RepeatDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                 int64_t count) const {
  return SetOver<RepeatIterator>(context, input_dataset, count);
}

DatasetPtr Repeated(DatasetPtr dataset, int64_t count) {
  return MakeOver<RepeatIterator>(std::move(dataset), count);
}

Status ShardDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                int64_t num_shards, int64_t index) const {
  if (num_shards <= 0)
    return InvalidArgument(
        "Number of shards must be greater than zero (currently num_shards = {}).", num_shards);
  if (index < 0 || index >= num_shards)
    return InvalidArgument("Index must be between 0 and {} (currently index = {}).", num_shards - 1,
                           index);
  return SetOver<EveryIterator>(context, input_dataset, index, num_shards);
}

Status ConcatenateDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                      const Tensor& another_dataset) const {
  TRY_ASSIGN(DatasetPtr first, DatasetIn(input_dataset));
  TRY_ASSIGN(DatasetPtr second, DatasetIn(another_dataset));
  return SetDataset(
      context, std::make_shared<Concatenated>(std::vector{std::move(first), std::move(second)}));
}

Result<Shape> ZipDataset::InferShape(std::span<const Known> input_datasets) const {
  for (const Known& input : input_datasets) TRY(CheckScalar(*input.shape, "input_datasets"));
  return Shape();
}

Status ZipDataset::ComputeCpu(CpuContext& context, std::span<Tensor* const> input_datasets) const {
  TRY_ASSIGN(std::vector<DatasetPtr> datasets, DatasetsIn(input_datasets));
  return SetDataset(context, std::make_shared<Zipped>(std::move(datasets)));
}

Status CacheDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                const Tensor& filename) const {
  if (!filename.scalar<std::string>().empty())
    return Unimplemented("a dataset is cached in memory only, not in a file");
  return SetOver<CacheIterator>(context, input_dataset, std::make_shared<Cache>());
}

Status PrefetchDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                   int64_t buffer_size) const {
  if (buffer_size < -1)
    return InvalidArgument("buffer_size must be >= 0 or -1 (chosen by the system), got {}",
                           buffer_size);
  return PassOn(context, input_dataset);
}

Status ModelDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset) const {
  return PassOn(context, input_dataset);
}

Status OptimizeDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                   const Tensor&) const {
  return PassOn(context, input_dataset);
}

Status OptimizeDatasetV2::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                     const Tensor&, const Tensor&, const Tensor&) const {
  return PassOn(context, input_dataset);
}

Status OptionsDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset) const {
  return PassOn(context, input_dataset);
}

Status FinalizeDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset) const {
  return PassOn(context, input_dataset);
}

void RegisterDatasetTransforms(Registrar& registrar) {
  registrar.AddAll<TakeDataset, SkipDataset, RepeatDataset, ShardDataset, ConcatenateDataset,
                   ZipDataset, CacheDataset, PrefetchDataset, ModelDataset, OptimizeDataset,
                   OptimizeDatasetV2, OptionsDataset, FinalizeDataset>();
}

}  // namespace penstock::ops
