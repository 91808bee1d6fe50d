#pragma once

#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "penstock/core/float16.h"
#include "penstock/kernels/math_rounding.h"
#include "penstock/ops/elementwise.h"

// Which blocks an element-wise op has: the C++ types that its Eval is compiled for, and whether per
// instruction set (elementwise-inl.h) or once (here).

namespace penstock::op_internal {

template <class Op>
inline constexpr bool kHasTypeVar = DispatchIndex(typename Op::Sig(), DispatchName<Op>()) >= 0;

template <class T>
inline constexpr bool kIsComplex = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;

// Values that are bytes and no objects.
template <class T>
inline constexpr bool kIsPlain = kDTypeOf<T> != DType::kString&& kDTypeOf<T> !=
                                 DType::kResource&& kDTypeOf<T> != DType::kVariant;

template <class T, class List>
inline constexpr bool kIsOneOf = false;
template <class T, class... Ts>
inline constexpr bool kIsOneOf<T, Types<Ts...>> = (false || ... || std::is_same_v<T, Ts>);

// The integer that a quantised one is stored as.
template <class T>
struct Unquantised {
  using Type = T;
};
template <class T>
requires requires(T x) { x.value; }
struct Unquantised<T> {
  using Type = decltype(T::value);
};

// The type as which Eval sees values of T: another of the same bits, where that is all the same.
template <class Op, class T>
auto StandIn() {
  using Plain = typename Unquantised<T>::Type;
  if constexpr (requires { Op::kByBits; } && sizeof(T) <= 8) {
    return math::WordOf<sizeof(T)>();
  } else if constexpr (requires { Op::kIgnoresSign; } && std::is_integral_v<Plain>) {
    return math::WordOf<sizeof(T)>();
  } else {
    return Plain();
  }
}
template <class Op, class T>
using StandInFor = decltype(StandIn<Op, T>());

// True when blocks of T are compiled for each instruction set.
template <class Op, class T>
constexpr bool IsVectorised() {
  if constexpr (requires { typename Op::VectorTypes; }) {
    return kIsOneOf<T, typename Op::VectorTypes>;
  } else if constexpr (requires { Op::kByBits; }) {
    return sizeof(T) <= 8;
  } else {
    return !kIsComplex<T>;
  }
}

template <class T, class Variable>
struct Bind {  // a fixed type
  using Type = Variable;
};
template <class T, FixedString Name, class... Ts>
struct Bind<T, TypeVar<Name, Ts...>> {
  using Type = T;
};
template <class T, FixedString Name, class Default, class... Ts>
struct Bind<T, TypeVarOr<Name, Default, Ts...>> {
  using Type = T;
};

// Calls f.operator()<Result, Operands...>() with the types of Op when its type variable is T.
template <class Op, class T, class... Args, size_t... I>
constexpr auto WithTypes(auto f, Signature<Args...>, std::index_sequence<I...>) {
  using All = std::tuple<Args...>;
  using Out = typename std::tuple_element_t<sizeof...(Args) - 1, All>::Type;
  auto with_operands = [&]<class... Operands>() {
    if constexpr (kHasTypeVar<Op> && TypesOf<Out>::kIsVariable) {
      if constexpr (std::is_same_v<Out, typename Dispatch<Op>::Arg::Type>) {
        return f.template operator()<T, Operands...>();
      } else {  // a type of its own, which Eval gives
        return f
            .template operator()<decltype(Op::Eval(std::declval<Operands>()...)), Operands...>();
      }
    } else {
      return f.template operator()<Out, Operands...>();
    }
  };
  if constexpr (requires { Op::kLastOperand; }) {
    return with_operands.template
    operator()<typename Bind<T, typename std::tuple_element_t<I, All>::Type>::Type..., float>();
  } else {
    return with_operands.template
    operator()<typename Bind<T, typename std::tuple_element_t<I, All>::Type>::Type...>();
  }
}

// Maker::Make<Op, T, Result, Operands...>() gives the function, or null where it has none.
template <class Maker, class Op, class T>
constexpr ElementwiseBlock MakeBlock() {
  if constexpr (!kIsPlain<T>) {
    return {};
  } else {
    constexpr size_t kInputs = SignatureOf<typename Op::Sig>::kInputs;
    auto make = []<class Result, class... Operands>() {
      ElementwiseBlock block;
      block.function = Maker::template Make<Op, T, Result, Operands...>();
      block.dtype = kDTypeOf<T>;
      block.arity = sizeof...(Operands);
      block.operands = {kDTypeOf<Operands>...};
      block.result = kDTypeOf<Result>;
      if constexpr (requires { Op::kCost; }) block.cost = Op::kCost;
      block.divides = requires { Op::kDivides; }
      &&std::is_integral_v<T>;
      block.raises = requires { Op::kRaises; }
      &&std::is_integral_v<T>;
      if constexpr (requires { Op::kLastOperand; }) {
        block.attribute = [](const void* op) {
          return static_cast<const Decoded<Op>*>(op)->op.*Op::kLastOperand;
        };
      }
      return block;
    };
    return WithTypes<Op, T>(make, typename Op::Sig(), std::make_index_sequence<kInputs>());
  }
}

template <class Maker, class Op, class... Ts>
void AddOp(ElementwiseTable& table, Types<Ts...>) {
  static constexpr ElementwiseBlock kBlocks[] = {MakeBlock<Maker, Op, Ts>()...};
  table.Add(Op::kName, kBlocks);
}
template <class Op>
auto BlockTypes() {
  if constexpr (kHasTypeVar<Op>) {
    return KernelTypes<Op>();
  } else {
    return Types<bool>();  // LogicalAnd and its like
  }
}

template <class Maker, class... Ops>
void AddBlocksBy(ElementwiseTable& table, OpList<Ops...>) {
  (AddOp<Maker, Ops>(table, BlockTypes<Ops>()), ...);
}

// ---- 16-bit types, by way of float ----

// How RunThroughFloat converts: elements to floats and back.
struct Float16Conversion {
  void (*widen)(const void* from, float* to, int64_t n);
  void (*narrow)(const float* from, void* to, int64_t n);
};

// Runs the block `function` of floats on operands of which those in `is_float16` are 16-bit, a tile
// at a time. The result has `result_bytes`; 2 stands for a 16-bit float.
void RunThroughFloat(kernels::BlockFn function, const Float16Conversion& conversion, int arity,
                     uint32_t is_float16, int result_bytes, const void* const* inputs,
                     uint32_t scalar_mask, void* output, int64_t n);

// ---- blocks compiled once ----

template <class Op, class Result, class... Operands>
void PlainBlock(const void* const* inputs, uint32_t scalar_mask, void* output, int64_t n) {
  if (n == 0) return;
  [&]<size_t... k>(std::index_sequence<k...>) {
    const std::tuple<ComputeType<Operands>...> first{*static_cast<const Operands*>(inputs[k])...};
    Result* out = static_cast<Result*>(output);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = static_cast<Result>(Op::Eval(
          (scalar_mask >> k & 1) != 0
              ? std::get<k>(first)
              : static_cast<ComputeType<Operands>>(static_cast<const Operands*>(inputs[k])[i])...));
    }
  }
  (std::index_sequence_for<Operands...>());
}

struct PlainMaker {
  template <class Op, class T, class Result, class... Operands>
  static constexpr kernels::BlockFn Make() {
    if constexpr (IsVectorised<Op, std::conditional_t<kIsFloat16<T>, float, T>>()) {
      return nullptr;
    } else {
      return &PlainBlock<Op, StandInFor<Op, Result>, StandInFor<Op, Operands>...>;
    }
  }
};

}  // namespace penstock::op_internal

namespace penstock {

// Adds the blocks of types that are not vectorised.
template <class... Ops>
void AddPlainBlocks(ElementwiseTable& table, OpList<Ops...> ops) {
  op_internal::AddBlocksBy<op_internal::PlainMaker>(table, ops);
}

}  // namespace penstock
