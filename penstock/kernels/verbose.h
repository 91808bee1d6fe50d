#pragma once

#include <cstdlib>
#include <string_view>

namespace penstock::kernels {

// PENSTOCK_VERBOSE_KERNELS=1 prints to stderr which of several implementations ran, and why those
// before it did not.
inline bool VerboseKernels() {
  static const bool verbose = [] {
    const char* value = std::getenv("PENSTOCK_VERBOSE_KERNELS");
    return value != nullptr && std::string_view(value) == "1";
  }();
  return verbose;
}

}  // namespace penstock::kernels
