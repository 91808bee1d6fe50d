#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/core/function_ref.h"
#include "penstock/core/status.h"

namespace penstock::io {

// An open file. All of penstock/io goes to the disk through this class, and so stays within the
// file roots (file_roots.h); its errors name the path.
// Threads: Size(), ReadAt() and WriteAt() may be called concurrently, the others by one thread at a
// time.
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
  // The same at `offset`, which may lie past the end.
  Status WriteAt(uint64_t offset, std::string_view bytes);
  // Cuts it, or fills it up with zeros.
  Status Resize(uint64_t size);
  // From now on reads and writes go between the disk and the caller's memory, past the cache of the
  // system; they must then be of whole blocks: memory, offset and length multiples of kBlock.
  // False, and nothing changed, where the file system cannot.
  static constexpr size_t kBlock = 4096;
  bool BypassCache();
  // Back to the cache.
  void UseCache();
  // Whether most of it lies in the cache, so that reading past it would be slower.
  bool IsCached() const;
  // Waits until what was written is on the disk.
  Status Sync();
  // Idempotent. The destructor closes too, but cannot report an error.
  Status Close();

 private:
  File(std::string path, int fd);
  Status Failed(std::string_view call) const;
  // Calls `write_some` with what is left, and how much is done, until all is.
  Status WriteAll(std::string_view bytes,
                  FunctionRef<ssize_t(std::string_view left, uint64_t done)> write_some);

  std::string path_;
  int fd_;
};

}  // namespace penstock::io
