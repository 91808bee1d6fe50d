#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "penstock/kernels/elementwise.h"
#include "penstock/ops/op_kernel.h"

// Element-wise ops: a struct with a scalar Eval, listed once. From that come the shape rule
// (broadcasting, unless the struct has one), the vector kernels of each instruction set, in-place
// evaluation and fusion. Besides what graph/op.h reads, such a struct may have:
//   VectorTypes      Types<...> whose loops are vectorised, and so are compiled for each
//   instruction
//                    set; half and bfloat16 go with float. Without it: all that are not complex.
//   kByBits          Eval only moves values: one block serves all types of a size.
//   kIgnoresSign     signed and unsigned integers give the same bits: one block serves both.
//   kDivides         an integer second operand must not be zero.
//   kRaises          an integer second operand must not be negative.
//   kLastOperand     a pointer to a float attribute that Eval takes last.
//   OtherCpuKernel   static, from a KernelRequest: the kernel of what blocks cannot do (strings),
//   or null.

namespace penstock {

// The family's list, at the foot of its header.
template <class... Ops>
struct OpList {};

// The signatures that nearly all of them have.
template <class T>
using UnarySignature = Signature<In<"x", T>, Out<"y", T>>;
template <class T>
using BinarySignature = Signature<In<"x", T>, In<"y", T>, Out<"z", T>>;

// All types whose values are bytes: what ops over any type have blocks for.
using PlainTypes =
    Types<float, double, int32_t, uint8_t, int16_t, int8_t, complex64, int64_t, bool, qint8, quint8,
          qint32, bfloat16, qint16, quint16, uint16_t, complex128, half, uint32_t, uint64_t>;
// Numbers that are neither quantised nor complex.
using RealTypes = Types<float, double, int32_t, uint8_t, int16_t, int8_t, int64_t, bfloat16,
                        uint16_t, half, uint32_t, uint64_t>;
// All numbers that are not quantised.
using NumberTypes = Types<float, double, int32_t, uint8_t, int16_t, int8_t, complex64, int64_t,
                          bfloat16, uint16_t, complex128, half, uint32_t, uint64_t>;

// One op for one dtype, compiled for the machine at hand.
struct ElementwiseBlock {
  kernels::BlockFn function = nullptr;
  DType dtype = DType::kInvalid;  // that of the type variable which the kernel is chosen by
  int arity = 0;
  std::array<DType, 3> operands = {};
  DType result = DType::kInvalid;
  double cost = 1;       // cycles an element
  bool divides = false;  // integer operand 1 must not be zero
  bool raises = false;   // integer operand 1 must not be negative
  // Reads the last operand off the node's op where it is an attribute and no input.
  float (*attribute)(const void* op) = nullptr;

  int num_inputs() const { return arity - (attribute == nullptr ? 0 : 1); }
};

// The blocks of all element-wise ops, by op and by the dtype that its kernels are chosen by.
class ElementwiseTable {
 public:
  // Leaves out blocks without a function.
  void Add(std::string_view op, std::span<const ElementwiseBlock> blocks);
  // Null when there is none.
  const ElementwiseBlock* Find(std::string_view op, DType dtype) const;
  // The block for a node with inputs and an output of these types.
  const ElementwiseBlock* Find(std::string_view op, std::span<const DType> inputs,
                               DType output) const;

 private:
  std::map<std::pair<std::string, DType>, ElementwiseBlock> blocks_;
};

// Those of this library; for fusion.
const ElementwiseTable& StandardElementwise();

// A shape rule, as OpInfo has it.
using InferFn = Status (*)(const void* op, std::span<const Known>, std::span<Shape>);

// The kernel of one node: broadcasts the operands and runs the block over the output, in parallel.
Result<std::unique_ptr<Kernel>> MakeElementwiseKernel(const ElementwiseBlock& block, InferFn infer,
                                                      const KernelRequest& request);

namespace op_internal {

template <class Op>
Result<std::unique_ptr<Kernel>> ElementwiseFromTable(const ElementwiseTable& table,
                                                     const KernelRequest& request) {
  if constexpr (requires { &Op::OtherCpuKernel; }) {
    TRY_ASSIGN(std::unique_ptr<Kernel> kernel, Op::OtherCpuKernel(table, request));
    if (kernel != nullptr) return kernel;
  }
  const ElementwiseBlock* block = table.Find(Op::kName, request.inputs, request.outputs[0]);
  if (block == nullptr) {
    return Unimplemented("op {} has no CPU kernel from {} to {}", Op::kName, request.inputs[0],
                         request.outputs[0]);
  }
  return MakeElementwiseKernel(*block, &Infer<Op>, request);
}

}  // namespace op_internal

// Declares the ops of a list with the kernels that `table` holds for them.
template <class... Ops>
void AddElementwise(Registrar& registrar, OpList<Ops...>, const ElementwiseTable& table) {
  (registrar.Add<Ops>([&table](const KernelRequest& request) {
    return op_internal::ElementwiseFromTable<Ops>(table, request);
  }),
   ...);
}

}  // namespace penstock
