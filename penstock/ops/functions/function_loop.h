#pragma once

#include <atomic>
#include <functional>
#include <vector>

#include "penstock/device/function_runner.h"
#include "penstock/device/kernel.h"

namespace penstock {

// A loop in the making: calls a body again and again on this thread, on what its last call
// returned. A call that waits ends the thread's part; the loop then goes on where the call is
// answered. Neither way does the stack grow with the iterations.
// Threads: one at a time runs the loop.
class FunctionLoop {
 public:
  using Done = std::function<void(Result<std::vector<Tensor>>)>;

  // A While. REQUIRES: what `step` points at, and the functions, outlive the loop.
  FunctionLoop(const StepResources& step, RunnableFunction* cond, RunnableFunction* body,
               std::vector<Tensor> values)
      : step_(step), cond_(cond), body_(body), values_(std::move(values)) {}
  // A For: the body is called with i before the values.
  FunctionLoop(const StepResources& step, int32_t start, int32_t limit, int32_t delta,
               RunnableFunction* body, std::vector<Tensor> values)
      : step_(step),
        body_(body),
        values_(std::move(values)),
        next_(start),
        limit_(limit),
        delta_(delta) {}

  bool may_wait() const { return body_->may_wait() || (cond_ != nullptr && cond_->may_wait()); }
  // To the end, on this thread. REQUIRES: !may_wait().
  Result<std::vector<Tensor>> Run();
  // The same without waiting. Deletes the loop before it calls `done`. REQUIRES: made by new.
  void Start(Done done);

 private:
  enum class Phase { kTest, kBody, kEnded };

  // Goes on until the loop has ended (true) or a call waits (false).
  bool Advance();
  // Starts what comes next; true when it has been answered.
  bool CallNext();
  // Takes in the answer of the last call.
  void TakeAnswer();
  void Finish();

  const StepResources step_;
  RunnableFunction* const cond_ = nullptr;  // null: a For
  RunnableFunction* const body_;
  std::vector<Tensor> values_;
  int64_t next_ = 0;
  const int64_t limit_ = 0;
  const int64_t delta_ = 0;

  Phase phase_ = Phase::kTest;
  Result<std::vector<Tensor>> answer_ = std::vector<Tensor>();
  Status status_;
  // Set by the first of two: the thread that leaves a call behind, and the answer. The second goes
  // on with the loop.
  std::atomic<bool> handed_over_{false};
  Done done_;
};

}  // namespace penstock
