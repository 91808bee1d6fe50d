#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/core/status.h"
#include "penstock/io/file_tree.h"

namespace penstock::io {

// A file that is written from its beginning to its end, in large blocks, by a thread of its own
// while the caller makes the next block: copies and checksums take no time beside the disk. A large
// file does not go through the system's cache, where the file system can do without: that is
// several times as fast, and leaves the cache to others. Takes at most 24 MB. Appears under its
// name whole or not at all. Threads: one at a time. After an error, only destruction.
class BlockWriter {
 public:
  static Result<BlockWriter> Create(const std::string& path);
  BlockWriter(BlockWriter&&) noexcept;
  BlockWriter& operator=(BlockWriter&&) = delete;
  // Removes what was written and not committed.
  ~BlockWriter();

  // Copies `bytes`, and carries *crc, their Crc32c, on when it is given.
  Status Append(std::string_view bytes, uint32_t* crc = nullptr);
  uint64_t size() const { return size_; }
  // Returns when all bytes are on the disk, still under another name. Nothing may be appended
  // afterwards.
  Status Finish();
  // Puts the file in place. REQUIRES: Finish succeeded.
  Status Commit();
  // The same under another name than it was created for.
  Status CommitAs(const std::string& path);

 private:
  class Queue;  // of the blocks that are to be written

  explicit BlockWriter(AtomicFile file);
  Status HandOver();

  std::unique_ptr<AtomicFile> file_;  // the queue points at it
  std::unique_ptr<Queue> queue_;      // null until the first block is full
  char* block_ = nullptr;             // the one being filled; null at first
  size_t filled_ = 0;
  uint64_t size_ = 0;
};

}  // namespace penstock::io
