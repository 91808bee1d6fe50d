#include "penstock/kernels/targets.h"
//
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "penstock/kernels/update.cc"
#include "hwy/foreach_target.h"
//
#include <algorithm>
#include <bit>
#include <vector>

#include "hwy/highway.h"
#include "penstock/kernels/update.h"
#include "penstock/kernels/update_lamb.h"
#include "penstock/kernels/update_rules.h"

#ifndef PENSTOCK_KERNELS_UPDATE_ONCE_
#define PENSTOCK_KERNELS_UPDATE_ONCE_
namespace penstock::kernels {
// n elements of the slots and the gradient, all of one type.
using UpdateFn = void (*)(const UpdateParameters&, void* const* slots, const void* gradient,
                          int64_t n);
}  // namespace penstock::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace penstock::kernels::HWY_NAMESPACE {
namespace {

template <template <class> class RuleOf, class V>
void Run(const UpdateParameters& parameters, void* const* slots, const void* gradient, int64_t n) {
  using Rule = RuleOf<V>;
  const Rule rule{rules::Rule<V>(parameters)};
  const V* HWY_RESTRICT g = static_cast<const V*>(gradient);
  V* HWY_RESTRICT s0 = static_cast<V*>(slots[0]);
  V* HWY_RESTRICT s1 = static_cast<V*>(slots[1]);
  V* HWY_RESTRICT s2 = static_cast<V*>(slots[2]);
  V* HWY_RESTRICT s3 = static_cast<V*>(slots[3]);
  for (int64_t i = 0; i < n; ++i) {
    V s[kMostSlots] = {s0[i]};
    if constexpr (Rule::kSlots > 1) s[1] = s1[i];
    if constexpr (Rule::kSlots > 2) s[2] = s2[i];
    if constexpr (Rule::kSlots > 3) s[3] = s3[i];
    rule(g[i], s);
    s0[i] = s[0];
    if constexpr (Rule::kSlots > 1) s1[i] = s[1];
    if constexpr (Rule::kSlots > 2) s2[i] = s[2];
    if constexpr (Rule::kSlots > 3) s3[i] = s[3];
  }
}

template <class V>
UpdateFn FunctionOf(UpdateRule rule, const UpdateParameters& parameters) {
  switch (rule) {
    case UpdateRule::kGradientDescent:
      return &Run<rules::GradientDescent, V>;
    case UpdateRule::kProximalGradientDescent:
      return &Run<rules::ProximalGradientDescent, V>;
    case UpdateRule::kMomentum:
      return &Run<rules::Momentum, V>;
    case UpdateRule::kKerasMomentum:
      return &Run<rules::KerasMomentum, V>;
    case UpdateRule::kAdagrad:
      return &Run<rules::Adagrad, V>;
    case UpdateRule::kAdagradV2:
      return &Run<rules::AdagradV2, V>;
    case UpdateRule::kProximalAdagrad:
      return &Run<rules::ProximalAdagrad, V>;
    case UpdateRule::kAdagradDA:
      return &Run<rules::AdagradDA, V>;
    case UpdateRule::kAdadelta:
      return &Run<rules::Adadelta, V>;
    case UpdateRule::kRmsProp:
      return &Run<rules::RmsProp, V>;
    case UpdateRule::kCenteredRmsProp:
      return &Run<rules::CenteredRmsProp, V>;
    case UpdateRule::kAdam:
      return &Run<rules::Adam, V>;
    case UpdateRule::kAdamWithAmsgrad:
      return &Run<rules::AdamWithAmsgrad, V>;
    case UpdateRule::kAdamW:
      return &Run<rules::AdamW, V>;
    case UpdateRule::kAdaMax:
      return &Run<rules::AdaMax, V>;
    case UpdateRule::kAddSign:
      return &Run<rules::AddSign, V>;
    case UpdateRule::kPowerSign:
      return &Run<rules::PowerSign, V>;
    case UpdateRule::kLamb:  // not element by element: update_lamb.cc
    case UpdateRule::kFtrl:
      break;
  }
  // The usual power is a square root.
  const bool by_root = parameters.values[4] == -0.5;
  return by_root ? &Run<rules::FtrlByRoot, V> : &Run<rules::FtrlByPower, V>;
}

}  // namespace

UpdateFn FloatFunction(UpdateRule rule, const UpdateParameters& p) {
  return FunctionOf<float>(rule, p);
}
UpdateFn DoubleFunction(UpdateRule rule, const UpdateParameters& p) {
  return FunctionOf<double>(rule, p);
}

}  // namespace penstock::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace penstock::kernels {
namespace {

HWY_EXPORT(FloatFunction);
HWY_EXPORT(DoubleFunction);

constexpr double kCost = 6;  // cycles an element, mostly of memory
constexpr int64_t kLongRow = 16 << 10;

// Runs of elements of one update, whatever the type.
class Runner {
 public:
  explicit Runner(const Update& update)
      : update_(update), bytes_(static_cast<int64_t>(SizeOf(update.dtype))) {
    const auto function = update.dtype == DType::kDouble ? HWY_DYNAMIC_DISPATCH(DoubleFunction)
                                                         : HWY_DYNAMIC_DISPATCH(FloatFunction);
    function_ = function(update.rule, update.parameters);
    while (num_slots_ < kMostSlots && update.slots[static_cast<size_t>(num_slots_)] != nullptr)
      ++num_slots_;
  }

