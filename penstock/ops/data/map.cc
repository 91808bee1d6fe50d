#include "penstock/ops/data/map.h"

#include <deque>

#include "penstock/ops/data/dataset_over.h"
#include "penstock/ops/data/element_function.h"

namespace penstock::ops {
namespace {

// When the user leaves the number of calls to us: results do not depend on it.
constexpr int64_t kChosenCalls = 8;
constexpr int64_t kMaxCalls = 1024;

class MapIterator final : public DatasetIterator {
 public:
  MapIterator(const DatasetPtr& input, const ElementFunction& function)
      : input_(input->MakeIterator()), function_(function) {}

  Result<Pulled> Next(Puller& puller, Element* element) override {
    if (!call_.under_way()) {
      TRY_ASSIGN(const Pulled pulled, Pull(*input_, puller, element));
      if (pulled != Pulled::kElement) return pulled;
      call_.Start(function_, std::move(*element), puller);
    }
    std::optional<Result<Element>> results = call_.Take();
    if (!results) return Pulled::kPending;
    if (!results->ok()) return results->status();
    *element = **std::move(results);
    return Pulled::kElement;
  }

 private:
  const std::unique_ptr<DatasetIterator> input_;
  const ElementFunction function_;
  ElementCall call_;
};

// Starts calls for several elements, waits for all of them, and hands out what they gave in order.
// No call outlives the step in which it was started.
class ParallelMapIterator final : public DatasetIterator {
 public:
  ParallelMapIterator(const DatasetPtr& input, const ElementFunction& function, int64_t calls)
      : input_(input->MakeIterator()), function_(function), calls_(static_cast<size_t>(calls)) {}

  Result<Pulled> Next(Puller& puller, Element* element) override {
    if (collecting_) {
      if (!StartCalls(puller) || !TakeAnswers()) return Pulled::kPending;
      collecting_ = false;
    }
    if (slots_.empty()) return Pulled::kEnd;
    Result<Element> next = *std::move(slots_.front().result);
    slots_.pop_front();
    if (slots_.empty() && !ended_) collecting_ = true;
    if (!next.ok()) return next.status();
    *element = *std::move(next);
    return Pulled::kElement;
  }

 private:
  struct Slot {
    ElementCall call;
    std::optional<Result<Element>> result;
  };

  // False when the input has to be waited for.
  bool StartCalls(Puller& puller) {
    while (!ended_ && slots_.size() < calls_) {
      Element element;
      const Result<Pulled> pulled = Pull(*input_, puller, &element);
      if (pulled.ok() && *pulled == Pulled::kPending) return false;
      ended_ = pulled.ok() && *pulled == Pulled::kEnd;
      if (ended_) break;
      Slot& slot = slots_.emplace_back();
      if (!pulled.ok()) {
        slot.result = pulled.status();  // comes when its turn is
      } else {
        slot.call.Start(function_, std::move(element), puller, /*parallel=*/true);
      }
    }
    return true;
  }

  bool TakeAnswers() {
    bool all = true;
    for (Slot& slot : slots_) {
      if (!slot.result) slot.result = slot.call.Take();
      all &= slot.result.has_value();
    }
    return all;
  }

  const std::unique_ptr<DatasetIterator> input_;
  const ElementFunction function_;
  const size_t calls_;
  bool collecting_ = true;  // else what is in the slots is handed out
  bool ended_ = false;
  std::deque<Slot> slots_;
};

class FilterIterator final : public DatasetIterator {
 public:
  FilterIterator(const DatasetPtr& input, const ElementFunction& predicate)
      : input_(input->MakeIterator()), predicate_(predicate) {}

  Result<Pulled> Next(Puller& puller, Element* element) override {
    while (true) {
      if (!call_.under_way()) {
        TRY_ASSIGN(const Pulled pulled, Pull(*input_, puller, &candidate_));
        if (pulled != Pulled::kElement) return pulled;
        call_.Start(predicate_, candidate_, puller);
      }
      std::optional<Result<Element>> results = call_.Take();
      if (!results) return Pulled::kPending;
      if (!results->ok()) return results->status();
      const Element& verdict = **results;
      if (verdict.size() != 1 || verdict[0].dtype() != DType::kBool ||
          verdict[0].num_elements() != 1)
        return InvalidArgument("Filter predicate `f` must return a scalar bool.");
      if (!verdict[0].scalar<bool>()) continue;
      element->swap(candidate_);
      return Pulled::kElement;
    }
  }

 private:
  const std::unique_ptr<DatasetIterator> input_;
  const ElementFunction predicate_;
  Element candidate_;
  ElementCall call_;
};

Status SetParallel(CpuContext& context, const Tensor& input, const FunctionName& f,
                   std::span<Tensor* const> captured, int64_t calls) {
  if (calls == -1) calls = kChosenCalls;
  if (calls <= 0) return InvalidArgument("num_parallel_calls must be greater than zero.");
  return SetOver<ParallelMapIterator>(context, input, ElementFunction{f, KeptInputs(captured)},
                                      std::min(calls, kMaxCalls));
}

}  // namespace

Status MapDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                              std::span<Tensor* const> other_arguments) const {
  return SetOver<MapIterator>(context, input_dataset,
                              ElementFunction{f, KeptInputs(other_arguments)});
}

Status ParallelMapDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                      std::span<Tensor* const> other_arguments,
                                      int32_t num_parallel_calls) const {
  return SetParallel(context, input_dataset, f, other_arguments, num_parallel_calls);
}

Status ParallelMapDatasetV2::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                        std::span<Tensor* const> other_arguments,
                                        int64_t num_parallel_calls) const {
  return SetParallel(context, input_dataset, f, other_arguments, num_parallel_calls);
}

Status FilterDataset::ComputeCpu(CpuContext& context, const Tensor& input_dataset,
                                 std::span<Tensor* const> other_arguments) const {
  return SetOver<FilterIterator>(context, input_dataset,
                                 ElementFunction{predicate, KeptInputs(other_arguments)});
}

void RegisterDatasetMaps(Registrar& registrar) {
  registrar.AddAll<MapDataset, ParallelMapDataset, ParallelMapDatasetV2, FilterDataset>();
}

}  // namespace penstock::ops
