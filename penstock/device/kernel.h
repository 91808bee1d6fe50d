#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/allocator.h"
#include "penstock/core/cancellation.h"
#include "penstock/core/parallel.h"
#include "penstock/core/status.h"
#include "penstock/core/tensor.h"

namespace penstock {

class FunctionRunner;
class Rendezvous;
class StateRegistry;

// What all nodes of one step on one device share.
struct StepResources {
  Allocator* allocator = nullptr;
  ParallelFor parallel;
  Cancellation* cancellation = nullptr;
  StateRegistry* state = nullptr;
  FunctionRunner* functions = nullptr;  // runs the library's functions for kernels that call them
  Rendezvous* rendezvous = nullptr;     // where this step's tensors are sent and received
  int64_t step_id = 0;
  int32_t call_depth = 0;  // how many function calls this step is inside of
};

// What a kernel sees of its step: inputs, memory, threads. Made by the executor; valid until
// Compute returns or, for an asynchronous kernel, until `done` is called. Threads: belongs to the
// kernel while it runs.
class KernelContext {
 public:
  int num_inputs() const { return num_inputs_; }
  int num_outputs() const { return num_outputs_; }
  const Tensor& input(int i) const { return *inputs_[i]; }
  // The inputs [begin, begin + count), for list arguments.
  std::span<Tensor* const> inputs(int begin, int count) const {
    return {inputs_ + begin, static_cast<size_t>(count)};
  }

  // True when this node is the last reader of input i and no one else holds its memory.
  bool MayOverwrite(int i) const {
    return i < 64 && (last_use_ >> i & 1) != 0 && inputs_[i]->OwnsUniquely();
  }
  // Takes the input's tensor. REQUIRES: MayOverwrite(i).
  Tensor TakeInput(int i) { return std::move(*inputs_[i]); }

  // Memory of the step's device.
  Result<Tensor> Allocate(DType dtype, const Shape& shape) {
    return Tensor::Make(step_->allocator, dtype, shape);
  }
  // Output i with memory: the place the plan gave it, or new memory.
  Status AllocateOutput(int i, DType dtype, const Shape& shape) {
    if (placed_ && outputs_[i].initialized()) return OkStatus();
    TRY_ASSIGN(outputs_[i], Tensor::Make(step_->allocator, dtype, shape));
    return OkStatus();
  }
  Tensor& output(int i) { return outputs_[i]; }
  void SetOutput(int i, Tensor tensor) { outputs_[i] = std::move(tensor); }
  // The shapes of the outputs when the compiler has settled them; null when the kernel must infer
  // and check them.
  const Shape* settled_shapes() const { return settled_; }
  // Marks output i as dead: the branch not taken.
  void SetDead(int i) { dead_outputs_ |= uint64_t{1} << i; }

  const ParallelFor& parallel() const { return step_->parallel; }
  Cancellation* cancellation() const { return step_->cancellation; }
  StateRegistry& state() const { return *step_->state; }
  Allocator* allocator() const { return step_->allocator; }
  int64_t step_id() const { return step_->step_id; }
  // All of the above, for a kernel that starts a step of its own (a function call).
  const StepResources& step() const { return *step_; }

 private:
  friend class KernelContextBuilder;

  Tensor* const* inputs_ = nullptr;
  Tensor* outputs_ = nullptr;
  const Shape* settled_ = nullptr;
  StepResources* step_ = nullptr;
  uint64_t last_use_ = 0;
  uint64_t dead_outputs_ = 0;
  int32_t num_inputs_ = 0;
  int32_t num_outputs_ = 0;
  bool placed_ = false;
};

// Fills a KernelContext: for executors and tests.
class KernelContextBuilder {
 public:
  explicit KernelContextBuilder(StepResources* step) { context_.step_ = step; }
  KernelContextBuilder& Inputs(Tensor* const* inputs, int count) {
    context_.inputs_ = inputs;
    context_.num_inputs_ = count;
    return *this;
  }
  KernelContextBuilder& Outputs(Tensor* outputs, int count, bool placed) {
    context_.outputs_ = outputs;
    context_.num_outputs_ = count;
    context_.placed_ = placed;
    return *this;
  }
  KernelContextBuilder& Settled(const Shape* shapes) {
    context_.settled_ = shapes;
    return *this;
  }
  KernelContextBuilder& LastUse(uint64_t mask) {
    context_.last_use_ = mask;
    return *this;
  }
  uint64_t TakeDeadOutputs() { return std::exchange(context_.dead_outputs_, 0); }
  KernelContext& context() { return context_; }

 private:
  KernelContext context_;
};

// An op's implementation for a device type, bound to one node.
// Threads: Compute may run concurrently for several steps.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Status Compute(KernelContext& context) = 0;
  // Kernels that can wait (queues, Recv) answer true and implement ComputeAsync; Compute is then
  // not called.
  virtual bool IsAsync() const { return false; }
  virtual void ComputeAsync(KernelContext& context, std::function<void(Status)> done);
};

// What a kernel is made from.
struct KernelRequest {
  std::shared_ptr<const void>
      op;            // the decoded struct of the op that the factory was registered for
  std::string node;  // its name, for state that is keyed by it
  std::span<const DType> inputs;
  std::span<const DType> outputs;
};
using KernelFactory = std::function<Result<std::unique_ptr<Kernel>>(const KernelRequest&)>;

// Which ops have a kernel on which device type. Filled once at start, then read only.
class KernelRegistry {
 public:
  KernelRegistry();
  ~KernelRegistry();
  KernelRegistry(const KernelRegistry&) = delete;
  KernelRegistry& operator=(const KernelRegistry&) = delete;

  Status Add(std::string_view op, std::string_view device_type, KernelFactory factory);
  bool Has(std::string_view op, std::string_view device_type) const;
  // NotFound when there is none; Unimplemented when there is one, but not for these dtypes.
  Result<std::unique_ptr<Kernel>> Create(std::string_view op, std::string_view device_type,
                                         const KernelRequest& request) const;

 private:
  struct Table;
  std::unique_ptr<Table> table_;
};

// The kernels of this library; defined in ops/register_all.cc.
const KernelRegistry& StandardKernels();

}  // namespace penstock
