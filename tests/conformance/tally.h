#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/conformance/outcome.h"

namespace penstock::conformance {

// Counts verdicts, by op or by model and in all, and prints them.
class Tally {
 public:
  void Add(const std::string& group, const std::string& id, const Outcome& outcome);

  int64_t cases() const;
  int64_t failed() const { return total_.failed; }
  int64_t not_implemented() const { return total_.not_implemented; }
  // An aligned table of the groups, the sum last. `what` heads the first column.
  std::string ToTable(std::string_view what) const;
  // One object: passed, failed, not_implemented, the same for each group under `what`, and the
  // failures.
  std::string ToJson(std::string_view what) const;
  // Each failure with its reason, at most `limit`.
  std::string Failures(size_t limit) const;
  // What is missing, for each group in which something is: the first reason.
  std::string Missing() const;

 private:
  struct Counts {
    int64_t passed = 0;
    int64_t failed = 0;
    int64_t not_implemented = 0;
    void Add(Verdict verdict);
  };
  static std::string CountsJson(const Counts& counts);

  std::map<std::string, Counts> groups_;
  Counts total_;
  std::vector<std::pair<std::string, std::string>> failures_;  // id, reason
  std::map<std::string, std::string> missing_;                 // group, reason
};

}  // namespace penstock::conformance
