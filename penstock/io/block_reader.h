#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "penstock/core/status.h"
#include "penstock/io/file.h"

namespace penstock::io {

// A large file to be read in large parts: several threads read and sum pieces of a part, past the
// system's cache unless the file lies there already. Small parts that follow each other are read
// together. Takes at most 24 MB.
// Threads: all methods may be called concurrently.
class BlockReader {
 public:
  static Result<BlockReader> Open(const std::string& path);
  BlockReader(BlockReader&&) noexcept;
  BlockReader& operator=(BlockReader&&) noexcept;
  ~BlockReader();

  const std::string& path() const { return file_.path(); }
  // At the time it was opened.
  uint64_t size() const { return size_; }
  // Reads `n` bytes that begin at `offset`; *crc, when given, becomes their Crc32c. DataLoss when
  // the file ends before.
  Status ReadAt(uint64_t offset, uint64_t n, char* out, uint32_t* crc = nullptr) const;

 private:
  struct Window;  // bytes of the file that are expected to be asked for next

  BlockReader(File file, uint64_t size);
  Status ReadParts(uint64_t offset, uint64_t n, char* out, uint32_t* crc) const;
  Status ReadPart(uint64_t offset, uint64_t n, char* bounce, char* out, uint32_t* crc) const;
  Status ReadThroughWindow(uint64_t offset, uint64_t n, char* out) const;

  File file_;
  std::unique_ptr<File> direct_;  // the same file past the cache; null where that does not pay
  uint64_t size_;
  std::unique_ptr<Window> window_;  // null without direct_
};

}  // namespace penstock::io
