#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/io/block_reader.h"
#include "penstock/io/block_writer.h"

// Zip archives, as far as NumPy uses them: files that are stored as they are or deflated.
//
//   archive   = (local name extra bytes)* directory end
//   local     = "PK\3\4" and 26 bytes, of which the lengths of name and extra matter here
//   directory = ("PK\1\2" ... sizes, checksum (Crc32), offset of the local part, name, extra)*
//   end       = "PK\5\6" ... number of entries, bytes and offset of the directory, comment
//   Numbers that do not fit in 32 bits lie in `extra`, tagged 1, and in a second end before the end
//   ("PK\6\6", found by "PK\6\7").
//
// Parts of files that overlap are refused: archives that unpack to more than a disk holds are made
// so.

namespace penstock::io {

struct ZipEntry {
  std::string name;
  bool is_deflated = false;
  uint32_t crc = 0;
  uint64_t packed_bytes = 0;
  uint64_t bytes = 0;
  uint64_t offset = 0;  // of the packed bytes
};

// Reads the files of an archive.
// Threads: all methods may be called concurrently.
class ZipReader {
 public:
  // NotFound when there is no file, DataLoss when it is damaged or no archive.
  static Result<ZipReader> Open(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const std::vector<ZipEntry>& entries() const {
    return entries_;
  }  // in the order of the directory
  // A part of the packed bytes.
  Status ReadPacked(const ZipEntry& entry, uint64_t offset, uint64_t n, char* out) const;
  // The whole file, checked. ResourceExhausted when it has more than `limit` bytes.
  Result<std::string> ReadAll(const ZipEntry& entry, uint64_t limit) const;

 private:
  explicit ZipReader(BlockReader file) : file_(std::move(file)) {}
  Status ReadDirectory();
  Status Damaged(std::string_view what) const;
  Status ParseEntries(std::string_view directory, uint64_t num_entries, uint64_t directory_offset);
  Status FindData(ZipEntry* entry, uint64_t directory_offset);
  Status CheckDisjoint() const;

  BlockReader file_;
  std::vector<ZipEntry> entries_;
};

// Writes an archive of stored files, whole or not at all.
// Threads: one at a time. After an error, only destruction.
class ZipWriter {
 public:
  static Result<ZipWriter> Create(const std::string& path);

  // Begins a file of so many bytes with that Crc32, which Append then gives.
  Status Begin(const std::string& name, uint64_t bytes, uint32_t crc);
  Status Append(std::string_view bytes) { return file_.Append(bytes); }
  Status Finish();

 private:
  explicit ZipWriter(BlockWriter file) : file_(std::move(file)) {}

  BlockWriter file_;
  std::string directory_;
  uint64_t num_entries_ = 0;
};

}  // namespace penstock::io
