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

// PENSTOCK_DISABLE_KERNELS=winograd,onednn leaves the implementations of these names out. The last
// of a list of candidates, which takes all, cannot be.
inline bool KernelDisabled(std::string_view name) {
  static const std::string_view names = [] {
    const char* value = std::getenv("PENSTOCK_DISABLE_KERNELS");
    return std::string_view(value == nullptr ? "" : value);
  }();
  for (std::string_view rest = names; !rest.empty();) {
    const size_t comma = rest.find(',');
    if (rest.substr(0, comma) == name) return true;
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return false;
}

}  // namespace penstock::kernels
