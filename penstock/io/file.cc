#include "penstock/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "penstock/io/file_roots.h"

namespace penstock::io {
File::File(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}

File::File(File&& other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  return *this;
}

File::~File() { (void)Close(); }

// Reads errno, so it comes first after the call that failed.
Status File::Failed(std::string_view call) const { return FileError(errno, path_, call); }

Result<File> File::OpenToRead(const std::string& path) {
  // O_NONBLOCK: opening a pipe must not wait for its other end, for it is refused below.
  TRY_ASSIGN(Descriptor opened, OpenWithinRoots(path, O_RDONLY | O_NONBLOCK, 0, "open"));
  File file(path, opened.Release());
  struct stat info;
  if (fstat(file.fd_, &info) != 0) return file.Failed("stat");
  if (!S_ISREG(info.st_mode)) return InvalidArgument("{}: not a regular file", Printable(path));
  return file;
}

Result<File> File::Create(const std::string& path) {
  TRY_ASSIGN(Descriptor opened,
             OpenWithinRoots(path, O_WRONLY | O_CREAT | O_TRUNC, 0666, "create"));
  return File(path, opened.Release());
}

Result<File> File::CreateNew(const std::string& path) {
  TRY_ASSIGN(Descriptor opened, OpenWithinRoots(path, O_WRONLY | O_CREAT | O_EXCL, 0666, "create"));
  return File(path, opened.Release());
}

Result<uint64_t> File::Size() const {
  struct stat info;
  if (fstat(fd_, &info) != 0) return Failed("stat");
  return static_cast<uint64_t>(info.st_size);
}

Result<size_t> File::ReadAt(uint64_t offset, size_t n, char* out) const {
  constexpr uint64_t kMaxOffset = std::numeric_limits<off_t>::max();
  size_t done = 0;
  while (done < n && offset <= kMaxOffset - done) {
    const ssize_t got = pread(fd_, out + done, n - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Failed(Format("read at offset {}", offset + done));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

Status File::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd_, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Failed("write");
    bytes.remove_prefix(static_cast<size_t>(put));
  }
  return OkStatus();
}

Status File::Sync() { return fsync(fd_) == 0 ? OkStatus() : Failed("sync"); }

Status File::Close() {
  if (!is_open()) return OkStatus();
  // The descriptor is gone whatever close() says: trying again could close someone else's.
  return close(std::exchange(fd_, -1)) == 0 ? OkStatus() : Failed("close");
}

}  // namespace penstock::io
