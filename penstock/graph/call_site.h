#pragma once

#include <string>

namespace penstock {

// The user's line that made a node; later errors cite it. Empty for nodes that came from a file or
// a peer.
struct CallSite {
  const char* file = nullptr;  // of static lifetime
  int line = 0;

  // Not an aggregate: a list of axes in a call must not turn into a line.
  constexpr CallSite() = default;
  constexpr CallSite(const char* file_name, int line_number) : file(file_name), line(line_number) {}

  static constexpr CallSite Here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  bool known() const { return file != nullptr; }
  std::string ToString() const {
    return known() ? std::string(file) + ":" + std::to_string(line) : std::string();
  }
};

}  // namespace penstock
