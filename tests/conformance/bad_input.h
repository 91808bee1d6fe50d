#pragma once

#include <memory>

#include "penstock/device/device.h"
#include "penstock/proto/golden_case.pb.h"

namespace penstock::conformance {

// How often an op that was given something else than a recorded case has refused it, and what of
// that was wrong: an error that does not name the op, or one that only a broken invariant makes.
struct BadInputCounts {
  int64_t tried = 0;
  int64_t refused = 0;
  std::string wrong;  // the first
};

// Runs the case again and again with one input or attribute changed: another rank, an extent more,
// none at all; negative, huge and zero numbers, infinities and NaNs, odd strings. The op may take
// it or refuse it, in the memory that `device` allows, but not crash.
BadInputCounts TryBadInputs(const golden::KernelCase& recorded,
                            const std::shared_ptr<Device>& device);

}  // namespace penstock::conformance
