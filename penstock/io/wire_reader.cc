#include "penstock/io/wire_reader.h"

namespace penstock::io {

bool WireReader::TakeVarint(std::string_view* bytes, uint64_t* value) {
  uint64_t result = 0;
  for (size_t i = 0; i < 10 && i < bytes->size(); ++i) {
    const uint64_t byte = static_cast<unsigned char>((*bytes)[i]);
    result |= (byte & 0x7F) << 7 * i;
    if (byte < 0x80) {
      *value = result;
      bytes->remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool WireReader::TakeFixed(size_t n) {
  if (left_.size() < n) return false;
  number_ = 0;
  for (size_t i = 0; i < n; ++i) number_ |= uint64_t{static_cast<unsigned char>(left_[i])} << 8 * i;
  left_.remove_prefix(n);
  return true;
}

bool WireReader::Next() {
  if (!ok_ || left_.empty()) return false;
  uint64_t tag = 0;
  ok_ = TakeVarint(&left_, &tag) && tag >> 3 != 0 && tag >> 3 < uint64_t{1} << 29;
  if (!ok_) return false;
  field_ = static_cast<uint32_t>(tag >> 3);
  type_ = static_cast<uint32_t>(tag & 7);
  switch (type_) {
    case kVarint:
      ok_ = TakeVarint(&left_, &number_);
      break;
    case kFixed64:
      ok_ = TakeFixed(8);
      break;
    case kFixed32:
      ok_ = TakeFixed(4);
      break;
    case kBytes: {
      uint64_t length = 0;
      ok_ = TakeVarint(&left_, &length) && length <= left_.size();
      if (!ok_) break;
      bytes_ = left_.substr(0, static_cast<size_t>(length));
      left_.remove_prefix(static_cast<size_t>(length));
      break;
    }
    default:  // groups are not written any more
      ok_ = false;
  }
  return ok_;
}

}  // namespace penstock::io
