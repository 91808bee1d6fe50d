#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "penstock/core/parallel.h"

namespace penstock::kernels::winograd {

constexpr int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Calls body(slot, unit) for every unit in [0, units), each of `cost` cycles. As many units run at
// once as there are threads, each with a slot of its own below that number; whoever is free takes
// the next.
template <class Body>
void EachUnit(const ParallelFor& each, int64_t units, double cost, Body body) {
  std::atomic<int64_t> next{0};
  const int64_t slots = std::min<int64_t>(units, each.threads());
  each(slots, cost * static_cast<double>(units) / static_cast<double>(slots),
       [&](int64_t begin, int64_t end) {
         for (int64_t slot = begin; slot < end; ++slot) {
           for (int64_t unit = next++; unit < units; unit = next++) body(slot, unit);
         }
       });
}

}  // namespace penstock::kernels::winograd
