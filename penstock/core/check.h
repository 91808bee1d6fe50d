#pragma once

#include <sstream>

namespace penstock::internal {

// Prints what was streamed into it and aborts when destroyed. For broken invariants alone: nothing
// that a client, a file or a peer can send may reach it.
class CheckFailure {
 public:
  CheckFailure(const char* file, int line, const char* condition);
  [[noreturn]] ~CheckFailure();
  std::ostream& stream() { return text_; }

 private:
  std::ostringstream text_;
};

}  // namespace penstock::internal

#define CHECK(condition)      \
  if (condition) [[likely]] { \
  } else                      \
    ::penstock::internal::CheckFailure(__FILE__, __LINE__, #condition).stream()
#define CHECK_EQ(a, b) CHECK((a) == (b)) << (a) << " vs " << (b) << " "
