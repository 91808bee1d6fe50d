#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/core/status.h"
#include "penstock/io/file.h"

namespace penstock::io {

// A file that appears under its name only when it is whole and on the disk: it is written beside
// it, synced, and renamed. Makes the folder when there is none.
// Threads: one at a time.
class StagedFile {
 public:
  static Result<StagedFile> Create(const std::string& path);
  StagedFile(StagedFile&& other) noexcept;
  StagedFile& operator=(StagedFile&&) = delete;
  // Removes what was not committed.
  ~StagedFile();

  // How many bytes were appended.
  uint64_t size() const { return size_; }
  Status Append(std::string_view bytes);
  Status Commit();

 private:
  StagedFile(std::string path, File file);
  Status Flush();

  std::string path_;
  File file_;
  std::string buffer_;
  uint64_t size_ = 0;
  bool staged_ = true;  // there is something to remove
};

// The whole of a small file. ResourceExhausted when it is longer than `limit`.
Result<std::string> ReadWhole(const std::string& path, uint64_t limit);
// Writes a small file by way of a StagedFile.
Status WriteWhole(const std::string& path, std::string_view bytes);
// Moves a file that is already on the disk, and waits until its new name is too.
Status MoveFile(const std::string& from, const std::string& to);

}  // namespace penstock::io
