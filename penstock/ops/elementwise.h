#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/kernels/elementwise.h"
#include "penstock/ops/op_kernel.h"

// Element-wise ops: a struct with a scalar Eval, listed once. From that come the shape rule (broadcasting), the vector
// kernels of each instruction set, in-place evaluation and fusion.

namespace penstock {

// The family's list, at the foot of its header.
template <class... Ops>
struct OpList {};

// The signatures that nearly all of them have.
template <class T>
using UnarySignature = Signature<In<"x", T>, Out<"y", T>>;
template <class T>
using BinarySignature = Signature<In<"x", T>, In<"y", T>, Out<"z", T>>;

// One op for one dtype, compiled for the machine at hand.
struct ElementwiseBlock {
  kernels::BlockFn function = nullptr;
  int arity = 0;
  std::array<DType, 3> operands = {};
  DType result = DType::kInvalid;
  double cost = 1;             // cycles an element
  bool divides = false;        // integer operand 1 must not be zero
};

// The blocks of all element-wise ops, by op and by the dtype that its kernels are chosen by.
class ElementwiseTable {
 public:
  void Add(std::string_view op, DType dtype, const ElementwiseBlock& block) { blocks_[{std::string(op), dtype}] = block; }
  // Null when there is none.
  const ElementwiseBlock* Find(std::string_view op, DType dtype) const {
    const auto it = blocks_.find({std::string(op), dtype});
    return it == blocks_.end() ? nullptr : &it->second;
  }

 private:
  std::map<std::pair<std::string, DType>, ElementwiseBlock> blocks_;
};

// Those of this library; for fusion.
const ElementwiseTable& StandardElementwise();

// The kernel of one node: broadcasts the operands and runs the block over the output, in parallel.
Result<std::unique_ptr<Kernel>> MakeElementwiseKernel(const ElementwiseBlock& block, const KernelRequest& request);

// Declares the ops of a list with the kernels that `table` holds for them.
template <class... Ops>
void AddElementwise(Registrar& registrar, OpList<Ops...>, const ElementwiseTable& table) {
  (
      [&] {
        registrar.Add<Ops>([&table](const KernelRequest& request) -> Result<std::unique_ptr<Kernel>> {
          const DType dtype = op_internal::Dispatch<Ops>::TypeOf(request);
          const ElementwiseBlock* block = table.Find(Ops::kName, dtype);
          if (block == nullptr) return Unimplemented("op {} has no CPU kernel for {}", Ops::kName, dtype);
          return MakeElementwiseKernel(*block, request);
        });
      }(),
      ...);
}

namespace op_internal {

// The C++ type of an argument when the type variable is bound to T.
template <class Arg, class T>
struct Bound {
  using Type = Arg;
};
template <FixedString Name, class... Ts, class T>
struct Bound<TypeVar<Name, Ts...>, T> {
  using Type = T;
};

template <class Op>
constexpr double CostOf() {
  if constexpr (requires { Op::kCost; }) {
    return Op::kCost;
  } else {
    return 1;
  }
}
template <class Op>
constexpr bool Divides() {
  return requires { Op::kDivides; };
}

}  // namespace op_internal
}  // namespace penstock
