// Fills an ElementwiseTable with the blocks of a family, once per instruction set. A family's source file includes
// itself by hwy/foreach_target.h and calls AddBlocks from a function that HWY_EXPORT names; math_unary.cc shows it.
#if defined(PENSTOCK_OPS_ELEMENTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_OPS_ELEMENTWISE_INL_H_
#undef PENSTOCK_OPS_ELEMENTWISE_INL_H_
#else
#define PENSTOCK_OPS_ELEMENTWISE_INL_H_
#endif

#include "hwy/highway.h"
#include "penstock/kernels/elementwise-inl.h"
#include "penstock/ops/elementwise.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::HWY_NAMESPACE {

template <class Op, class T, class Result, class... Operands>
void AddBlock(ElementwiseTable& table) {
  ElementwiseBlock block;
  block.function = &kernels::HWY_NAMESPACE::Block<Op, Result, Operands...>;
  block.arity = sizeof...(Operands);
  block.operands = {kDTypeOf<Operands>...};
  block.result = kDTypeOf<Result>;
  block.cost = op_internal::CostOf<Op>();
  block.divides = op_internal::Divides<Op>() && IsInteger(kDTypeOf<T>);
  table.Add(Op::kName, kDTypeOf<T>, block);
}

template <class Op, class T, class X, class R>
void AddForType(ElementwiseTable& table, Signature<X, R>) {
  AddBlock<Op, T, typename op_internal::Bound<typename R::Type, T>::Type,
           typename op_internal::Bound<typename X::Type, T>::Type>(table);
}
template <class Op, class T, class X, class Y, class R>
void AddForType(ElementwiseTable& table, Signature<X, Y, R>) {
  AddBlock<Op, T, typename op_internal::Bound<typename R::Type, T>::Type,
           typename op_internal::Bound<typename X::Type, T>::Type, typename op_internal::Bound<typename Y::Type, T>::Type>(table);
}
template <class Op, class T, class X, class Y, class Z, class R>
void AddForType(ElementwiseTable& table, Signature<X, Y, Z, R>) {
  AddBlock<Op, T, typename op_internal::Bound<typename R::Type, T>::Type,
           typename op_internal::Bound<typename X::Type, T>::Type, typename op_internal::Bound<typename Y::Type, T>::Type,
           typename op_internal::Bound<typename Z::Type, T>::Type>(table);
}

template <class Op, class... Ts>
void AddForTypes(ElementwiseTable& table, Types<Ts...>) {
  (AddForType<Op, Ts>(table, typename Op::Sig()), ...);
}

// An op over fixed types (LogicalAnd) has one block, filed under its first input's dtype.
template <class Op>
void AddOp(ElementwiseTable& table) {
  if constexpr (op_internal::Dispatch<Op>::kIndex >= 0) {
    AddForTypes<Op>(table, op_internal::KernelTypes<Op>());
  } else {
    AddForType<Op, bool>(table, typename Op::Sig());
  }
}

template <class... Ops>
void AddBlocks(ElementwiseTable& table, OpList<Ops...>) {
  (AddOp<Ops>(table), ...);
}

}  // namespace penstock::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
