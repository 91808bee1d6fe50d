#pragma once

#include "penstock/graph/op.h"

// The sets of types that TensorFlow's signatures repeat.

namespace penstock::ops {

template <FixedString Name>
using AnyType = TypeVar<Name>;
template <FixedString Name>
using FloatType = TypeVar<Name, bfloat16, half, float, double>;
template <FixedString Name>
using FloatOrComplexType = TypeVar<Name, bfloat16, half, float, double, complex64, complex128>;
template <FixedString Name>
using SignedNumberType = TypeVar<Name, bfloat16, half, float, double, int8_t, int16_t, int32_t,
                                 int64_t, complex64, complex128>;
template <FixedString Name>
using IntegerType =
    TypeVar<Name, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>;
// What products, quotients and their like are of.
template <FixedString Name>
using QuotientType = TypeVar<Name, bfloat16, half, float, double, uint8_t, int8_t, uint16_t,
                             int16_t, int32_t, uint32_t, uint64_t, int64_t, complex64, complex128>;
template <FixedString Name>
using OrderedType = TypeVar<Name, bfloat16, half, float, double, int8_t, uint8_t, int16_t, uint16_t,
                            int32_t, uint32_t, int64_t, uint64_t>;
template <FixedString Name>
using XlogyType = TypeVar<Name, half, bfloat16, float, double, complex64, complex128>;
template <FixedString Name>
using NumberType = TypeVar<Name, float, double, int32_t, uint8_t, int16_t, int8_t, complex64,
                           int64_t, qint8, quint8, qint32, bfloat16, qint16, quint16, uint16_t,
                           complex128, half, uint32_t, uint64_t>;
template <FixedString Name>
using RealNumberType = TypeVar<Name, float, double, int32_t, uint8_t, int16_t, int8_t, int64_t,
                               bfloat16, uint16_t, half, uint32_t, uint64_t>;
template <FixedString Name>
using IndexType = TypeVar<Name, int32_t, int64_t>;
// With int32 as the default, as most index attributes have it.
template <FixedString Name>
using IndexTypeOr32 = TypeVarOr<Name, int32_t, int32_t, int64_t>;

}  // namespace penstock::ops
