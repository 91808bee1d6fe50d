#include "penstock/ops/data/interleave.h"

#include "penstock/ops/data/dataset_over.h"
#include "penstock/ops/data/element_function.h"

namespace penstock::ops {
namespace {

// When the user leaves the number of datasets to us.
constexpr int64_t kChosenCycle = 10;

class InterleaveIterator final : public DatasetIterator {
 public:
  InterleaveIterator(const DatasetPtr& input, const ElementFunction& function, int64_t cycle,
                     int64_t block)
      : input_(input->MakeIterator()), function_(function), cycle_(cycle), block_(block) {}

  Result<Pulled> Next(Puller& puller, Element* element) override {
    while (!ended_ || num_open_ > 0) {
      if (at_ < static_cast<int64_t>(open_.size()) && open_[static_cast<size_t>(at_)] != nullptr) {
        std::unique_ptr<DatasetIterator>& current = open_[static_cast<size_t>(at_)];
        TRY_ASSIGN(const Pulled pulled, Pull(*current, puller, element));
        if (pulled == Pulled::kPending) return pulled;
        if (pulled == Pulled::kElement) {
          if (++given_ == block_) GoOn();
          return pulled;
        }
        current.reset();
        --num_open_;
        GoOn();
      } else if (!ended_) {
        TRY_ASSIGN(const bool there, Open(puller));
        if (!there) return Pulled::kPending;
      } else {
        GoOn();
      }
    }
    return Pulled::kEnd;
  }

 private:
  // Opens the next dataset in the present place; false when that has to be waited for.
  Result<bool> Open(Puller& puller) {
    if (!call_.under_way()) {
      Element element;
      TRY_ASSIGN(const Pulled pulled, Pull(*input_, puller, &element));
      if (pulled == Pulled::kPending) return false;
      if (pulled == Pulled::kEnd) {
        ended_ = true;
        // Places that were never taken stay empty: there is no need to visit them.
        cycle_ = std::max<int64_t>(1, static_cast<int64_t>(open_.size()));
        if (at_ >= cycle_) at_ = 0;
        return true;
      }
      call_.Start(function_, std::move(element), puller);
    }
    std::optional<Result<Element>> results = call_.Take();
    if (!results) return false;
    if (!results->ok()) return results->status();
    if ((*results)->size() != 1)
      return InvalidArgument("the function must return one dataset, got {} values",
                             (*results)->size());
    TRY_ASSIGN(const DatasetPtr dataset, DatasetIn((**results)[0]));
    if (at_ == static_cast<int64_t>(open_.size())) open_.emplace_back();
    open_[static_cast<size_t>(at_)] = dataset->MakeIterator();
    ++num_open_;
    return true;
  }

  void GoOn() {
    given_ = 0;
    at_ = at_ + 1 < cycle_ ? at_ + 1 : 0;
  }

  const std::unique_ptr<DatasetIterator> input_;
  const ElementFunction function_;
  int64_t cycle_;
  const int64_t block_;
  bool ended_ = false;  // the input
  ElementCall call_;
  std::vector<std::unique_ptr<DatasetIterator>> open_;  // grows to cycle_ at most
  int64_t num_open_ = 0;
  int64_t at_ = 0;     // whose turn it is
  int64_t given_ = 0;  // how many elements it has given in this turn
};

Status SetInterleave(CpuContext& context, const Tensor& input, const FunctionName& f,
                     std::span<Tensor* const> captured, int64_t cycle, int64_t block) {
  if (cycle == -1) cycle = kChosenCycle;
  if (cycle <= 0) return InvalidArgument("cycle_length must be greater than zero.");
  if (block <= 0) return InvalidArgument("block_length must be greater than zero.");
  return SetOver<InterleaveIterator>(context, input, ElementFunction{f, KeptInputs(captured)},
                                     cycle, block);
}

}  // namespace

Status FlatMapDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                  std::span<Tensor* const> other_arguments) const {
  return SetInterleave(context, input_dataset, f, other_arguments, 1, 1);
}

Status InterleaveDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                     std::span<Tensor* const> other_arguments, int64_t cycle_length,
                                     int64_t block_length) const {
  return SetInterleave(context, input_dataset, f, other_arguments, cycle_length, block_length);
}

Status ParallelInterleaveDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                             std::span<Tensor* const> other_arguments,
                                             int64_t cycle_length, int64_t block_length, bool,
                                             int64_t, int64_t) const {
  return SetInterleave(context, input_dataset, f, other_arguments, cycle_length, block_length);
}

Status ExperimentalParallelInterleaveDataset::ComputeCpu(CpuContext& context,
                                                         const Tensor& input_dataset,
                                                         std::span<Tensor* const> other_arguments,
                                                         int64_t cycle_length, int64_t block_length,
                                                         bool, int64_t, int64_t) const {
  return SetInterleave(context, input_dataset, f, other_arguments, cycle_length, block_length);
}

Status ParallelInterleaveDatasetV2::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                               std::span<Tensor* const> other_arguments,
                                               int64_t cycle_length, int64_t block_length,
                                               int64_t) const {
  return SetInterleave(context, input_dataset, f, other_arguments, cycle_length, block_length);
}

Status ParallelInterleaveDatasetV3::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                               std::span<Tensor* const> other_arguments,
                                               int64_t cycle_length, int64_t block_length,
                                               int64_t) const {
  return SetInterleave(context, input_dataset, f, other_arguments, cycle_length, block_length);
}

Status ParallelInterleaveDatasetV4::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                               std::span<Tensor* const> other_arguments,
                                               int64_t cycle_length, int64_t block_length, int64_t,
                                               int64_t, int64_t) const {
  return SetInterleave(context, input_dataset, f, other_arguments, cycle_length, block_length);
}

void RegisterDatasetInterleaves(Registrar& registrar) {
  registrar.AddAll<FlatMapDataset, InterleaveDataset, ParallelInterleaveDataset,
                   ExperimentalParallelInterleaveDataset, ParallelInterleaveDatasetV2,
                   ParallelInterleaveDatasetV3, ParallelInterleaveDatasetV4>();
}

}  // namespace penstock::ops
