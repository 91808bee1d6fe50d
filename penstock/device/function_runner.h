#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "penstock/core/dtype.h"
#include "penstock/core/status.h"
#include "penstock/core/tensor.h"

namespace penstock {

struct FunctionName;   // graph/attr_value.h: a function and the values of its attributes
struct StepResources;  // device/kernel.h

// What a call passes on, one of both: `shared` stays the caller's; `taken` is emptied, so that the
// function may overwrite what nobody else holds.
struct CallArgs {
  std::span<const Tensor> shared = {};
  std::span<Tensor> taken = {};
};

// A function of the library, compiled for the device. Made by a FunctionRunner and kept by it.
// Threads: all methods may be called concurrently.
class RunnableFunction {
 public:
  using Done = std::function<void(Result<std::vector<Tensor>>)>;

  RunnableFunction(std::string name, std::vector<DType> args, std::vector<DType> results,
                   bool may_wait)
      : name_(std::move(name)),
        args_(std::move(args)),
        results_(std::move(results)),
        may_wait_(may_wait) {}
  virtual ~RunnableFunction() = default;

  const std::string& name() const { return name_; }
  const std::vector<DType>& args() const { return args_; }
  const std::vector<DType>& results() const { return results_; }
  // Whether something in it waits for the outside: then it is started, never run.
  bool may_wait() const { return may_wait_; }

  // Runs it as a part of the step that calls, on this thread. REQUIRES: !may_wait(), and args of
  // the right dtypes.
  virtual Result<std::vector<Tensor>> Run(const StepResources& caller, const CallArgs& args) = 0;
  // The same without waiting: `done` is called before Start returns or later, on another thread.
  // `caller` must live until Start returns, and what it points at until then.
  virtual void Start(const StepResources& caller, const CallArgs& args, Done done) = 0;

 private:
  const std::string name_;
  const std::vector<DType> args_;
  const std::vector<DType> results_;
  const bool may_wait_;
};

// How deep functions may call functions, loops and branches included.
inline constexpr int32_t kMaxCallDepth = 200;

// Finds the functions that kernels call.
// Threads: all methods may be called concurrently.
class FunctionRunner {
 public:
  virtual ~FunctionRunner() = default;
  // The function, compiled when it was not yet. It lives as long as the runner.
  virtual Result<RunnableFunction*> Find(const FunctionName& function) = 0;
};

}  // namespace penstock
