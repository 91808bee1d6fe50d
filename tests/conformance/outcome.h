#pragma once

#include <string>

namespace penstock::conformance {

enum class Verdict { kPassed, kFailed, kNotImplemented };

// How a recorded case went.
struct Outcome {
  Verdict verdict = Verdict::kPassed;
  // Why it did not pass.
  std::string reason = {};
};

}  // namespace penstock::conformance
