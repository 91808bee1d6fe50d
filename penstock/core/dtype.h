#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/float16.h"

namespace penstock {

class ResourceHandle;
class Variant;

using complex64 = std::complex<float>;
using complex128 = std::complex<double>;

// Quantised integers: storage of their width whose meaning (scale, zero point) travels beside the
// tensor.
struct qint8 {
  int8_t value;
};
struct quint8 {
  uint8_t value;
};
struct qint16 {
  int16_t value;
};
struct quint16 {
  uint16_t value;
};
struct qint32 {
  int32_t value;
};

// TensorFlow's numbers. A reference type (a mutable variable's output) is the base number plus
// kRefOffset.
enum class DType : uint8_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUint8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQint8 = 11,
  kQuint8 = 12,
  kQint32 = 13,
  kBfloat16 = 14,
  kQint16 = 15,
  kQuint16 = 16,
  kUint16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUint32 = 22,
  kUint64 = 23,
};
inline constexpr int kNumDTypes = 24;
inline constexpr int kRefOffset = 100;

// The one table of C++ type, DType and TensorFlow's name.
#define PENSTOCK_DTYPES(X)                 \
  X(float, kFloat, "float")                \
  X(double, kDouble, "double")             \
  X(int32_t, kInt32, "int32")              \
  X(uint8_t, kUint8, "uint8")              \
  X(int16_t, kInt16, "int16")              \
  X(int8_t, kInt8, "int8")                 \
  X(std::string, kString, "string")        \
  X(complex64, kComplex64, "complex64")    \
  X(int64_t, kInt64, "int64")              \
  X(bool, kBool, "bool")                   \
  X(qint8, kQint8, "qint8")                \
  X(quint8, kQuint8, "quint8")             \
  X(qint32, kQint32, "qint32")             \
  X(bfloat16, kBfloat16, "bfloat16")       \
  X(qint16, kQint16, "qint16")             \
  X(quint16, kQuint16, "quint16")          \
  X(uint16_t, kUint16, "uint16")           \
  X(complex128, kComplex128, "complex128") \
  X(half, kHalf, "half")                   \
  X(ResourceHandle, kResource, "resource") \
  X(Variant, kVariant, "variant")          \
  X(uint32_t, kUint32, "uint32")           \
  X(uint64_t, kUint64, "uint64")

template <class T>
inline constexpr DType kDTypeOf = DType::kInvalid;
#define PENSTOCK_DTYPE_OF(type, value, name) \
  template <>                                \
  inline constexpr DType kDTypeOf<type> = DType::value;
PENSTOCK_DTYPES(PENSTOCK_DTYPE_OF)
#undef PENSTOCK_DTYPE_OF

// "float", "int32", ...; "invalid" for anything else.
std::string_view ToString(DType dtype);
// The inverse of ToString, and TensorFlow's "DT_FLOAT" spelling.
std::optional<DType> ParseDType(std::string_view name);
// Bytes of one element in memory. 0 for kInvalid.
size_t SizeOf(DType dtype);
// True for types whose elements are plain bytes: they may be copied by memcpy and need no
// destructor.
inline bool IsPlain(DType dtype) {
  return dtype != DType::kString && dtype != DType::kResource && dtype != DType::kVariant;
}
inline bool IsFloating(DType dtype) {
  return dtype == DType::kFloat || dtype == DType::kDouble || dtype == DType::kHalf ||
         dtype == DType::kBfloat16;
}
inline bool IsComplex(DType dtype) {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128;
}
bool IsInteger(DType dtype);
// "[float, int32]"
std::string ToString(const std::vector<DType>& dtypes);

}  // namespace penstock
