#include "penstock/io/json_scanner.h"

#include <charconv>
#include <cstdio>

#include "penstock/io/utf8.h"

namespace penstock::io {

Status JsonScanner::Wrong(std::string_view expected) const {
  return DataLoss("JSON, byte {}: expected {}, got '{}'", at_, expected,
                  Printable(text_.substr(std::min(at_, text_.size()), 10)));
}

char JsonScanner::Peek() {
  while (at_ < text_.size() &&
         std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
    ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonScanner::TakeIf(char c) {
  if (Peek() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

Status JsonScanner::Take(char c) {
  return TakeIf(c) ? OkStatus() : Wrong(Format("'{}'", std::string(1, c)));
}

Status JsonScanner::TakeEnd() {
  Peek();
  return at_ == text_.size() ? OkStatus() : Wrong("the end");
}

Result<uint64_t> JsonScanner::TakeUnsigned() {
  Peek();
  uint64_t value = 0;
  const char* const begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error != std::errc() || (*begin == '0' && end - begin > 1)) return Wrong("a whole number");
  at_ += static_cast<size_t>(end - begin);
  return value;
}

Result<std::string> JsonScanner::TakeString() {
  TRY(Take('"'));
  std::string out;
  while (at_ < text_.size() && text_[at_] != '"') {
    if (static_cast<uint8_t>(text_[at_]) < 0x20) return Wrong("a character of a string");
    if (text_[at_] == '\\') {
      TRY(TakeEscape(&out));
    } else {
      out.push_back(text_[at_++]);
    }
  }
  TRY(Take('"'));
  return out;
}

Status JsonScanner::TakeEscape(std::string* out) {
  constexpr std::string_view kNames = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
  ++at_;
  const char name = at_ < text_.size() ? text_[at_] : '\0';
  if (const size_t i = kNames.find(name); i != std::string_view::npos) {
    out->push_back(kMeant[i]);
    ++at_;
    return OkStatus();
  }
  TRY_ASSIGN(uint32_t code, TakeHex());
  if (code >= 0xd800 && code < 0xdc00) {  // the first half of a pair
    if (at_ >= text_.size() || text_[at_] != '\\') return Wrong("the second half of a character");
    ++at_;
    TRY_ASSIGN(const uint32_t low, TakeHex());
    if (low < 0xdc00 || low > 0xdfff) return Wrong("the second half of a character");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xdc00 && code <= 0xdfff) {
    return Wrong("the first half of a character");
  }
  AppendUtf8(code, out);
  return OkStatus();
}

// 'u' and four digits.
Result<uint32_t> JsonScanner::TakeHex() {
  uint32_t code = 0;
  if (at_ + 5 > text_.size() || text_[at_] != 'u') return Wrong("an escape");
  const char* const begin = text_.data() + at_ + 1;
  const auto [end, error] = std::from_chars(begin, begin + 4, code, 16);
  if (error != std::errc() || end != begin + 4) return Wrong("an escape");
  at_ += 5;
  return code;
}

std::string JsonString(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (static_cast<uint8_t>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c));
      out += escape;
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

}  // namespace penstock::io
