#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/core/status.h"

namespace penstock::io {

// Takes JSON apart from its beginning to its end, by calls in the order that the reader expects: no
// tree is made, and nothing is nested deeper than the calls. Errors are DataLoss and name the byte.
// Threads: one at a time. REQUIRES: the text outlives it.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  // The character that follows, after white space; 0 at the end. Takes nothing.
  char Peek();
  // Takes `c`, one of []{},: or an error.
  Status Take(char c);
  // Takes `c` when it is there.
  bool TakeIf(char c);
  Result<std::string> TakeString();
  // A whole number without a sign.
  Result<uint64_t> TakeUnsigned();
  // Nothing but white space is left.
  Status TakeEnd();

 private:
  Status Wrong(std::string_view expected) const;
  Result<uint32_t> TakeHex();
  Status TakeEscape(std::string* out);

  std::string_view text_;
  size_t at_ = 0;
};

// `text` as a string of JSON, with its quotes.
std::string JsonString(std::string_view text);

}  // namespace penstock::io
