#pragma once

#include <new>

#include "penstock/kernels/linalg/decompositions.h"

namespace penstock::kernels {

// Calls f, which returns an Outcome. Eigen throws only when it finds no memory.
template <class F>
Outcome Guarded(F&& f) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return Outcome::kOutOfMemory;
  }
}

}  // namespace penstock::kernels
