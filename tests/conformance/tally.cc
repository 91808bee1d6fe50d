#include "tests/conformance/tally.h"

#include <algorithm>
#include <cstdio>

#include "penstock/core/format.h"

namespace penstock::conformance {
namespace {

std::string Padded(std::string_view text, size_t width, bool left) {
  const std::string space(width > text.size() ? width - text.size() : 0, ' ');
  return left ? std::string(text) + space : space + std::string(text);
}

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned char>(c));
      out += escaped;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace

void Tally::Counts::Add(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      ++passed;
      return;
    case Verdict::kFailed:
      ++failed;
      return;
    case Verdict::kNotImplemented:
      ++not_implemented;
      return;
  }
}

void Tally::Add(const std::string& group, const std::string& id, const Outcome& outcome) {
  groups_[group].Add(outcome.verdict);
  total_.Add(outcome.verdict);
  if (outcome.verdict == Verdict::kFailed) failures_.emplace_back(id, outcome.reason);
  if (outcome.verdict == Verdict::kNotImplemented) missing_.emplace(group, outcome.reason);
}

int64_t Tally::cases() const { return total_.passed + total_.failed + total_.not_implemented; }

std::string Tally::ToTable(std::string_view what) const {
  size_t width = what.size();
  for (const auto& [name, counts] : groups_) width = std::max(width, name.size());
  auto line = [&](std::string_view name, std::string_view a, std::string_view b,
                  std::string_view c) {
    return Padded(name, width, true) + Padded(a, 9, false) + Padded(b, 9, false) +
           Padded(c, 18, false) + "\n";
  };
  auto counted = [&](std::string_view name, const Counts& counts) {
    return line(name, std::to_string(counts.passed), std::to_string(counts.failed),
                std::to_string(counts.not_implemented));
  };
  std::string out = line(what, "passed", "failed", "not implemented");
  for (const auto& [name, counts] : groups_) out += counted(name, counts);
  return out + counted("all", total_);
}

std::string Tally::CountsJson(const Counts& counts) {
  return Format("\"passed\": {}, \"failed\": {}, \"not_implemented\": {}", counts.passed,
                counts.failed, counts.not_implemented);
}

std::string Tally::ToJson(std::string_view what) const {
  std::string out = "{" + CountsJson(total_) + ", " + Quoted(what) + ": {";
  std::string_view separator = "";
  for (const auto& [name, counts] : groups_) {
    out += std::string(separator) + Quoted(name) + ": {" + CountsJson(counts) + "}";
    separator = ", ";
  }
  out += "}, \"failures\": [";
  separator = "";
  for (const auto& [id, reason] : failures_) {
    out +=
        std::string(separator) + "{\"id\": " + Quoted(id) + ", \"reason\": " + Quoted(reason) + "}";
    separator = ", ";
  }
  return out + "]}\n";
}

std::string Tally::Failures(size_t limit) const {
  std::string out;
  for (size_t i = 0; i < std::min(limit, failures_.size()); ++i) {
    out += Format("FAILED {}\n    {}\n", failures_[i].first, failures_[i].second);
  }
  if (failures_.size() > limit) out += Format("and {} more\n", failures_.size() - limit);
  return out;
}

std::string Tally::Missing() const {
  std::string out;
  for (const auto& [group, reason] : missing_) out += Format("MISSING {}: {}\n", group, reason);
  return out;
}

}  // namespace penstock::conformance
