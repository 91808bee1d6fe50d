#include "penstock/io/staged_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

namespace penstock::io {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

Status SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool synced = fd >= 0 && fsync(fd) == 0;
  const int error = errno;
  if (fd >= 0) close(fd);
  // Some file systems cannot sync a folder, and need not.
  if (synced || error == EINVAL) return OkStatus();
  return Unavailable("{}: cannot sync the folder: {}", Printable(folder),
                     std::generic_category().message(error));
}

}  // namespace

StagedFile::StagedFile(std::string path, File file)
    : path_(std::move(path)), file_(std::move(file)) {}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::move(other.file_)),
      buffer_(std::move(other.buffer_)),
      size_(other.size_),
      staged_(std::exchange(other.staged_, false)) {}

StagedFile::~StagedFile() {
  if (staged_) unlink(file_.path().c_str());
}

Result<StagedFile> StagedFile::Create(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(FolderOf(path), error);  // if it fails, so does Create
  std::random_device random;
  const uint64_t tag = uint64_t{random()} << 32 | random();
  TRY_ASSIGN(File file, File::Create(Format("{}.tempstate{}", path, tag)));
  return StagedFile(path, std::move(file));
}

Status StagedFile::Append(std::string_view bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() <= kBufferBytes) {
    buffer_.append(bytes);
    return OkStatus();
  }
  TRY(Flush());
  if (bytes.size() >= kBufferBytes) return file_.Append(bytes);
  buffer_.append(bytes);
  return OkStatus();
}

Status StagedFile::Flush() {
  TRY(file_.Append(buffer_));
  buffer_.clear();
  return OkStatus();
}

Status StagedFile::Commit() {
  TRY(Flush());
  TRY(file_.Sync());
  TRY(file_.Close());
  TRY(MoveFile(file_.path(), path_));
  staged_ = false;
  return OkStatus();
}

Result<std::string> ReadWhole(const std::string& path, uint64_t limit) {
  TRY_ASSIGN(const File file, File::OpenToRead(path));
  TRY_ASSIGN(const uint64_t size, file.Size());
  if (size > limit) {
    return ResourceExhausted("{}: the file has {} bytes, the limit is {}", Printable(path), size,
                             limit);
  }
  std::string bytes(size, '\0');
  TRY_ASSIGN(const size_t got, file.ReadAt(0, bytes.size(), bytes.data()));
  bytes.resize(got);
  return bytes;
}

Status WriteWhole(const std::string& path, std::string_view bytes) {
  TRY_ASSIGN(StagedFile file, StagedFile::Create(path));
  TRY(file.Append(bytes));
  return file.Commit();
}

Status MoveFile(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) != 0) {
    return Unavailable("{}: cannot rename to {}: {}", Printable(from), Printable(to),
                       std::generic_category().message(errno));
  }
  return SyncFolder(FolderOf(to));
}

}  // namespace penstock::io
