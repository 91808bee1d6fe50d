#include "penstock/ops/text/utf8.h"

namespace penstock::ops {
namespace {

uint32_t ByteAt(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

Decoded DecodeUtf8(std::string_view text) {
  const uint32_t lead = ByteAt(text, 0);
  if (lead < 0x80) return {lead, 1, false};
  // What the second byte may be, which is where overlong forms, surrogates and codes past the last
  // are excluded.
  uint32_t low = 0x80, high = 0xBF;
  size_t length = 0;
  uint32_t code = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
    code = lead & 0x1F;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    code = lead & 0x0F;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    code = lead & 0x07;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
  } else {
    return {};
  }
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {kReplacementChar, i, true};
    const uint32_t byte = ByteAt(text, i);
    if (byte < low || byte > high) return {kReplacementChar, i, true};
    code = code << 6 | (byte & 0x3F);
    low = 0x80;
    high = 0xBF;
  }
  return {code, length, false};
}

Decoded DecodeUtf16(std::string_view text, bool big) {
  const auto unit = [&](size_t at) {
    return ByteAt(text, at) << (big ? 8 : 0) | ByteAt(text, at + 1) << (big ? 0 : 8);
  };
  if (text.size() < 2) return {kReplacementChar, text.size(), true};
  const uint32_t first = unit(0);
  if (first < 0xD800 || first > 0xDFFF) return {first, 2, false};
  if (first >= 0xDC00) return {kReplacementChar, 2, true};
  if (text.size() < 4) return {kReplacementChar, text.size(), true};
  const uint32_t second = unit(2);
  if (second < 0xDC00 || second > 0xDFFF) return {kReplacementChar, 2, true};
  return {0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), 4, false};
}

Decoded DecodeUtf32(std::string_view text, bool big) {
  if (text.size() < 4) return {kReplacementChar, text.size(), true};
  uint32_t code = 0;
  for (size_t i = 0; i < 4; ++i) code |= ByteAt(text, i) << (big ? 24 - 8 * i : 8 * i);
  if (!IsEncodable(code)) return {kReplacementChar, 4, true};
  return {code, 4, false};
}

}  // namespace

Decoded DecodeOne(Encoding encoding, std::string_view text) {
  switch (encoding) {
    case Encoding::kUtf8:
      return DecodeUtf8(text);
    case Encoding::kUtf16Be:
      return DecodeUtf16(text, true);
    case Encoding::kUtf16Le:
      return DecodeUtf16(text, false);
    case Encoding::kUtf32Be:
      return DecodeUtf32(text, true);
    case Encoding::kUtf32Le:
      return DecodeUtf32(text, false);
    case Encoding::kLatin1:
      return {ByteAt(text, 0), 1, false};
    case Encoding::kAscii:
      if (ByteAt(text, 0) < 0x80) return {ByteAt(text, 0), 1, false};
      break;
  }
  return {};
}

void AppendEncoded(Encoding encoding, uint32_t code, std::string* text) {
  const auto put = [text](uint32_t byte) { text->push_back(static_cast<char>(byte & 0xFF)); };
  const auto put_unit = [&](uint32_t unit) {
    put(unit >> 8);
    put(unit);
  };
  if (encoding == Encoding::kUtf32Be) {
    put_unit(code >> 16);
    put_unit(code);
  } else if (encoding == Encoding::kUtf16Be) {
    if (code < 0x10000) return put_unit(code);
    put_unit(0xD800 + ((code - 0x10000) >> 10));
    put_unit(0xDC00 + ((code - 0x10000) & 0x3FF));
  } else if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
}

}  // namespace penstock::ops
