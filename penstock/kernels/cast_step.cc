#include "penstock/kernels/cast_step.h"

#include <type_traits>

#include "penstock/core/scalar_function.h"
#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/cast_step.cc"
#include "hwy/foreach_target.h"
//
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

// Bools are read as bytes: one that came from outside may hold any value.
struct Truth {
  uint8_t byte;
};

// What cvttss2si and its kin give: the lowest integer for all that does not fit, NaN too.
template <class Int, class Float>
PENSTOCK_SCALAR Int Truncate(Float x) {
  constexpr Float kEnd = sizeof(Int) == 4 ? Float(0x1p31) : Float(0x1p63);
  constexpr Int kLowest = static_cast<Int>(Int{1} << (8 * sizeof(Int) - 2)) * -2;
  return x >= -kEnd && x < kEnd ? static_cast<Int>(x) : kLowest;
}

template <class From, class To>
struct Convert {
  PENSTOCK_SCALAR static To Eval(From x) {
    if constexpr (std::is_same_v<From, Truth>) {
      return static_cast<To>(x.byte != 0);
    } else if constexpr (std::is_same_v<To, bool>) {
      return x != 0;
    } else if constexpr (!std::is_floating_point_v<From> || !std::is_integral_v<To>) {
      return static_cast<To>(x);
    } else if constexpr (std::is_same_v<To, uint64_t>) {
      // Above the range of int64_t the difference is converted; below, it comes to the sign bit.
      const int64_t low = Truncate<int64_t>(x);
      const int64_t high = Truncate<int64_t>(x - From(0x1p63));
      return static_cast<uint64_t>(low | (high & (low >> 63)));
    } else if constexpr (sizeof(To) == 8 || std::is_same_v<To, uint32_t>) {
      return static_cast<To>(Truncate<int64_t>(x));
    } else {
      return static_cast<To>(Truncate<int32_t>(x));
    }
  }
};

// Clears the bits of the fraction that To has no place for.
template <class From, class To, int kept_bits>
struct Cut {
  PENSTOCK_SCALAR static To Eval(From x) {
    using Word = std::conditional_t<sizeof(From) == 4, uint32_t, uint64_t>;
    constexpr int kFraction = sizeof(From) == 4 ? 23 : 52;
    const Word word = __builtin_bit_cast(Word, x) >> (kFraction - kept_bits)
                                                         << (kFraction - kept_bits);
    return static_cast<To>(__builtin_bit_cast(From, word));
  }
};

template <class Op, class From, class To>
void Loop(const void* in, void* out, int64_t n) {
  const From* __restrict from = static_cast<const From*>(in);
  To* __restrict to = static_cast<To*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = Op::Eval(from[i]);
}

template <class From, class To>
constexpr CastStepFn kConvert = &Loop<Convert<From, To>, From, To>;

// Between integers the destination's sign makes no difference, and the source's none when bits are
// dropped: such pairs share a kernel.
template <class From, class To>
CastStepFn ConvertTo() {
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    using Unsigned = std::make_unsigned_t<From>;
    using Source = std::conditional_t<sizeof(To) <= sizeof(From), Unsigned, From>;
    return kConvert<Source, std::make_unsigned_t<To>>;
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4) {
    return kConvert<From, std::make_unsigned_t<To>>;
  } else if constexpr (std::is_same_v<From, Truth> && std::is_integral_v<To>) {
    return kConvert<Truth, std::make_unsigned_t<To>>;
  } else {
    return kConvert<From, To>;
  }
}

