#include "penstock/kernels/cast.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "penstock/kernels/cast_step.h"

namespace penstock::kernels {
namespace {

// Elements that go through the steps together: two buffers of them stay in the first cache.
constexpr int64_t kBlock = 512;

DType PartOf(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat;
  if (dtype == DType::kComplex128) return DType::kDouble;
  return dtype;
}

bool IsNumber(DType dtype) {
  switch (dtype) {
    case DType::kBool:
    case DType::kHalf:
    case DType::kBfloat16:
    case DType::kFloat:
    case DType::kDouble:
    case DType::kComplex64:
    case DType::kComplex128:
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
      return true;
    default:
      return false;
  }
}

template <int64_t bytes>
void CopyStep(const void* in, void* out, int64_t n) {
  std::memcpy(out, in, n * bytes);
}

CastStepFn CopyStepOf(size_t bytes) {
  switch (bytes) {
    case 1:
      return CopyStep<1>;
    case 2:
      return CopyStep<2>;
    case 4:
      return CopyStep<4>;
    default:
      return CopyStep<8>;
  }
}

}  // namespace

CastFn LookupCast(DType from, DType to, bool truncate) {
  CastFn cast;
  if (!IsNumber(from) || !IsNumber(to)) return cast;
  cast.in_bytes_ = static_cast<int64_t>(SizeOf(from));
  cast.out_bytes_ = static_cast<int64_t>(SizeOf(to));
  const auto add = [&cast](CastStepFn step) { cast.steps_[cast.num_steps_++] = step; };

  if (IsComplex(from) && IsComplex(to)) {
    cast.parts_ = 2;
  } else if (IsComplex(from)) {
    add(CastRealPartOf(PartOf(from)));
  }
  const DType source = PartOf(from), target = PartOf(to);
  const CastStepFn cut = truncate ? CastTruncateOf(source, target) : nullptr;
  if (cut != nullptr) {
    add(cut);
  } else if (source == target && source != DType::kBool) {
    if (from == to) add(CopyStepOf(SizeOf(source)));
  } else if (const CastStepFn direct = CastStepOf(source, target)) {
    add(direct);
  } else {
    // One of them at least has 16 bits: by way of float.
    if (source != DType::kFloat) add(CastStepOf(source, DType::kFloat));
    if (target != DType::kFloat) add(CastStepOf(DType::kFloat, target));
  }
  if (IsComplex(to) && !IsComplex(from)) add(CastToComplexOf(target));
  return cast;
}

void CastFn::operator()(const void* in, void* out, int64_t n) const {
  n *= parts_;
  if (n <= 0) return;
  if (num_steps_ == 1) return steps_[0](in, out, n);
  alignas(64) std::byte buffers[2][kBlock * sizeof(complex128)];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t size = std::min(kBlock, n - begin);
    const void* from = static_cast<const std::byte*>(in) + begin * in_bytes_;
    for (int i = 0; i < num_steps_; ++i) {
      void* to =
          i + 1 == num_steps_ ? static_cast<std::byte*>(out) + begin * out_bytes_ : buffers[i % 2];
      steps_[i](from, to, size);
      from = to;
    }
  }
}

void CastFn::operator()(const void* in, void* out, int64_t n, const ParallelFor& each) const {
  const double cost =
      static_cast<double>(num_steps_) + static_cast<double>(in_bytes_ + out_bytes_) / 8;
  each(
      n, cost,
      [&](int64_t begin, int64_t end) {
        (*this)(static_cast<const std::byte*>(in) + begin * in_bytes_,
                static_cast<std::byte*>(out) + begin * out_bytes_, end - begin);
      },
      /*grain=*/kBlock);
}

}  // namespace penstock::kernels
