// Fills an ElementwiseTable with the vectorised blocks of a family, once per instruction set. A
// family's source file includes itself by hwy/foreach_target.h and calls AddVectorBlocks from a
// function that HWY_EXPORT names; math_unary.cc shows it.
#if defined(PENSTOCK_OPS_ELEMENTWISE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PENSTOCK_OPS_ELEMENTWISE_INL_H_
#undef PENSTOCK_OPS_ELEMENTWISE_INL_H_
#else
#define PENSTOCK_OPS_ELEMENTWISE_INL_H_
#endif

#include "hwy/highway.h"
#include "penstock/kernels/elementwise-inl.h"
#include "penstock/ops/elementwise_blocks.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::ops::HWY_NAMESPACE {

template <class T>
void WidenFloat16(const void* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(static_cast<const T*>(from)[i]);
}
template <class T>
void NarrowFloat16(const float* from, void* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) static_cast<T*>(to)[i] = static_cast<T>(from[i]);
}

template <class T>
using FloatFor16 = std::conditional_t<kIsFloat16<T>, float, T>;

// Converts tiles to float and back, so that an op's loops are compiled for float alone.
template <class Op, class T, class Result, class... Operands>
void Float16Block(const void* const* inputs, uint32_t scalar_mask, void* output, int64_t n) {
  constexpr bool kIs16[] = {kIsFloat16<Operands>...};
  uint32_t is_float16 = 0;
  for (size_t k = 0; k < sizeof...(Operands); ++k) is_float16 |= uint32_t{kIs16[k]} << k;
  op_internal::RunThroughFloat(
      &kernels::HWY_NAMESPACE::Block<Op, FloatFor16<Result>, FloatFor16<Operands>...>,
      {&WidenFloat16<T>, &NarrowFloat16<T>}, sizeof...(Operands), is_float16,
      static_cast<int>(sizeof(Result)), inputs, scalar_mask, output, n);
}

struct VectorMaker {
  template <class Op, class T, class Result, class... Operands>
  static constexpr kernels::BlockFn Make() {
    if constexpr (!op_internal::IsVectorised<Op, FloatFor16<T>>()) {
      return nullptr;
    } else if constexpr (kIsFloat16<T> && !requires { Op::kByBits; }) {
      return &Float16Block<Op, T, Result, Operands...>;
    } else {
      return &kernels::HWY_NAMESPACE::Block<Op, op_internal::StandInFor<Op, Result>,
                                            op_internal::StandInFor<Op, Operands>...>;
    }
  }
};

template <class... Ops>
void AddVectorBlocks(ElementwiseTable& table, OpList<Ops...> ops) {
  op_internal::AddBlocksBy<VectorMaker>(table, ops);
}

}  // namespace penstock::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
