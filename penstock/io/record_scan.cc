#include "penstock/io/record_scan.h"

#include <algorithm>

#include "penstock/io/crc32c.h"
#include "penstock/io/little_endian.h"

namespace penstock::io {
namespace {

constexpr size_t kLengthBytes = sizeof(uint64_t);
constexpr size_t kCrcBytes = sizeof(uint32_t);
constexpr size_t kHeaderBytes = kLengthBytes + kCrcBytes;
constexpr size_t kPieceBytes = 256 << 10;
constexpr uint64_t kMaxRecordBytes = (uint64_t{1} << 31) - 1;

}  // namespace

bool RecordScanner::Record::Intact() const { return MaskedCrc32c(data) == crc; }

Result<RecordScanner> RecordScanner::Open(const std::string& path, Compression compression) {
  TRY_ASSIGN(InputStream stream, InputStream::Open(path, compression));
  return RecordScanner(std::move(stream));
}

Status RecordScanner::Damaged(uint64_t offset) const {
  return DataLoss("{}: record at offset {}: checksum of the data does not match", Printable(path()),
                  offset);
}

Result<size_t> RecordScanner::Need(size_t n) {
  if (buffer_.size() - taken_ >= n) return n;
  buffer_.erase(0, taken_);
  taken_ = 0;
  // A length that lies makes the buffer no larger than the file.
  TRY(stream_.Read(std::max(n - buffer_.size(), kPieceBytes), &buffer_));
  return std::min(n, buffer_.size());
}

Result<bool> RecordScanner::Next(Record* record) {
  const auto damaged = [&](std::string_view what) {
    return DataLoss("{}: record at offset {}: {}", Printable(path()), offset_, what);
  };
  TRY_ASSIGN(const size_t header, Need(kHeaderBytes));
  if (header == 0) return false;
  if (header < kHeaderBytes) return damaged("truncated within its header");
  const char* begin = buffer_.data() + taken_;
  if (MaskedCrc32c({begin, kLengthBytes}) != LoadLittleEndian<uint32_t>(begin + kLengthBytes))
    return damaged("checksum of the length does not match");
  const uint64_t length = LoadLittleEndian<uint64_t>(begin);
  if (length > kMaxRecordBytes)
    return damaged(Format("its length is {}, the limit is {}", length, kMaxRecordBytes));
  const size_t whole = kHeaderBytes + static_cast<size_t>(length) + kCrcBytes;
  TRY_ASSIGN(const size_t got, Need(whole));
  if (got < whole) return damaged(Format("truncated: expected {} bytes, got {}", whole, got));
  begin = buffer_.data() + taken_;
  record->data = {begin + kHeaderBytes, static_cast<size_t>(length)};
  record->crc = LoadLittleEndian<uint32_t>(begin + whole - kCrcBytes);
  record->offset = offset_;
  taken_ += whole;
  offset_ += whole;
  return true;
}

}  // namespace penstock::io
