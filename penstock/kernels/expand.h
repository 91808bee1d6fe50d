#pragma once

#include <cstdint>

#include "penstock/kernels/broadcast_plan.h"

namespace penstock::kernels {

// Writes out what an operand contributes to n elements of the plan's output, from element `begin`
// on, one after the other. After the last element of the output it starts over. `bytes` is the size
// of an element: 1, 2, 4, 8 or 16.
void Expand(const BroadcastPlan& plan, int operand, const void* data, int bytes, int64_t begin,
            int64_t n, void* tile);

}  // namespace penstock::kernels
