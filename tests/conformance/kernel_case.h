#pragma once

#include <memory>

#include "penstock/device/device.h"
#include "penstock/proto/golden_case.pb.h"
#include "tests/conformance/outcome.h"

namespace penstock::conformance {

// True for a case that records a gradient.
bool IsGradientCase(const golden::KernelCase& recorded);

// Runs a recorded case twice: with inputs fed to placeholders of unknown shape through all passes
// of the compiler, and with constant inputs without any pass that can be left out. Both must give
// what was recorded. Not implemented: the op, its gradient, or an op that its gradient uses is not
// registered or has no kernel for these types.
Outcome RunKernelCase(const golden::KernelCase& recorded, const std::shared_ptr<Device>& device);

}  // namespace penstock::conformance
