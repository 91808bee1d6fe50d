#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/core/status.h"
#include "penstock/io/compression.h"

namespace penstock::io {

// Reads the records of a file (record.h) in large pieces, without a copy of each.
// Threads: one at a time.
class RecordScanner {
 public:
  struct Record {
    std::string_view data;  // until the next call
    uint64_t offset = 0;    // where the record begins, of the file when uncompressed
    uint32_t crc = 0;       // masked, as the file states it

    bool Intact() const;  // whether the data fit their checksum
  };

  static Result<RecordScanner> Open(const std::string& path, Compression compression);

  // The next record, of which the checksum of the data was not looked at; false at the end of the
  // file. DataLoss with file and offset when the length is damaged or the file is cut: where a
  // record would follow is then not known.
  Result<bool> Next(Record* record);
  const std::string& path() const { return stream_.path(); }
  // What Next would say of a record whose data do not fit their checksum.
  Status Damaged(uint64_t offset) const;

 private:
  explicit RecordScanner(InputStream stream) : stream_(std::move(stream)) {}
  // Makes sure that `n` bytes lie in the buffer from taken_ on; says how many do, at the end fewer.
  Result<size_t> Need(size_t n);

  InputStream stream_;
  std::string buffer_;
  size_t taken_ = 0;
  uint64_t offset_ = 0;  // of taken_
};

}  // namespace penstock::io
