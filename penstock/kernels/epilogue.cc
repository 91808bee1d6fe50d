#include "penstock/kernels/epilogue.h"

#include "penstock/kernels/math.h"
#include "penstock/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/epilogue.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

template <Activation kActivation>
PENSTOCK_SCALAR float Activate(float x, [[maybe_unused]] float alpha) {
  if constexpr (kActivation == Activation::kRelu) {
    return math::Max(x, 0.0f);
  } else if constexpr (kActivation == Activation::kRelu6) {
    return math::Select(x > 6.0f, 6.0f, math::Max(x, 0.0f));
  } else if constexpr (kActivation == Activation::kElu) {
    return math::Select(x < 0.0f, math::Expm1(x), x);
  } else if constexpr (kActivation == Activation::kTanh) {
    return math::Tanh(x);
  } else if constexpr (kActivation == Activation::kSigmoid) {
    return math::Sigmoid(x);
  } else if constexpr (kActivation == Activation::kLeakyRelu) {
    return math::Select(x > 0.0f, x, x * alpha);
  } else {
    return x;
  }
}

template <Activation kActivation>
void FinishRow(const Epilogue& epilogue, int64_t n, float* sums, const float* bias,
               const float* addend) {
  const float alpha = epilogue.alpha;
  if (epilogue.bias && epilogue.addend) {
    for (int64_t i = 0; i < n; ++i) {
      sums[i] = Activate<kActivation>(sums[i] + bias[i] + addend[i], alpha);
    }
  } else if (epilogue.bias || epilogue.addend) {
    const float* term = epilogue.bias ? bias : addend;
    for (int64_t i = 0; i < n; ++i) sums[i] = Activate<kActivation>(sums[i] + term[i], alpha);
  } else {
    for (int64_t i = 0; i < n; ++i) sums[i] = Activate<kActivation>(sums[i], alpha);
  }
}

}  // namespace

void Finish(const Epilogue& epilogue, int64_t rows, int64_t columns, float* sums, int64_t step,
            const float* bias, const float* addend) {
  using Fn = void (*)(const Epilogue&, int64_t, float*, const float*, const float*);
  static constexpr Fn kFinish[] = {
      FinishRow<Activation::kNone>,     FinishRow<Activation::kRelu>,
      FinishRow<Activation::kRelu6>,    FinishRow<Activation::kElu>,
      FinishRow<Activation::kTanh>,     FinishRow<Activation::kSigmoid>,
      FinishRow<Activation::kLeakyRelu>};
  const Fn finish = kFinish[static_cast<int>(epilogue.activation)];
  for (int64_t row = 0; row < rows; ++row) {
    finish(epilogue, columns, sums + row * step, bias,
           addend == nullptr ? nullptr : addend + row * step);
  }
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

HWY_EXPORT(Finish);

void ApplyEpilogue(const Epilogue& epilogue, int64_t rows, int64_t columns, float* sums,
                   int64_t step, const float* bias, const float* addend) {
  HWY_DYNAMIC_DISPATCH(Finish)(epilogue, rows, columns, sums, step, bias, addend);
}

}  // namespace penstock::kernels
#endif
