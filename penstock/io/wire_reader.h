#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::io {

// Reads the fields of a protobuf message in place, without making one. Every length is held against
// what is left; after the first error ok() is false and Next() too.
//
//   message = (tag value)*
//   tag     = varint of field number << 3 | wire type
//   value   = varint (0) | 8 bytes (1) | varint length, bytes (2) | 4 bytes (5)
//
//   for (WireReader reader(bytes); reader.Next();) {
//     if (reader.Is(1, WireReader::kBytes)) Use(reader.bytes());
//   }
class WireReader {
 public:
  static constexpr uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5;

  explicit WireReader(std::string_view message) : left_(message) {}

  // Reads a field; false at the end or when there is no field.
  bool Next();
  bool ok() const { return ok_; }
  bool Is(uint32_t field, uint32_t type) const { return field_ == field && type_ == type; }
  uint32_t field() const { return field_; }
  uint64_t number() const { return number_; }        // of kVarint, kFixed64, kFixed32
  std::string_view bytes() const { return bytes_; }  // of kBytes

  // Reads a varint off the front of `bytes`; false when there is none.
  static bool TakeVarint(std::string_view* bytes, uint64_t* value);

 private:
  bool TakeFixed(size_t n);

  std::string_view left_;
  bool ok_ = true;
  uint32_t field_ = 0;
  uint32_t type_ = 0;
  uint64_t number_ = 0;
  std::string_view bytes_;
};

}  // namespace penstock::io
