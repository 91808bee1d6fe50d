#pragma once

#include <cstdint>
#include <memory>

#include "penstock/core/function_ref.h"
#include "penstock/core/tensor.h"

namespace penstock::ops {

// The elements of a queue, each a tuple of as many tensors as the queue has components, and the
// order they leave in. Threads: as whatever guards it.
class ElementStore {
 public:
  virtual ~ElementStore() = default;
  virtual int64_t size() const = 0;
  // Moves the tuple in.
  virtual void Push(Tensor* tuple) = 0;
  // Moves the next element out; returns its place among the others. REQUIRES: size() > 0.
  virtual uint64_t Pop(Tensor* tuple) = 0;
  // Undoes a Pop that returned `place`. Of several, the last popped comes first.
  virtual void PutBack(Tensor* tuple, uint64_t place) = 0;
  virtual void ForEach(FunctionRef<void(const Tensor&)> visit) const = 0;
};

// First in, first out.
std::unique_ptr<ElementStore> MakeFifoStore(int num_components);
// Any of the elements, each as likely. Two seeds of 0: another order in each process.
std::unique_ptr<ElementStore> MakeShuffleStore(int num_components, int64_t seed, int64_t seed2);
// The smallest first component first, an int64 scalar; equal ones in the order they came.
std::unique_ptr<ElementStore> MakePriorityStore(int num_components);

}  // namespace penstock::ops
