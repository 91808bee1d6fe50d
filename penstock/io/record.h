#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/core/status.h"
#include "penstock/io/file.h"

// Record files, as TensorFlow writes them (TFRecord). All numbers are little-endian.
//
//   file   = record*
//   record = length:u64  masked_crc32c(the 8 bytes of length):u32
//            data:byte[length]  masked_crc32c(data):u32
//
// There is no header, no padding and no count: a file may be cut between records, and files may be
// concatenated. Files that are compressed as a whole are read as streams.

namespace penstock::io {

struct RecordReaderOptions {
  // A longer record is ResourceExhausted. The default is protobuf's limit for one message.
  uint64_t max_record_bytes = (uint64_t{1} << 31) - 1;
};

// Reads the records of a file one after the other.
// Threads: a reader belongs to one thread at a time; several readers may share a file.
// Invariant: offset() moves only when a record was read whole.
//
//   TRY_ASSIGN(auto reader, RecordReader::Open(path));
//   std::string record;
//   while (true) {
//     TRY_ASSIGN(bool more, reader.Read(&record));
//     if (!more) break;
//     ...
//   }
class RecordReader {
 public:
  static Result<RecordReader> Open(const std::string& path, RecordReaderOptions options = {});

  // Reads the next record; false at the end of the file, where a later call looks again and so
  // follows a file that grows. A truncated or damaged record is DataLoss, names file and offset,
  // and leaves the reader where it was; `record` is then undefined.
  Result<bool> Read(std::string* record);

  // Where the next record begins; Seek() to it resumes there, in this reader or another.
  uint64_t offset() const { return offset_; }
  // Does not read: an offset where no record begins shows in the next Read().
  void Seek(uint64_t offset) { offset_ = offset; }

 private:
  RecordReader(File file, RecordReaderOptions options);
  Result<uint64_t> ReadLength();
  Status Copy(uint64_t offset, size_t n, char* out);
  Status Damaged(std::string_view what) const;

  File file_;
  RecordReaderOptions options_;
  uint64_t offset_ = 0;
  // As last asked; the file is asked again when a record does not fit.
  uint64_t size_ = 0;
  // Bytes [buffer_offset_, buffer_offset_ + buffer_.size()) of the file.
  std::string buffer_;
  uint64_t buffer_offset_ = 0;
};

class InputStream;

// Reads the next record of a stream, which may be compressed as a whole; false at its end. DataLoss
// as RecordReader says it.
Result<bool> ReadRecord(InputStream& stream, std::string* record, RecordReaderOptions options = {});

// Writes records to a new file, or over an old one.
// Threads: one at a time. After an error the file may end inside a record, so every later call
// returns that error again.
class RecordWriter {
 public:
  static Result<RecordWriter> Open(const std::string& path);
  RecordWriter(RecordWriter&&) = default;
  RecordWriter& operator=(RecordWriter&&) = delete;
  // Closes, but cannot report an error: call Close() where the data matter.
  ~RecordWriter();

  Status Write(std::string_view record);
  // Hands all written records to the operating system, so that readers see them.
  Status Flush();
  // Flushes and waits until the bytes are on the disk.
  Status Sync();
  // Flushes and closes; nothing may be written afterwards. Idempotent.
  Status Close();

 private:
  explicit RecordWriter(File file);

  File file_;
  std::string buffer_;
  // The first error.
  Status status_;
};

}  // namespace penstock::io
