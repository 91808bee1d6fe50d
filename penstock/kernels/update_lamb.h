#pragma once

#include <cstdint>

#include "penstock/kernels/update.h"

namespace penstock::kernels {

// Moves a variable by LAMB (You et al., 2019): the step of Adam with decay of weights, as long as
// the variable's norm says. Slots, numbers: as AdamW; flag: whether the norms count. The result has
// the same bits for any number of threads. REQUIRES: float or double.
void UpdateLamb(const Update& update, int64_t n, const ParallelFor& each);

}  // namespace penstock::kernels
