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

// Element by element, of one input.
inline constexpr OpFunction<ops::Abs> Abs;
inline constexpr OpFunction<ops::Sign> Sign;
inline constexpr OpFunction<ops::Square> Square;
inline constexpr OpFunction<ops::Sqrt> Sqrt;
inline constexpr OpFunction<ops::Rsqrt> Rsqrt;
inline constexpr OpFunction<ops::Reciprocal> Reciprocal;
inline constexpr OpFunction<ops::Floor> Floor;
inline constexpr OpFunction<ops::Ceil> Ceil;
inline constexpr OpFunction<ops::Rint> Rint;
inline constexpr OpFunction<ops::Round> Round;
inline constexpr OpFunction<ops::IsNan> IsNan;
inline constexpr OpFunction<ops::IsInf> IsInf;
inline constexpr OpFunction<ops::IsFinite> IsFinite;
inline constexpr OpFunction<ops::ZerosLike> ZerosLike;
inline constexpr OpFunction<ops::OnesLike> OnesLike;
inline constexpr OpFunction<ops::Exp> Exp;
inline constexpr OpFunction<ops::Expm1> Expm1;
inline constexpr OpFunction<ops::Log> Log;
inline constexpr OpFunction<ops::Log1p> Log1p;
inline constexpr OpFunction<ops::Sigmoid> Sigmoid;
inline constexpr OpFunction<ops::Tanh> Tanh;
inline constexpr OpFunction<ops::Sinh> Sinh;
inline constexpr OpFunction<ops::Cosh> Cosh;
inline constexpr OpFunction<ops::Sin> Sin;
inline constexpr OpFunction<ops::Cos> Cos;
inline constexpr OpFunction<ops::Tan> Tan;
inline constexpr OpFunction<ops::Asin> Asin;
inline constexpr OpFunction<ops::Acos> Acos;
inline constexpr OpFunction<ops::Atan> Atan;
inline constexpr OpFunction<ops::Erf> Erf;
inline constexpr OpFunction<ops::Erfc> Erfc;
inline constexpr OpFunction<ops::Relu> Relu;
inline constexpr OpFunction<ops::Relu6> Relu6;
inline constexpr OpFunction<ops::LeakyRelu> LeakyRelu;
inline constexpr OpFunction<ops::Elu> Elu;
inline constexpr OpFunction<ops::Selu> Selu;
inline constexpr OpFunction<ops::Softplus> Softplus;
inline constexpr OpFunction<ops::Softsign> Softsign;
inline constexpr OpFunction<ops::LogicalNot> LogicalNot;

// Of two, with broadcasting; + - * / < <= > >= are operators too.
inline constexpr OpFunction<ops::AddV2> Add;
inline constexpr OpFunction<ops::Sub> Sub;
inline constexpr OpFunction<ops::Mul> Mul;
inline constexpr OpFunction<ops::RealDiv> RealDiv;
inline constexpr OpFunction<ops::DivNoNan> DivNoNan;
inline constexpr OpFunction<ops::FloorDiv> FloorDiv;
inline constexpr OpFunction<ops::FloorMod> FloorMod;
inline constexpr OpFunction<ops::Maximum> Maximum;
inline constexpr OpFunction<ops::Minimum> Minimum;
inline constexpr OpFunction<ops::Pow> Pow;
inline constexpr OpFunction<ops::SquaredDifference> SquaredDifference;
inline constexpr OpFunction<ops::Atan2> Atan2;
inline constexpr OpFunction<ops::Equal> Equal;
inline constexpr OpFunction<ops::NotEqual> NotEqual;
inline constexpr OpFunction<ops::LogicalAnd> LogicalAnd;
inline constexpr OpFunction<ops::LogicalOr> LogicalOr;

// Where(condition, a, b): a where the condition holds, else b.
inline constexpr OpFunction<ops::SelectV2> Where;
inline constexpr OpFunction<ops::ClipByValue> ClipByValue;

inline constexpr OpFunction<ops::MatMul> MatMul;
inline constexpr OpFunction<ops::BatchMatMulV2> BatchMatMul;

inline constexpr OpFunction<ops::Identity> Identity;
inline constexpr OpFunction<ops::StopGradient> StopGradient;

}  // namespace penstock
