#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/io/little_endian.h"

namespace penstock::io {

// Writes the fields of a protobuf message, as WireReader reads them. Values that are zero are
// written too: leave them out where proto3 would.
class WireWriter {
 public:
  WireWriter& Varint(uint32_t field, uint64_t value) {
    Tag(field, 0);
    PutVarint(value);
    return *this;
  }
  WireWriter& Double(uint32_t field, double value) {
    Tag(field, 1);
    PutFixed(std::bit_cast<uint64_t>(value));
    return *this;
  }
  WireWriter& Float(uint32_t field, float value) {
    Tag(field, 5);
    PutFixed(std::bit_cast<uint32_t>(value));
    return *this;
  }
  // Bytes, a string, or a message.
  WireWriter& Bytes(uint32_t field, std::string_view bytes) {
    Tag(field, 2);
    PutVarint(bytes.size());
    text_.append(bytes);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  void Tag(uint32_t field, uint32_t type) { PutVarint(field << 3 | type); }
  void PutVarint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_.push_back(static_cast<char>(value | 0x80));
    text_.push_back(static_cast<char>(value));
  }
  template <class T>
  void PutFixed(T value) {
    char bytes[sizeof value];
    StoreLittleEndian(value, bytes);
    text_.append(bytes, sizeof bytes);
  }

  std::string text_;
};

}  // namespace penstock::io
