#include "penstock/ops/data/element_function.h"

#include <atomic>

#include "penstock/device/function_runner.h"

namespace penstock::ops {

struct ElementCall::Answer {
  // Release when `results` is written, acquire before it is read.
  std::atomic<bool> there{false};
  Result<Element> results = Element();

  void Set(Result<Element> value) {
    results = std::move(value);
    there.store(true, std::memory_order_release);
  }
};

void ElementCall::Start(const ElementFunction& function, Element element, Puller& puller,
                        bool parallel) {
  answer_ = std::make_shared<Answer>();
  const StepResources& step = *puller.step;
  if (step.functions == nullptr) {
    return answer_->Set(FailedPrecondition("function {} cannot run here: there is no library",
                                           Printable(function.name.name)));
  }
  // Found each time: an iterator may outlive the session that made it.
  const Result<RunnableFunction*> found = step.functions->Find(function.name);
  if (!found.ok()) return answer_->Set(found.status());
  element.insert(element.end(), function.captured.begin(), function.captured.end());
  std::vector<DType> dtypes;
  for (const Tensor& tensor : element) dtypes.push_back(tensor.dtype());
  if ((*found)->args() != dtypes) {
    return answer_->Set(InvalidArgument("function {} takes {}, but its dataset passes {}",
                                        Printable((*found)->name()), ToString((*found)->args()),
                                        ToString(dtypes)));
  }
  if (!parallel && !(*found)->may_wait()) {
    return answer_->Set((*found)->Run(step, {.taken = element}));
  }
  (*found)->Start(step, {.taken = element},
                  [answer = answer_, wake = puller.wake](Result<Element> results) {
                    answer->Set(std::move(results));
                    wake();
                  });
}

std::optional<Result<Element>> ElementCall::Take() {
  if (!answer_->there.load(std::memory_order_acquire)) return std::nullopt;
  std::optional<Result<Element>> results = std::move(answer_->results);
  answer_.reset();
  return results;
}

}  // namespace penstock::ops
