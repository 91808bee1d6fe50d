#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "penstock/core/mutex.h"
#include "penstock/core/resource.h"
#include "penstock/device/kernel.h"
#include "penstock/device/state.h"
#include "penstock/ops/elementwise.h"

// What the kernels of variables share: finding the variable behind a handle, giving it a value and
// updating it in place. Optimizers and scatters build on it.
//
// What holds when steps meet at a variable, whether or not use_locking asks for it:
//  - Writers take turns: an update reads and writes under the variable's lock, none is lost.
//  - A reader gets the tensor that the variable held at that moment. Nobody writes to it after: a
//    writer that finds its buffer shared gives the variable a new one.
//  - So a value is seen as a whole, before or after an update; but an update waits for the one
//    before it, and a reader for an update in flight.

namespace penstock::ops {

// The type_name of a handle that points at a StateVariable.
inline constexpr char kVariableTypeName[] = "Variable";

// A scalar tensor that holds a handle of `variable`.
Result<Tensor> MakeVariableHandle(KernelContext& context, std::string container, std::string name,
                                  const Shape& shape, std::shared_ptr<StateVariable> variable);

// The handle of the variable that a node stands for: made or found in the step's state, then kept
// until that state drops something. Threads: Get may be called concurrently.
class VariableHandle {
 public:
  VariableHandle(std::string container, std::string name, DType dtype, Shape shape)
      : container_(std::move(container)),
        name_(std::move(name)),
        dtype_(dtype),
        shape_(std::move(shape)) {}

  // InvalidArgument when the name is taken by state of another kind or dtype.
  Result<Tensor> Get(KernelContext& context);

 private:
  // Constant after construction.
  const std::string container_;
  const std::string name_;
  const DType dtype_;
  const Shape shape_;
  Mutex mu_;
  Tensor handle_ GUARDED_BY(mu_);
  const StateRegistry* state_ GUARDED_BY(mu_) = nullptr;  // where handle_ was found, and when
  uint64_t generation_ GUARDED_BY(mu_) = 0;
};

// The variable behind a reference. References live within a step, which goes on with what it holds
// even if the state is dropped meanwhile.
Result<std::shared_ptr<StateVariable>> ReferencedVariable(KernelContext& context,
                                                          const Tensor& reference, DType dtype);

// The variable behind a handle, looked up by name when the handle came from outside. An error when
// the tensor is no handle, points at nothing or at something else, at a variable that was dropped
// since, or at one of another dtype.
Result<std::shared_ptr<StateVariable>> FindVariable(KernelContext& context, const Tensor& handle,
                                                    DType dtype);
// The same for a node that gives it a value: a variable that was dropped is made again.
Result<std::shared_ptr<StateVariable>> FindVariableToAssign(KernelContext& context,
                                                            const Tensor& handle, DType dtype);
// The handle in a tensor. REQUIRES: FindVariable accepted it.
const ResourceHandle& HandleIn(const Tensor& tensor);

// TensorFlow's words for a variable that holds nothing: of a reference, of a resource.
Status UninitializedReference(const ResourceHandle& handle);
Status UninitializedResource(const ResourceHandle& handle);

// A tensor with the same elements in memory of its own.
Result<Tensor> CopyTensor(KernelContext& context, const Tensor& tensor);
// Input i as a value that may outlive the step: taken over when this node is its last reader,
// shared where its memory is counted, else copied.
Result<Tensor> KeepInput(KernelContext& context, int i);
// Makes sure that `value` may be written: copies it when somebody else holds its memory.
Status MakeWritable(KernelContext& context, Tensor& value);

// value = block(value, input 1), in place where nobody else holds the memory; readers keep what
// they have. REQUIRES: called with the variable's lock held (StateVariable::Update), a binary block
// of the value's dtype, equal shapes.
Status UpdateElementwise(KernelContext& context, const ElementwiseBlock& block, Tensor& value);
// value = block(value, change); `change` may be one element for all.
Status UpdateElementwise(KernelContext& context, const ElementwiseBlock& block, Tensor change,
                         Tensor& value);

}  // namespace penstock::ops
