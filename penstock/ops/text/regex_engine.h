#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "penstock/core/status.h"

namespace penstock::ops {

// A regular expression of RE2, whose time grows with the text alone whatever the pattern says. RE2
// is an optional part of the build (libre2-dev): without it Compile answers Unimplemented.
// Threads: all methods may be called concurrently.
class Regex {
 public:
  // InvalidArgument when RE2 cannot read the pattern.
  static Result<std::shared_ptr<const Regex>> Compile(const std::string& pattern);
  virtual ~Regex() = default;

  virtual bool MatchesAll(std::string_view text) const = 0;
  // Replaces the first match or all of them; "\1" in `rewrite` is what the first group matched.
  virtual void Replace(std::string_view rewrite, bool all, std::string* text) const = 0;
};

}  // namespace penstock::ops