template <class From>
CastStepFn StepFrom(DType to) {
  switch (to) {
    case DType::kBool:
      if constexpr (std::is_integral_v<From>) return kConvert<std::make_unsigned_t<From>, bool>;
      return kConvert<From, bool>;
    case DType::kInt8:
      return ConvertTo<From, int8_t>();
    case DType::kInt16:
      return ConvertTo<From, int16_t>();
    case DType::kInt32:
      return ConvertTo<From, int32_t>();
    case DType::kInt64:
      return ConvertTo<From, int64_t>();
    case DType::kUint8:
      return ConvertTo<From, uint8_t>();
    case DType::kUint16:
      return ConvertTo<From, uint16_t>();
    case DType::kUint32:
      return ConvertTo<From, uint32_t>();
    case DType::kUint64:
      return ConvertTo<From, uint64_t>();
    case DType::kFloat:
      return ConvertTo<From, float>();
    case DType::kDouble:
      return ConvertTo<From, double>();
    case DType::kHalf:
      if constexpr (std::is_same_v<From, float>) return kConvert<float, half>;
      return nullptr;
    case DType::kBfloat16:
      if constexpr (std::is_same_v<From, float>) return kConvert<float, bfloat16>;
      return nullptr;
    default:
      return nullptr;
  }
}

template <class Real>
void RealPart(const void* in, void* out, int64_t n) {
  const Real* __restrict from = static_cast<const Real*>(in);
  Real* __restrict to = static_cast<Real*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = from[2 * i];
}

template <class Real>
void ToComplex(const void* in, void* out, int64_t n) {
  const Real* __restrict from = static_cast<const Real*>(in);
  Real* __restrict to = static_cast<Real*>(out);
  for (int64_t i = 0; i < n; ++i) {
    to[2 * i] = from[i];
    to[2 * i + 1] = 0;
  }
}

}  // namespace

CastStepFn CastStep(DType from, DType to) {
  switch (from) {
    case DType::kBool:
      return StepFrom<Truth>(to);
    case DType::kInt8:
      return StepFrom<int8_t>(to);
    case DType::kInt16:
      return StepFrom<int16_t>(to);
    case DType::kInt32:
      return StepFrom<int32_t>(to);
    case DType::kInt64:
      return StepFrom<int64_t>(to);
    case DType::kUint8:
      return StepFrom<uint8_t>(to);
    case DType::kUint16:
      return StepFrom<uint16_t>(to);
    case DType::kUint32:
      return StepFrom<uint32_t>(to);
    case DType::kUint64:
      return StepFrom<uint64_t>(to);
    case DType::kFloat:
      return StepFrom<float>(to);
    case DType::kDouble:
      return StepFrom<double>(to);
    case DType::kHalf:
      return to == DType::kFloat ? kConvert<half, float> : nullptr;
    case DType::kBfloat16:
      return to == DType::kFloat ? kConvert<bfloat16, float> : nullptr;
    default:
      return nullptr;
  }
}

CastStepFn CastTruncateStep(DType from, DType to) {
  if (from == DType::kFloat && to == DType::kHalf) return &Loop<Cut<float, half, 10>, float, half>;
  if (from == DType::kFloat && to == DType::kBfloat16) {
    return &Loop<Cut<float, bfloat16, 7>, float, bfloat16>;
  }
  if (from == DType::kDouble && to == DType::kFloat)
    return &Loop<Cut<double, float, 23>, double, float>;
  if (from == DType::kDouble && to == DType::kHalf)
    return &Loop<Cut<double, half, 10>, double, half>;
  return nullptr;
}

CastStepFn CastRealPartStep(DType real) {
  return real == DType::kFloat ? &RealPart<float> : &RealPart<double>;
}

CastStepFn CastToComplexStep(DType real) {
  return real == DType::kFloat ? &ToComplex<float> : &ToComplex<double>;
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

HWY_EXPORT(CastStep);
HWY_EXPORT(CastTruncateStep);
HWY_EXPORT(CastRealPartStep);
HWY_EXPORT(CastToComplexStep);

CastStepFn CastStepOf(DType from, DType to) { return HWY_DYNAMIC_DISPATCH(CastStep)(from, to); }
CastStepFn CastTruncateOf(DType from, DType to) {
  return HWY_DYNAMIC_DISPATCH(CastTruncateStep)(from, to);
}
CastStepFn CastRealPartOf(DType real) { return HWY_DYNAMIC_DISPATCH(CastRealPartStep)(real); }
CastStepFn CastToComplexOf(DType real) { return HWY_DYNAMIC_DISPATCH(CastToComplexStep)(real); }

}  // namespace penstock::kernels
#endif
