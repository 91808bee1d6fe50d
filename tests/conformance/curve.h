#pragma once

#include <string>

#include "tests/conformance/outcome.h"

namespace penstock::conformance {

// A training that was recorded in `folder`: curve.json says which graph ran for how many steps,
// from which checkpoint, with which data, what the losses were and how far they can be compared.
struct CurveReport {
  Outcome outcome;
  std::string figures;  // what was compared, for a person
};

// Runs it again, step by step with the same values and batches, and compares. The path of the data
// is relative to the folder or to one that contains it.
CurveReport ReplayCurve(const std::string& folder);

}  // namespace penstock::conformance