  // n elements of the slots from `at` on, by those of the gradient from `from` on.
  void operator()(int64_t at, int64_t from, int64_t n) const {
    std::array<void*, kMostSlots> slots = {};
    for (int i = 0; i < num_slots_; ++i)
      slots[static_cast<size_t>(i)] =
          static_cast<char*>(update_.slots[static_cast<size_t>(i)]) + at * bytes_;
    const void* gradient = static_cast<const char*>(update_.gradient) + from * bytes_;
    if (update_.dtype == DType::kHalf) return ThroughFloat<half>(slots, gradient, n);
    if (update_.dtype == DType::kBfloat16) return ThroughFloat<bfloat16>(slots, gradient, n);
    function_(update_.parameters, slots.data(), gradient, n);
  }

 private:
  template <class T>
  void ThroughFloat(const std::array<void*, kMostSlots>& slots, const void* gradient,
                    int64_t n) const {
    constexpr int64_t kTile = 256;
    float tiles[kMostSlots + 1][kTile];
    void* pointers[kMostSlots] = {tiles[0], tiles[1], tiles[2], tiles[3]};
    for (int64_t begin = 0; begin < n; begin += kTile) {
      const int64_t count = std::min(kTile, n - begin);
      std::copy_n(static_cast<const T*>(gradient) + begin, count, tiles[kMostSlots]);
      for (int i = 0; i < num_slots_; ++i)
        std::copy_n(static_cast<const T*>(slots[static_cast<size_t>(i)]) + begin, count, tiles[i]);
      function_(update_.parameters, pointers, tiles[kMostSlots], count);
      for (int i = 0; i < num_slots_; ++i) {
        T* to = static_cast<T*>(slots[static_cast<size_t>(i)]) + begin;
        std::transform(tiles[i], tiles[i] + count, to, [](float x) { return T(x); });
      }
    }
  }

  const Update& update_;
  const int64_t bytes_;
  UpdateFn function_ = nullptr;
  int num_slots_ = 0;
};

}  // namespace

void UpdateAll(const Update& update, int64_t n, const ParallelFor& each) {
  if (update.rule == UpdateRule::kLamb) return UpdateLamb(update, n, each);
  const Runner run(update);
  each(
      n, kCost, [&](int64_t begin, int64_t end) { run(begin, begin, end - begin); }, 1024);
}

void UpdateMany(std::span<const SizedUpdate> updates, const ParallelFor& each) {
  // Threads take whole tiles, none of which lies in two variables.
  constexpr int64_t kTile = 4096;
  struct Tile {
    const Runner* run;
    int64_t begin, n;
  };
  std::vector<Runner> runners;
  std::vector<Tile> tiles;
  runners.reserve(updates.size());
  int64_t total = 0;
  for (const auto& [update, n] : updates) {
    const Runner* run = &runners.emplace_back(update);
    for (int64_t at = 0; at < n; at += kTile) tiles.push_back({run, at, std::min(kTile, n - at)});
    total += n;
  }
  if (tiles.empty()) return;
  const auto count = static_cast<int64_t>(tiles.size());
  each(count, kCost * static_cast<double>(total) / static_cast<double>(count),
       [&](int64_t begin, int64_t end) {
         for (int64_t i = begin; i < end; ++i) {
           const Tile& tile = tiles[static_cast<size_t>(i)];
           (*tile.run)(tile.begin, tile.begin, tile.n);
         }
       });
}

void UpdateRows(const Update& update, const int64_t* rows, int64_t num_rows, int64_t row_elements,
                const ParallelFor& each) {
  if (num_rows == 0 || row_elements == 0) return;
  const Runner run(update);
  const double cost = kCost * static_cast<double>(num_rows);
  if (row_elements >= kLongRow) {  // each thread some columns of all rows
    each(
        row_elements, cost,
        [&](int64_t begin, int64_t end) {
          for (int64_t i = 0; i < num_rows; ++i)
            run(rows[i] * row_elements + begin, i * row_elements + begin, end - begin);
        },
        1024);
    return;
  }
  // Each part the rows that fall to it, so that a row has one writer.
  const auto parts = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(each.threads())));
  each(parts, cost * static_cast<double>(row_elements) / static_cast<double>(parts),
       [&](int64_t begin, int64_t end) {
         for (int64_t i = 0; i < num_rows; ++i) {
           const int64_t part = rows[i] & (parts - 1);
           if (part >= begin && part < end)
             run(rows[i] * row_elements, i * row_elements, row_elements);
         }
       });
}

}  // namespace penstock::kernels
#endif
