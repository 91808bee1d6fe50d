#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "penstock/core/function_ref.h"
#include "penstock/core/mutex.h"
#include "penstock/core/resource.h"
#include "penstock/ops/elementwise.h"
#include "penstock/ops/state/node_queue.h"

// Gradients that are summed until enough of them have come: how synchronous training waits for its
// workers.

namespace penstock::ops {

// What an accumulator is made as.
struct AccumulatorSpec {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();  // of a gradient; may be partial
  bool averages = true;            // else sums
};

// What accumulators of dense and of sparse gradients share: who counts, who waits, which gradients
// are too old. Threads: all methods may be called concurrently. Callbacks run without the lock.
class Accumulator : public Resource, public std::enable_shared_from_this<Accumulator> {
 public:
  static constexpr char kTypeName[] = "ConditionalAccumulator";

  const AccumulatorSpec& spec() const { return spec_; }
  int32_t num_accumulated() const;
  // Gradients of earlier steps are dropped from now on. Going back is logged, as TensorFlow does.
  void SetGlobalStep(int64_t step);
  // Waits until `required` gradients were applied, then writes what they make to the outputs of
  // `context`, begins anew and moves to the next step.
  void Take(KernelContext& context, int64_t required, const std::function<void(Status)>& done);
  std::string DebugString() const override;

 protected:
  // The blocks are those of spec.dtype.
  Accumulator(AccumulatorSpec spec, const ElementwiseBlock& add, const ElementwiseBlock& divide)
      : add_(add), divide_(divide), spec_(std::move(spec)) {}

  // Counts a gradient that `add` adds, with the lock held, unless `local_step` is behind.
  Status Apply(int64_t local_step, FunctionRef<Status()> add);
  // Adds b to a in place, where nobody else holds it.
  Status AddTo(KernelContext& context, const Tensor& b, Tensor& a) const;
  // Divides by a number, in place, where nobody else holds it.
  Status DivideBy(KernelContext& context, int64_t divisor, Tensor& a) const;

  // With the lock held: writes to the outputs and forgets. `count` gradients have come, more than
  // none.
  virtual Status Give(KernelContext& context, int64_t count) = 0;

  mutable Mutex mu_;

 private:
  void ServeWaiters();
  void Cancel(uint64_t id);

  const ElementwiseBlock add_;
  const ElementwiseBlock divide_;
  const AccumulatorSpec spec_;
  int64_t count_ GUARDED_BY(mu_) = 0;
  int64_t step_ GUARDED_BY(mu_) = 0;
  NodeQueue waiters_ GUARDED_BY(mu_);
};

class DenseAccumulator final : public Accumulator {
 public:
  DenseAccumulator(const AccumulatorSpec& spec, const ElementwiseBlock& add,
                   const ElementwiseBlock& divide)
      : Accumulator(spec, add, divide) {}

  // Adds input 2 of the node.
  Status ApplyGradient(KernelContext& context, int64_t local_step);
  size_t MemoryBytes() const override;

 private:
  Status Give(KernelContext& context, int64_t count) override;

  Tensor sum_ GUARDED_BY(mu_);
};

// Gradients given as rows: the average of a row is over the gradients that had it.
class SparseAccumulator final : public Accumulator {
 public:
  static constexpr char kTypeName[] = "SparseConditionalAccumulator";
  SparseAccumulator(const AccumulatorSpec& spec, const ElementwiseBlock& add,
                    const ElementwiseBlock& divide)
      : Accumulator(spec, add, divide) {}

  // values[i, ...] belongs to row indices[i]; `shape` may be empty when it is not known.
  Status ApplyGradient(KernelContext& context, int64_t local_step, const Tensor& indices,
                       const Tensor& values, const Tensor& shape, bool has_known_shape);
  size_t MemoryBytes() const override;

 private:
  struct Row {
    Tensor sum;
    int64_t count = 0;          // gradients that had it
    int64_t last_gradient = 0;  // the number of the last of them
  };

  Status Check(const Tensor& indices, const Tensor& values, const Tensor& shape,
               bool has_known_shape) const REQUIRES_LOCK(mu_);
  Status AddRows(KernelContext& context, const Tensor& indices, const Tensor& values)
      REQUIRES_LOCK(mu_);
  Status Give(KernelContext& context, int64_t count) override;

  std::map<int64_t, Row> rows_ GUARDED_BY(mu_);
  Shape values_shape_ GUARDED_BY(mu_) = Shape::Unknown();  // of the gradients so far
  int64_t gradient_ GUARDED_BY(mu_) = 0;
};

// The blocks for a dtype of gradients; Unimplemented when there are none.
struct AccumulatorBlocks {
  ElementwiseBlock add;
  ElementwiseBlock divide;
};
Result<AccumulatorBlocks> FindAccumulatorBlocks(DType dtype);

}  // namespace penstock::ops
