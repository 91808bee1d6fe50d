#pragma once

#include <cstdint>
#include <string>

namespace penstock::io {

// Appends one character of Unicode. False, and nothing appended, when `code` is none.
inline bool AppendUtf8(uint32_t code, std::string* out) {
  if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return false;
  const auto put = [out](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
    return true;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  put((more == 1 ? 0xc0 : more == 2 ? 0xe0 : 0xf0) | code >> (6 * more));
  for (int i = more - 1; i >= 0; --i) put(0x80 | (code >> (6 * i) & 0x3f));
  return true;
}

}  // namespace penstock::io
