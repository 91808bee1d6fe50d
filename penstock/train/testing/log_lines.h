#pragma once

#include <string>
#include <string_view>

namespace penstock {

// Catches the lines of the log while it lives. One at a time.
class LogLines {
 public:
  LogLines();
  ~LogLines();
  LogLines(const LogLines&) = delete;

  bool Has(std::string_view text) const { return text_.find(text) != std::string::npos; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace penstock
