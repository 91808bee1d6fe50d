#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Code points as bytes, for the three encodings of Unicode.

namespace penstock::ops {

inline constexpr uint32_t kReplacementChar = 0xFFFD;
inline constexpr uint32_t kMaxCodePoint = 0x10FFFF;

// A code point that an encoding can express: surrogates cannot.
inline bool IsEncodable(uint32_t code) {
  return code <= kMaxCodePoint && (code < 0xD800 || code > 0xDFFF);
}

enum class Encoding { kUtf8, kUtf16Be, kUtf16Le, kUtf32Be, kUtf32Le, kLatin1, kAscii };

// What stands at the beginning of `text`: how many bytes it takes, and the code point that they
// encode. Bytes that are no code point are `malformed`, and as many as the Unicode Standard would
// replace at once (the longest beginning of a sequence that could have gone on).
struct Decoded {
  uint32_t code = kReplacementChar;
  size_t bytes = 1;
  bool malformed = true;
};
// REQUIRES: `text` is not empty.
Decoded DecodeOne(Encoding encoding, std::string_view text);

// REQUIRES: IsEncodable(code). Of the encodings, the three that ops write: kUtf8, kUtf16Be,
// kUtf32Be.
void AppendEncoded(Encoding encoding, uint32_t code, std::string* text);

// A byte that continues a code point of UTF-8, whether or not something began it.
inline bool IsTrailByte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

}  // namespace penstock::ops
