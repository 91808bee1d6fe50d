#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/core/status.h"

namespace penstock::io {

// An open file. All of penstock/io goes to the disk through this class, and so stays within the
// file roots (file_roots.h); its errors name the path.
// Threads: Size() and ReadAt() may be called concurrently, the others by one thread at a time.
class File {
 public:
  // Opens a regular file: a folder, a pipe or a device is InvalidArgument.
  static Result<File> OpenToRead(const std::string& path);
  // Makes the file, or empties it when it exists.
  static Result<File> Create(const std::string& path);
  // Makes the file; AlreadyExists when there is something of that name.
  static Result<File> CreateNew(const std::string& path);
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  const std::string& path() const { return path_; }
  bool is_open() const { return fd_ >= 0; }
  Result<uint64_t> Size() const;
  // Reads up to `n` bytes that begin at `offset`, and says how many: fewer only at the end.
  Result<size_t> ReadAt(uint64_t offset, size_t n, char* out) const;
  // Writes all of `bytes` at the end; after an error, some of them.
  Status Append(std::string_view bytes);
  // Waits until what was appended is on the disk.
  Status Sync();
  // Idempotent. The destructor closes too, but cannot report an error.
  Status Close();

 private:
  File(std::string path, int fd);
  Status Failed(std::string_view call) const;

  std::string path_;
  int fd_;
};

}  // namespace penstock::io
