#pragma once

#include "penstock/client/op_function.h"
#include "penstock/ops/activation.h"
#include "penstock/ops/comparison.h"
#include "penstock/ops/dataflow.h"
#include "penstock/ops/division.h"
#include "penstock/ops/logical.h"
#include "penstock/ops/math_binary.h"
#include "penstock/ops/math_functions.h"
#include "penstock/ops/math_unary.h"
#include "penstock/ops/matmul.h"
#include "penstock/ops/select.h"

// Typed calls of ops whose inputs are all outputs: a name each, everything else is deduced from the
// op's struct. They are values, so an activation can be handed to a layer. Ops that take axes,
// sizes or a target type are in array_ops.h.

namespace penstock {

#define PENSTOCK_TYPED_OPS(X)                                           \
  /* Element by element, of one input. */                               \
  X(Abs, Abs)                                                           \
  X(Sign, Sign)                                                         \
  X(Square, Square)                                                     \
  X(Sqrt, Sqrt)                                                         \
  X(Rsqrt, Rsqrt)                                                       \
  X(Reciprocal, Reciprocal)                                             \
  X(Floor, Floor)                                                       \
  X(Ceil, Ceil)                                                         \
  X(Rint, Rint)                                                         \
  X(Round, Round)                                                       \
  X(IsNan, IsNan)                                                       \
  X(IsInf, IsInf)                                                       \
  X(IsFinite, IsFinite)                                                 \
  X(ZerosLike, ZerosLike)                                               \
  X(OnesLike, OnesLike)                                                 \
  X(Exp, Exp)                                                           \
  X(Expm1, Expm1)                                                       \
  X(Log, Log)                                                           \
  X(Log1p, Log1p)                                                       \
  X(Sigmoid, Sigmoid)                                                   \
  X(Tanh, Tanh)                                                         \
  X(Sinh, Sinh)                                                         \
  X(Cosh, Cosh)                                                         \
  X(Sin, Sin)                                                           \
  X(Cos, Cos)                                                           \
  X(Tan, Tan)                                                           \
  X(Asin, Asin)                                                         \
  X(Acos, Acos)                                                         \
  X(Atan, Atan)                                                         \
  X(Erf, Erf)                                                           \
  X(Erfc, Erfc)                                                         \
  X(Relu, Relu)                                                         \
  X(Relu6, Relu6)                                                       \
  X(LeakyRelu, LeakyRelu)                                               \
  X(Elu, Elu)                                                           \
  X(Selu, Selu)                                                         \
  X(Softplus, Softplus)                                                 \
  X(Softsign, Softsign)                                                 \
  X(LogicalNot, LogicalNot)                                             \
  /* Of two, with broadcasting; + - * / < <= > >= are operators too. */ \
  X(Add, AddV2)                                                         \
  X(Sub, Sub)                                                           \
  X(Mul, Mul)                                                           \
  X(RealDiv, RealDiv)                                                   \
  X(DivNoNan, DivNoNan)                                                 \
  X(FloorDiv, FloorDiv)                                                 \
  X(FloorMod, FloorMod)                                                 \
  X(Maximum, Maximum)                                                   \
  X(Minimum, Minimum)                                                   \
  X(Pow, Pow)                                                           \
  X(SquaredDifference, SquaredDifference)                               \
  X(Atan2, Atan2)                                                       \
  X(Equal, Equal)                                                       \
  X(NotEqual, NotEqual)                                                 \
  X(LogicalAnd, LogicalAnd)                                             \
  X(LogicalOr, LogicalOr)                                               \
  /* Where(condition, a, b): a where the condition holds, else b. */    \
  X(Where, SelectV2)                                                    \
  X(ClipByValue, ClipByValue)                                           \
  /* Matrices, and what passes values on. */                            \
  X(MatMul, MatMul)                                                     \
  X(BatchMatMul, BatchMatMulV2)                                         \
  X(Identity, Identity)                                                 \
  X(StopGradient, StopGradient)

#define PENSTOCK_TYPED_OP(Name, op)                                           \
  extern template AttrMap client_internal::EncodeAttrs<ops::op>(const void*); \
  inline constexpr OpFunction<ops::op> Name;
PENSTOCK_TYPED_OPS(PENSTOCK_TYPED_OP)
#undef PENSTOCK_TYPED_OP

}  // namespace penstock
