#include "penstock/io/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <limits>
#include <utility>

#include "penstock/io/file_faults.h"
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
  if (const FileFault fault = BeforeFileEvent(FileAction::kCreate, path); fault.error != 0)
    return FileError(fault.error, path, "create");
  TRY_ASSIGN(Descriptor opened,
             OpenWithinRoots(path, O_WRONLY | O_CREAT | O_TRUNC, 0666, "create"));
  return File(path, opened.Release());
}

Result<File> File::CreateNew(const std::string& path) {
  if (const FileFault fault = BeforeFileEvent(FileAction::kCreate, path); fault.error != 0)
    return FileError(fault.error, path, "create");
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
  return WriteAll(bytes, [this](std::string_view left, uint64_t) {
    return write(fd_, left.data(), left.size());
  });
}

Status File::WriteAt(uint64_t offset, std::string_view bytes) {
  return WriteAll(bytes, [this, offset](std::string_view left, uint64_t done) {
    return pwrite(fd_, left.data(), left.size(), static_cast<off_t>(offset + done));
  });
}

Status File::WriteAll(std::string_view bytes,
                      FunctionRef<ssize_t(std::string_view, uint64_t)> write_some) {
  const FileFault fault = BeforeFileEvent(FileAction::kWrite, path_, bytes.size());
  bytes = bytes.substr(0, fault.bytes);
  for (uint64_t done = 0; done < bytes.size();) {
    const ssize_t put = write_some(bytes.substr(done), done);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return Failed("write");
    done += static_cast<uint64_t>(put);
  }
  return fault.error == 0 ? OkStatus() : FileError(fault.error, path_, "write");
}

Status File::Resize(uint64_t size) {
  const FileFault fault = BeforeFileEvent(FileAction::kResize, path_, size);
  if (fault.error != 0) return FileError(fault.error, path_, "resize");
  return ftruncate(fd_, static_cast<off_t>(size)) == 0 ? OkStatus() : Failed("resize");
}

bool File::BypassCache() {
  const int flags = fcntl(fd_, F_GETFL);
  return flags >= 0 && fcntl(fd_, F_SETFL, flags | O_DIRECT) == 0;
}

void File::UseCache() {
  const int flags = fcntl(fd_, F_GETFL);
  if (flags >= 0) (void)fcntl(fd_, F_SETFL, flags & ~O_DIRECT);
}

bool File::IsCached() const {
  constexpr uint64_t kSamples = 64, kPage = 4096;
  const Result<uint64_t> size = Size();
  if (!size.ok() || *size == 0) return false;
  void* const map = mmap(nullptr, *size, PROT_READ, MAP_SHARED, fd_, 0);
  if (map == MAP_FAILED) return false;
  uint64_t cached = 0;
  for (uint64_t i = 0; i < kSamples; ++i) {
    unsigned char is_resident = 0;
    const uint64_t page = *size / kPage * i / kSamples;
    if (mincore(static_cast<char*>(map) + page * kPage, 1, &is_resident) == 0)
      cached += is_resident & 1;
  }
  munmap(map, *size);
  return cached > kSamples / 2;
}

Status File::Sync() {
  if (const FileFault fault = BeforeFileEvent(FileAction::kSync, path_); fault.error != 0)
    return FileError(fault.error, path_, "sync");
  return fsync(fd_) == 0 ? OkStatus() : Failed("sync");
}

Status File::Close() {
  if (!is_open()) return OkStatus();
  // The descriptor is gone whatever close() says: trying again could close someone else's.
  return close(std::exchange(fd_, -1)) == 0 ? OkStatus() : Failed("close");
}

}  // namespace penstock::io
