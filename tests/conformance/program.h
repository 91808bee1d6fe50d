#pragma once

#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/status.h"
#include "tests/conformance/tally.h"

namespace penstock::conformance {

// The command line of a conformance runner.
struct Options {
  std::string directory;
  std::optional<std::regex> only;
  bool json = false;
  bool verbose = false;
  bool strict = false;  // what is not implemented fails
  bool bad_input = false;
  bool help = false;
};

// What tells one runner from another.
struct Program {
  std::string_view name;    // "golden_check"
  std::string_view usage;   // what --help prints
  std::string_view filter;  // "--op": the option that takes a regular expression
  std::string_view group;   // "op", in the table; "ops", in JSON, with an s
  Status (*run)(const Options& options, Tally* tally);
  bool tries_bad_input = false;  // takes --bad-input
};

// Parses, runs, prints, and returns the exit status: 0 when no case failed, 1 when some did (or,
// strict, were not implemented), 2 when nothing could be run.
int RunProgram(const Program& program, const std::vector<std::string>& args);

// Says which case runs now: a crash names it.
void SetCurrentCase(const std::string& id);

}  // namespace penstock::conformance
