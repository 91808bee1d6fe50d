#include "penstock/kernels/lstm_gates.h"

#include <limits>

#include "penstock/kernels/math.h"
#include "penstock/kernels/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/lstm_gates.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// The loops are plain: the compiler vectorises them for each target. It is told that nothing
// overlaps, since it would give up on checking so many arrays.

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {

void Gates(const LstmGatesRow& row) {
  const LstmGatesRow r = row;
  const float clip = r.cell_clip > 0 ? r.cell_clip : std::numeric_limits<float>::infinity();
#pragma GCC ivdep
  for (int64_t c = 0; c < r.n; ++c) {
    const float i = math::Sigmoid(r.sums.i[c] + r.bias.i[c]);
    const float f = math::Sigmoid(r.sums.f[c] + r.bias.f[c] + r.forget_bias);
    const float o = math::Sigmoid(r.sums.o[c] + r.bias.o[c]);
    const float ci = math::Tanh(r.sums.ci[c] + r.bias.ci[c]);
    const float sum = ci * i + r.cs_prev[c] * f;
    const float high = math::Select(sum > clip, clip, sum);
    const float cs = math::Select(high < -clip, -clip, high);
    const float co = math::Tanh(cs);
    r.gates.i[c] = i;
    r.gates.f[c] = f;
    r.gates.o[c] = o;
    r.gates.ci[c] = ci;
    r.cs[c] = cs;
    r.co[c] = co;
    r.h[c] = o * co;
  }
}

void GatesGradient(const LstmGatesGradientRow& row) {
  const LstmGatesGradientRow r = row;
#pragma GCC ivdep
  for (int64_t c = 0; c < r.n; ++c) {
    const float i = r.gates.i[c], f = r.gates.f[c], o = r.gates.o[c], ci = r.gates.ci[c];
    const float co = r.co[c], by_h = r.by_h[c];
    const float by_cs = (1.0f - co * co) * by_h * o + r.by_cs[c];
    r.by_sums.o[c] = o * (1.0f - o) * by_h * co;
    r.by_sums.ci[c] = (1.0f - ci * ci) * by_cs * i;
    r.by_sums.f[c] = f * (1.0f - f) * by_cs * r.cs_prev[c];
    r.by_sums.i[c] = i * (1.0f - i) * by_cs * ci;
    r.by_cs_prev[c] = by_cs * f;
  }
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {

HWY_EXPORT(Gates);
HWY_EXPORT(GatesGradient);

void LstmGates(const LstmGatesRow& row) { HWY_DYNAMIC_DISPATCH(Gates)(row); }
void LstmGatesGradient(const LstmGatesGradientRow& row) {
  HWY_DYNAMIC_DISPATCH(GatesGradient)(row);
}

}  // namespace penstock::kernels
#endif
