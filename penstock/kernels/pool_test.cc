#include "penstock/kernels/pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "penstock/kernels/targets.h"
//
#include "hwy/highway.h"

namespace penstock::kernels {
namespace {

// Runs `check` with each instruction set that this machine has.
template <class Check>
void OnEachTarget(Check check) {
  const int64_t all = hwy::SupportedTargets();
  for (int64_t rest = all & HWY_TARGETS; rest != 0; rest &= rest - 1) {
    const int64_t target = rest & -rest;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    SCOPED_TRACE(hwy::TargetName(target));
    check();
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Few values, so that there are ties; with infinities and NaNs if `special`.
std::vector<float> ManyEquals(int64_t n, bool special) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kValues[] = {0.f, -0.f, 1, -1, 2, -kInfinity, -kInfinity, kInfinity, kNan, kNan};
  std::mt19937 random(7);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& v : values) v = kValues[random() % (special ? 10 : 5)];
  return values;
}

bool SameBits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// Pooling that hands over places in windows has the bits of one that does not.
void CheckPlaces(const PoolShape& s, bool special) {
  const PoolKernels kernels = PoolKernelsOf(DType::kFloat);
  const int64_t num_in = s.batch * s.places_in() * s.channels;
  const auto num_out = static_cast<size_t>(s.batch * s.places_out() * s.channels);
  const auto num_dx = static_cast<size_t>(num_in);
  const std::vector<float> x = ManyEquals(num_in, special);
  std::vector<float> dy(num_out), y(num_out), want_y(num_out), dx(num_dx), want_dx(num_dx);
  for (size_t i = 0; i < num_out; ++i) dy[i] = 1.f / static_cast<float>(3 + i % 101);
  std::vector<int32_t> image_places(num_out);
  std::vector<uint8_t> places(num_out);
  const ParallelFor each;
  kernels.max(s, x.data(), want_y.data(), each);
  kernels.max_gradient(s, x.data(), dy.data(), image_places.data(), want_dx.data(), each);
  kernels.max_window_place(s, x.data(), y.data(), places.data(), each);
  kernels.window_place_gradient(s, places.data(), dy.data(), dx.data(), each);
  EXPECT_TRUE(SameBits(y, want_y)) << s.channels << " channels";
  EXPECT_TRUE(SameBits(dx, want_dx)) << s.channels << " channels";
}

TEST(Pool, PlacesInWindowsKeepTheBits) {
  OnEachTarget([] {
    for (const int64_t channels : {1, 15, 16, 32, 64, 133}) {
      for (const bool special : {false, true}) {
        CheckPlaces({2, {{{}, {9, 5, 3, 2, 1}, {8, 4, 3, 2, 0}}}, channels}, special);
        CheckPlaces({1, {{{3, 2, 2, 1, 0}, {7, 7, 3, 1, 1}, {8, 3, 2, 3, 0}}}, channels}, special);
        CheckPlaces({1, {{{}, {18, 18, 16, 1, 7}, {17, 17, 16, 1, 7}}}, channels}, special);
      }
    }
  });
}

}  // namespace
}  // namespace penstock::kernels
