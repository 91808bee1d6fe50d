#include "penstock/core/format.h"

#include <cstdio>

namespace penstock {

std::string FormatArg::text() const {
  switch (kind_) {
    case Kind::kText:
      return std::string(text_);
    case Kind::kReal: {
      char buffer[40];
      std::snprintf(buffer, sizeof buffer, "%.9g", real_);
      return buffer;
    }
    case Kind::kSigned:
      return std::to_string(signed_);
    case Kind::kUnsigned:
      return std::to_string(unsigned_);
    case Kind::kObject:
      return object_.text(object_.value);
  }
  return {};
}

std::string FormatText(std::string_view pattern, std::initializer_list<FormatArg> args) {
  std::string out;
  auto next = args.begin();
  size_t at = 0;
  while (at < pattern.size()) {
    const size_t hole = pattern.find("{}", at);
    if (hole == std::string_view::npos || next == args.end()) break;
    out.append(pattern.substr(at, hole - at)).append(next->text());
    ++next;
    at = hole + 2;
  }
  out.append(pattern.substr(at));
  for (; next != args.end(); ++next) out.append(" ").append(next->text());
  return out;
}

std::string Printable(std::string_view text, size_t limit) {
  std::string out;
  for (const char c : text.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      out.push_back(c);
      continue;
    }
    char buffer[8];
    std::snprintf(buffer, sizeof buffer, "\\x%02x", byte);
    out.append(buffer);
  }
  if (text.size() > limit) out.append("...");
  return out;
}

}  // namespace penstock
