#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "penstock/core/format.h"
#include "penstock/core/tensor.h"

// Compares tensors the way recorded results are meant. In the header, so that tests of any folder
// can use it.

namespace penstock::conformance {

// |got - want| <= atol + rtol * |want|; both 0: bit for bit. NaN equals NaN, an infinity equals
// itself. Integers, bools and strings ignore rtol: they agree exactly unless atol is 1 or more.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

namespace compare_internal {

template <class T>
bool Near(const T& want, const T& got, const Tolerance& tolerance) {
  if constexpr (std::is_integral_v<T>) {
    if (want == got) return true;
    return tolerance.atol >= 1 && std::abs(static_cast<long double>(want) -
                                           static_cast<long double>(got)) <= tolerance.atol;
  } else {
    if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
    if (tolerance.rtol == 0 && tolerance.atol == 0) {
      return want == got && std::signbit(want) == std::signbit(got);
    }
    if (want == got) return true;
    if (std::isinf(want) || std::isinf(got)) return false;
    return std::abs(double{got} - double{want}) <=
           tolerance.atol + tolerance.rtol * std::abs(double{want});
  }
}

template <class T>
const T& At(const Tensor& tensor, int64_t i) {
  return tensor.data<T>()[i];
}

template <class T>
bool NearComplex(const T& want, const T& got, const Tolerance& tolerance) {
  if (Near(want.real(), got.real(), tolerance) && Near(want.imag(), got.imag(), tolerance)) {
    return true;
  }
  // A part may be lost in the other's rounding.
  if (tolerance.rtol == 0 && tolerance.atol == 0) return false;
  return std::abs(std::complex<double>(got) - std::complex<double>(want)) <=
         tolerance.atol + tolerance.rtol * std::abs(std::complex<double>(want));
}

}  // namespace compare_internal

// True when element i of `want` and element j of `got` agree. REQUIRES: equal dtypes.
inline bool SameElement(const Tensor& want, int64_t i, const Tensor& got, int64_t j,
                        const Tolerance& tolerance) {
  using namespace compare_internal;
  switch (want.dtype()) {
    case DType::kFloat:
      return Near(At<float>(want, i), At<float>(got, j), tolerance);
    case DType::kDouble:
      return Near(At<double>(want, i), At<double>(got, j), tolerance);
    case DType::kHalf:
      return Near(static_cast<float>(At<half>(want, i)), static_cast<float>(At<half>(got, j)),
                  tolerance);
    case DType::kBfloat16:
      return Near(static_cast<float>(At<bfloat16>(want, i)),
                  static_cast<float>(At<bfloat16>(got, j)), tolerance);
    case DType::kComplex64:
      return NearComplex(At<complex64>(want, i), At<complex64>(got, j), tolerance);
    case DType::kComplex128:
      return NearComplex(At<complex128>(want, i), At<complex128>(got, j), tolerance);
    case DType::kInt8:
    case DType::kQint8:
      return Near(At<int8_t>(want, i), At<int8_t>(got, j), tolerance);
    case DType::kUint8:
    case DType::kQuint8:
      return Near(At<uint8_t>(want, i), At<uint8_t>(got, j), tolerance);
    case DType::kInt16:
    case DType::kQint16:
      return Near(At<int16_t>(want, i), At<int16_t>(got, j), tolerance);
    case DType::kUint16:
    case DType::kQuint16:
      return Near(At<uint16_t>(want, i), At<uint16_t>(got, j), tolerance);
    case DType::kInt32:
    case DType::kQint32:
      return Near(At<int32_t>(want, i), At<int32_t>(got, j), tolerance);
    case DType::kUint32:
      return Near(At<uint32_t>(want, i), At<uint32_t>(got, j), tolerance);
    case DType::kInt64:
      return Near(At<int64_t>(want, i), At<int64_t>(got, j), tolerance);
    case DType::kUint64:
      return Near(At<uint64_t>(want, i), At<uint64_t>(got, j), tolerance);
    case DType::kBool:
      return At<bool>(want, i) == At<bool>(got, j);
    case DType::kString:
      return At<std::string>(want, i) == At<std::string>(got, j);
    default:
      return false;
  }
}

// "[1,2]": where element `index` of `shape` lies.
inline std::string Position(const Shape& shape, int64_t index) {
  std::vector<int64_t> at(static_cast<size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    at[static_cast<size_t>(axis)] = index % shape.dim(axis);
    index /= shape.dim(axis);
  }
  return Shape(at).ToString();
}

// What tells `got` from `want` besides values, or nothing.
inline std::string TypeDifference(const Tensor& want, const Tensor& got) {
  if (!got.initialized()) return "no value came out";
  if (want.dtype() == got.dtype() && want.shape() == got.shape()) return "";
  return Format("expected {} {}, got {} {}", want.dtype(), want.shape(), got.dtype(), got.shape());
}

// In what `got` is not `want`, in one sentence; empty when they agree.
inline std::string Difference(const Tensor& want, const Tensor& got, const Tolerance& tolerance) {
  if (std::string what = TypeDifference(want, got); !what.empty()) return what;
  int64_t first = -1;
  int64_t count = 0;
  for (int64_t i = 0; i < want.num_elements(); ++i) {
    if (SameElement(want, i, got, i, tolerance)) continue;
    if (first < 0) first = i;
    ++count;
  }
  if (count == 0) return "";
  return Format("{} of {} elements differ, first at {}: expected {}, got {}", count,
                want.num_elements(), Position(want.shape(), first), ElementToString(want, first),
                ElementToString(got, first));
}

// The same where the order along the last axis is not defined. Outputs of equal shape are permuted
// together: a value stays with its index.
inline std::string UnorderedDifference(const std::vector<Tensor>& want,
                                       const std::vector<Tensor>& got, const Tolerance& tolerance) {
  for (size_t k = 0; k < want.size(); ++k) {
    if (std::string what = TypeDifference(want[k], got[k]); !what.empty()) {
      return Format("output {}: {}", k, what);
    }
  }
  std::vector<bool> seen(want.size());
  for (size_t k = 0; k < want.size(); ++k) {
    if (seen[k]) continue;
    std::vector<size_t> together;
    for (size_t other = k; other < want.size(); ++other) {
      if (want[other].shape() != want[k].shape()) continue;
      together.push_back(other);
      seen[other] = true;
    }
    const Shape& shape = want[k].shape();
    const int64_t row = shape.rank() == 0 ? 1 : shape.dim(shape.rank() - 1);
    for (int64_t begin = 0; begin < want[k].num_elements(); begin += row) {
      std::vector<bool> used(static_cast<size_t>(row));
      for (int64_t i = 0; i < row; ++i) {
        int64_t j = 0;
        auto same = [&] {
          for (const size_t at : together) {
            if (!SameElement(want[at], begin + i, got[at], begin + j, tolerance)) return false;
          }
          return true;
        };
        while (j < row && (used[static_cast<size_t>(j)] || !same())) ++j;
        if (j == row) {
          return Format("output {}: nothing matches {} at {}", k,
                        ElementToString(want[k], begin + i), Position(shape, begin + i));
        }
        used[static_cast<size_t>(j)] = true;
      }
    }
  }
  return "";
}

}  // namespace penstock::conformance
