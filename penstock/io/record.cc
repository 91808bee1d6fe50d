#include "penstock/io/record.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "penstock/io/compression.h"
#include "penstock/io/crc32c.h"
#include "penstock/io/little_endian.h"

namespace penstock::io {
namespace {

constexpr size_t kLengthBytes = sizeof(uint64_t);
constexpr size_t kCrcBytes = sizeof(uint32_t);
constexpr size_t kHeaderBytes = kLengthBytes + kCrcBytes;
constexpr size_t kReadAheadBytes = 256 << 10;
constexpr size_t kWriteBehindBytes = 64 << 10;

// What a file that is no record file may be; a guess, for the message only.
std::string_view GuessFormat(std::string_view bytes) {
  if (bytes.starts_with("\x1f\x8b")) return "; is the file compressed by gzip?";
  if (bytes.starts_with("\x78\x01") || bytes.starts_with("\x78\x9c") ||
      bytes.starts_with("\x78\xda")) {
    return "; is the file compressed by zlib?";
  }
  return "";
}

}  // namespace

RecordReader::RecordReader(File file, RecordReaderOptions options)
    : file_(std::move(file)), options_(options) {}

Result<RecordReader> RecordReader::Open(const std::string& path, RecordReaderOptions options) {
  TRY_ASSIGN(File file, File::OpenToRead(path));
  return RecordReader(std::move(file), options);
}

Status RecordReader::Damaged(std::string_view what) const {
  return DataLoss("{}: record at offset {}: {}", Printable(file_.path()), offset_, what);
}

// Copies bytes that the file is known to have, small pieces by way of the buffer.
Status RecordReader::Copy(uint64_t offset, size_t n, char* out) {
  if (offset >= buffer_offset_ && offset - buffer_offset_ < buffer_.size()) {
    const size_t begin = offset - buffer_offset_;
    const size_t count = std::min(n, buffer_.size() - begin);
    std::memcpy(out, buffer_.data() + begin, count);
    offset += count;
    out += count;
    n -= count;
  }
  if (n == 0) return OkStatus();
  size_t got = 0;
  if (n >= kReadAheadBytes) {
    TRY_ASSIGN(got, file_.ReadAt(offset, n, out));
  } else {
    std::string ahead = std::exchange(buffer_, {});
    ahead.resize(kReadAheadBytes);
    TRY_ASSIGN(const size_t num_ahead, file_.ReadAt(offset, ahead.size(), ahead.data()));
    ahead.resize(num_ahead);
    got = std::min(n, num_ahead);
    std::memcpy(out, ahead.data(), got);
    buffer_ = std::move(ahead);
    buffer_offset_ = offset;
  }
  return got == n ? OkStatus() : Damaged("the file shrank while it was read");
}

// Reads and checks a header. REQUIRES: the file has one at offset_.
Result<uint64_t> RecordReader::ReadLength() {
  char header[kHeaderBytes];
  TRY(Copy(offset_, sizeof(header), header));
  const std::string_view length_bytes(header, kLengthBytes);
  if (MaskedCrc32c(length_bytes) != LoadLittleEndian<uint32_t>(header + kLengthBytes)) {
    return Damaged(Format("checksum of the length does not match{}",
                          offset_ == 0 ? GuessFormat(length_bytes) : ""));
  }
  return LoadLittleEndian<uint64_t>(header);
}

Result<bool> RecordReader::Read(std::string* record) {
  if (size_ < offset_ || size_ - offset_ < kHeaderBytes) {
    TRY_ASSIGN(size_, file_.Size());
    if (size_ == offset_) return false;
    if (size_ < offset_) return Damaged(Format("lies past the end of the file, {}", size_));
    if (size_ - offset_ < kHeaderBytes) {
      return Damaged(Format("truncated: expected a header of {} bytes, got {}", kHeaderBytes,
                            size_ - offset_));
    }
  }
  TRY_ASSIGN(const uint64_t length, ReadLength());
  const uint64_t data_offset = offset_ + kHeaderBytes;
  // Not length + kCrcBytes, which may wrap.
  const auto fits = [&] {
    return size_ - data_offset >= kCrcBytes && length <= size_ - data_offset - kCrcBytes;
  };
  if (!fits()) {
    TRY_ASSIGN(const uint64_t size, file_.Size());
    size_ = std::max(size_, size);
    if (!fits()) {
      return Damaged(Format("truncated: length is {}, but only {} bytes follow the header", length,
                            size_ - data_offset));
    }
  }
  if (length > options_.max_record_bytes) {
    return ResourceExhausted("{}: record at offset {}: length is {}, the limit is {}",
                             Printable(file_.path()), offset_, length, options_.max_record_bytes);
  }

  record->resize(length);
  char crc[kCrcBytes];
  TRY(Copy(data_offset, record->size(), record->data()));
  TRY(Copy(data_offset + length, sizeof(crc), crc));
  if (MaskedCrc32c(*record) != LoadLittleEndian<uint32_t>(crc)) {
    return Damaged("checksum of the data does not match");
  }
  offset_ = data_offset + length + kCrcBytes;
  return true;
}

Result<bool> ReadRecord(InputStream& stream, std::string* record, RecordReaderOptions options) {
  const uint64_t begin = stream.offset();
  const auto damaged = [&](std::string_view what) {
    return DataLoss("{}: record at offset {}: {}", Printable(stream.path()), begin, what);
  };
  std::string header;
  TRY_ASSIGN(const size_t got, stream.Read(kHeaderBytes, &header));
  if (got == 0) return false;
  if (got < kHeaderBytes) return damaged("truncated within its header");
  if (MaskedCrc32c({header.data(), kLengthBytes}) !=
      LoadLittleEndian<uint32_t>(header.data() + kLengthBytes))
    return damaged("checksum of the length does not match");
  const uint64_t length = LoadLittleEndian<uint64_t>(header.data());
  if (length > options.max_record_bytes) {
    return ResourceExhausted("{}: record at offset {}: length is {}, the limit is {}",
                             Printable(stream.path()), begin, length, options.max_record_bytes);
  }
  record->clear();
  TRY_ASSIGN(const size_t data, stream.Read(static_cast<size_t>(length) + kCrcBytes, record));
  if (data != length + kCrcBytes) return damaged("truncated");
  const uint32_t crc = LoadLittleEndian<uint32_t>(record->data() + length);
  record->resize(static_cast<size_t>(length));
  if (MaskedCrc32c(*record) != crc) return damaged("checksum of the data does not match");
  return true;
}

RecordWriter::RecordWriter(File file) : file_(std::move(file)) {}

RecordWriter::~RecordWriter() { (void)Close(); }

Result<RecordWriter> RecordWriter::Open(const std::string& path) {
  TRY_ASSIGN(File file, File::Create(path));
  return RecordWriter(std::move(file));
}

Status RecordWriter::Write(std::string_view record) {
  TRY(status_);
  if (!file_.is_open()) return FailedPrecondition("{}: Write after Close", file_.path());
  char header[kHeaderBytes];
  StoreLittleEndian<uint64_t>(record.size(), header);
  StoreLittleEndian<uint32_t>(MaskedCrc32c({header, kLengthBytes}), header + kLengthBytes);
  char crc[kCrcBytes];
  StoreLittleEndian<uint32_t>(MaskedCrc32c(record), crc);
  buffer_.append(header, sizeof(header)).append(record).append(crc, sizeof(crc));
  return buffer_.size() < kWriteBehindBytes ? OkStatus() : Flush();
}

Status RecordWriter::Flush() {
  TRY(status_);
  status_ = file_.Append(buffer_);
  buffer_.clear();
  return status_;
}

Status RecordWriter::Sync() {
  TRY(Flush());
  status_ = file_.Sync();
  return status_;
}

Status RecordWriter::Close() {
  if (!file_.is_open()) return status_;
  Status flushed = Flush();
  Status closed = file_.Close();
  if (flushed.ok()) status_ = closed;
  return status_;
}

}  // namespace penstock::io
