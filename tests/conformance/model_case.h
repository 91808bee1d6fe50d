#pragma once

#include <string>

#include "penstock/proto/golden_case.pb.h"
#include "tests/conformance/outcome.h"

namespace penstock::conformance {

// Loads the graph of a recorded case, restores its variables and runs its initializers, then its
// steps in one session, and compares what they fetch. Of a file only the nodes that the case needs
// are read. `root`: the folder that paths in the case are relative to. Not implemented: an op that
// is not registered or has no kernel for these types.
Outcome RunModelCase(const golden::ModelCase& recorded, const std::string& root);

}  // namespace penstock::conformance
