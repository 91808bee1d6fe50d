#include "penstock/io/glob.h"

#include <cstddef>

namespace penstock::io {
namespace {

// Where the set that begins at pattern[at] == '[' ends, past its ']'; 0 when nothing ends it.
size_t EndOfSet(std::string_view pattern, size_t at) {
  size_t i = at + 1;
  if (i < pattern.size() && pattern[i] == '!') ++i;
  if (i < pattern.size() && pattern[i] == ']') ++i;
  const size_t end = pattern.find(']', i);
  return end == std::string_view::npos ? 0 : end + 1;
}

// `set` is what stands between the brackets.
bool InSet(std::string_view set, char c) {
  const bool negated = set.starts_with('!');
  if (negated) set.remove_prefix(1);
  bool found = false;
  const auto byte = [](char of) { return static_cast<unsigned char>(of); };
  for (size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      found |= byte(set[i]) <= byte(c) && byte(c) <= byte(set[i + 2]);
      i += 2;
    } else {
      found |= set[i] == c;
    }
  }
  return found != negated;
}

// Matches one byte against the item at pattern[*at], which is no '*', and moves past the item.
bool MatchOne(std::string_view pattern, size_t* at, char c) {
  switch (pattern[*at]) {
    case '?':
      ++*at;
      return true;
    case '[':
      if (const size_t end = EndOfSet(pattern, *at); end != 0) {
        const std::string_view set = pattern.substr(*at + 1, end - *at - 2);
        *at = end;
        return InSet(set, c);
      }
      break;
    case '\\':
      if (*at + 1 < pattern.size()) ++*at;
      break;
    default:
      break;
  }
  return pattern[(*at)++] == c;
}

}  // namespace

bool GlobMatches(std::string_view pattern, std::string_view name) {
  constexpr size_t kNone = std::string_view::npos;
  size_t p = 0;
  size_t n = 0;
  // Past the last star, and where what follows it is tried next: an earlier star need not be tried
  // again, for the last one takes up whatever it would have.
  size_t after_star = kNone;
  size_t retry = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      after_star = ++p;
      retry = n;
      continue;
    }
    if (p < pattern.size() && MatchOne(pattern, &p, name[n])) {
      ++n;
      continue;
    }
    if (after_star == kNone) return false;
    p = after_star;
    n = ++retry;
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool IsGlob(std::string_view pattern) {
  return pattern.find_first_of("*?[\\") != std::string_view::npos;
}

}  // namespace penstock::io
