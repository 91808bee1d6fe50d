#pragma once

#include <cmath>
#include <string_view>

#include "penstock/core/status.h"

// What the numbers of optimizers and schedules must keep to. NaN keeps to nothing.

namespace penstock::optim_internal {

inline Status AtLeast(std::string_view name, double value, double least) {
  if (value >= least && std::isfinite(value)) return OkStatus();
  return InvalidArgument("{} must be a number of at least {}, got {}", name, least, value);
}
inline Status Positive(std::string_view name, double value) {
  if (value > 0 && std::isfinite(value)) return OkStatus();
  return InvalidArgument("{} must be a positive number, got {}", name, value);
}
// For what decays: 1 would never forget.
inline Status InUnit(std::string_view name, double value) {
  if (value >= 0 && value < 1) return OkStatus();
  return InvalidArgument("{} must be in [0, 1), got {}", name, value);
}

}  // namespace penstock::optim_internal
