#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/device/function_runner.h"
#include "penstock/device/kernel.h"
#include "penstock/graph/attr_value.h"

namespace penstock {

// A function that a kernel calls, as the node declares it. Found at the first call, checked against
// what the node says of it, and kept: a kernel belongs to one session, whose runner keeps its
// functions. Threads: Get may be called concurrently.
class CalledFunction {
 public:
  // `role` is the attribute that names it: "body". Without `results` it must return one value, of
  // whatever dtype.
  CalledFunction(FunctionName function, std::string_view role, std::vector<DType> args,
                 std::optional<std::vector<DType>> results)
      : function_(std::move(function)),
        role_(role),
        args_(std::move(args)),
        results_(std::move(results)) {}

  Result<RunnableFunction*> Get(const StepResources& step) const {
    // Acquire: who sees the pointer sees the function.
    if (RunnableFunction* found = found_.load(std::memory_order_acquire)) return found;
    return Find(step);
  }

 private:
  Result<RunnableFunction*> Find(const StepResources& step) const;
  Status CheckTypes(const RunnableFunction& found) const;

  const FunctionName function_;
  const std::string_view role_;
  const std::vector<DType> args_;
  const std::optional<std::vector<DType>> results_;
  mutable std::atomic<RunnableFunction*> found_{nullptr};
};

// The inputs of a kernel from `first` on, as a function's arguments: moved where nobody else reads
// them.
std::vector<Tensor> TakeInputs(KernelContext& context, int first);

// Hands a function's results to the kernel's outputs. InvalidArgument when a result does not have
// the shape that the node promised; `promised` is empty when it promised none.
Status SetOutputs(KernelContext& context, std::vector<Tensor> results,
                  const std::vector<Shape>& promised);

// Whether a value stands for true: a scalar that is not zero, a string that is not empty, or a
// tensor of other rank that has elements.
Result<bool> IsTrue(const Tensor& value);

}  // namespace penstock
