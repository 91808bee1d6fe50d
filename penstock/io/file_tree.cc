#include "penstock/io/file_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <memory>
#include <utility>

#include "penstock/io/file_faults.h"
#include "penstock/io/file_roots.h"
#include "penstock/io/glob.h"

namespace penstock::io {
namespace {

constexpr size_t kReadBytes = 1 << 20;
// "<path>.tmp-<process>-<number>"
constexpr std::string_view kTemporary = ".tmp-";
std::atomic<uint64_t> num_temporaries{0};  // of this process

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};

// Makes a change of names in a folder last.
Status SyncFolderOf(const std::string& path) {
  if (const FileFault fault = BeforeFileEvent(FileAction::kSyncFolder, path); fault.error != 0)
    return FileError(fault.error, path, "sync the folder of");
  TRY_ASSIGN(const FolderEntry entry, EntryWithinRoots(path));
  // An O_PATH descriptor cannot be synced.
  const Descriptor folder(openat(entry.folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid() || fsync(folder.get()) != 0)
    return FileError(errno, path, "sync the folder of");
  return OkStatus();
}

Status Remove(const std::string& path, int flags) {
  if (const FileFault fault = BeforeFileEvent(FileAction::kRemove, path); fault.error != 0)
    return FileError(fault.error, path, "remove");
  TRY_ASSIGN(const FolderEntry entry, EntryWithinRoots(path));
  if (unlinkat(entry.folder.get(), entry.name.c_str(), flags) != 0)
    return FileError(errno, path, "remove");
  return OkStatus();
}

Status MakeFolder(const std::string& path) {
  if (const FileFault fault = BeforeFileEvent(FileAction::kMakeFolder, path); fault.error != 0)
    return FileError(fault.error, path, "make the folder");
  TRY_ASSIGN(const FolderEntry entry, EntryWithinRoots(path));
  if (mkdirat(entry.folder.get(), entry.name.c_str(), 0777) != 0)
    return FileError(errno, path, "make the folder");
  return SyncFolderOf(path);
}

std::string Join(const std::string& folder, std::string_view name) {
  if (folder.empty()) return std::string(name);
  return folder.ends_with('/') ? folder + std::string(name) : folder + "/" + std::string(name);
}

// "a\*b" as the name "a*b".
std::string Unescaped(std::string_view pattern) {
  std::string name;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    name.push_back(pattern[i]);
  }
  return name;
}

}  // namespace

Result<std::string> ReadWholeFile(const std::string& path, uint64_t limit) {
  TRY_ASSIGN(const File file, File::OpenToRead(path));
  TRY_ASSIGN(const uint64_t size, file.Size());
  const auto too_long = [&](uint64_t bytes) {
    return ResourceExhausted("{}: expected at most {} bytes, got {}", Printable(path), limit,
                             bytes);
  };
  if (size > limit) return too_long(size);
  // What the size says is a guess: the file may grow, and those of /proc say 0.
  std::string bytes(size, '\0');
  TRY_ASSIGN(size_t got, file.ReadAt(0, bytes.size(), bytes.data()));
  while (got == bytes.size()) {
    bytes.resize(got + (size == 0 ? kReadBytes : 1));
    TRY_ASSIGN(const size_t more, file.ReadAt(got, bytes.size() - got, bytes.data() + got));
    got += more;
    if (more == 0) break;
    if (got > limit) return too_long(got);
  }
  bytes.resize(got);
  return bytes;
}

AtomicFile::AtomicFile(File file, std::string path)
    : file_(std::move(file)), path_(std::move(path)) {}

Result<AtomicFile> AtomicFile::Create(const std::string& path) {
  // A name of a dead process that had this number is skipped.
  for (int tries = 0;; ++tries) {
    Result<File> file = File::CreateNew(
        Format("{}{}{}-{}", path, kTemporary, getpid(), num_temporaries.fetch_add(1)));
    if (file.ok()) return AtomicFile(*std::move(file), path);
    if (file.status().code() != Code::kAlreadyExists || tries == 100) return file.status();
  }
}

AtomicFile::~AtomicFile() {
  if (!file_.is_open()) return;
  (void)RemoveFile(file_.path());
}

Status AtomicFile::CommitAs(const std::string& path) {
  TRY(file_.Sync());
  TRY(RenameFile(file_.path(), path));
  return file_.Close();
}

bool IsAbandoned(std::string_view name) {
  const size_t at = name.rfind(kTemporary);
  if (at == std::string_view::npos) return false;
  const char* const end = name.data() + name.size();
  pid_t process = 0;
  uint64_t number = 0;
  const auto [dash, error] = std::from_chars(name.data() + at + kTemporary.size(), end, process);
  if (error != std::errc() || process <= 0 || dash == end || *dash != '-') return false;
  const auto [stop, no_number] = std::from_chars(dash + 1, end, number);
  if (no_number != std::errc() || stop != end) return false;
  // In a container, the process before may have had our number.
  if (process == getpid()) return number >= num_temporaries.load();
  return kill(process, 0) != 0 && errno == ESRCH;
}

Status WriteFileAtomically(const std::string& path, std::string_view bytes) {
  TRY_ASSIGN(AtomicFile file, AtomicFile::Create(path));
  TRY(file.Append(bytes));
  TRY_ASSIGN(const uint64_t written, file.file().Size());
  if (written != bytes.size()) {
    return DataLoss("{}: {} bytes were written, but the disk took {}", Printable(path),
                    bytes.size(), written);
  }
  return file.Commit();
}

Result<FileInfo> StatFile(const std::string& path) {
  TRY_ASSIGN(const Descriptor file, OpenWithinRoots(path, O_PATH, 0, "stat"));
  struct stat info;
  if (fstat(file.get(), &info) != 0) return FileError(errno, path, "stat");
  return FileInfo{static_cast<uint64_t>(info.st_size),
                  int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec,
                  S_ISDIR(info.st_mode)};
}

bool FileExists(const std::string& path) { return StatFile(path).ok(); }

Result<std::vector<std::string>> ListFolder(const std::string& path) {
  TRY_ASSIGN(Descriptor opened, OpenWithinRoots(path, O_RDONLY | O_DIRECTORY, 0, "list"));
  const std::unique_ptr<DIR, CloseFolder> folder(fdopendir(opened.get()));
  if (folder == nullptr) return FileError(errno, path, "list");
  opened.Release();
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return FileError(errno, path, "list");
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<std::string>> MatchFiles(const std::string& pattern) {
  // The paths that the names of the pattern so far lead to.
  std::vector<std::string> found = {pattern.starts_with('/') ? "/" : ""};
  std::string_view left = pattern;
  while (true) {
    left.remove_prefix(std::min(left.find_first_not_of('/'), left.size()));
    if (left.empty()) break;
    const std::string_view name = left.substr(0, left.find('/'));
    left.remove_prefix(name.size());
    std::vector<std::string> next;
    for (const std::string& folder : found) {
      if (!IsGlob(name)) {
        next.push_back(Join(folder, name));
        continue;
      }
      if (name.find_first_of("*?[") == std::string_view::npos) {
        next.push_back(Join(folder, Unescaped(name)));
        continue;
      }
      const Result<std::vector<std::string>> names = ListFolder(folder.empty() ? "." : folder);
      // Outside of the roots nothing is said to be empty: the pattern itself is refused.
      if (!names.ok() && found.size() == 1 && names.status().code() == Code::kPermissionDenied)
        return names.status();
      if (!names.ok()) continue;
      for (const std::string& candidate : *names)
        if (GlobMatches(name, candidate)) next.push_back(Join(folder, candidate));
    }
    found = std::move(next);
  }
  std::vector<std::string> paths;
  for (std::string& path : found) {
    if (path.empty()) continue;
    const Result<FileInfo> info = StatFile(path);
    if (info.ok()) paths.push_back(std::move(path));
    if (!info.ok() && info.status().code() == Code::kPermissionDenied && found.size() == 1)
      return info.status();
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

Status MakeFolders(const std::string& path) {
  // Up to what exists, then down again.
  std::vector<std::string> missing = {path};
  while (true) {
    std::string& last = missing.back();
    while (last.size() > 1 && last.ends_with('/')) last.pop_back();
    const Result<FileInfo> info = StatFile(last);
    if (info.ok() && info->is_folder) break;
    if (info.ok()) return InvalidArgument("{}: expected a folder, got a file", Printable(last));
    if (info.status().code() != Code::kNotFound) return info.status();
    const size_t slash = last.rfind('/');
    if (slash == std::string::npos || slash == 0) {
      missing.push_back(slash == 0 ? "/" : ".");
      break;
    }
    missing.push_back(last.substr(0, slash));
  }
  for (missing.pop_back(); !missing.empty(); missing.pop_back()) {
    if (Status made = MakeFolder(missing.back()); !made.ok() && made.code() != Code::kAlreadyExists)
      return made;
  }
  return OkStatus();
}

Status RemoveFile(const std::string& path) { return Remove(path, 0); }

Status RemoveFolder(const std::string& path) { return Remove(path, AT_REMOVEDIR); }

Status RenameFile(const std::string& from, const std::string& to) {
  if (const FileFault fault = BeforeFileEvent(FileAction::kRename, from, 0, to); fault.error != 0)
    return FileError(fault.error, from, Format("rename to {}", Printable(to)));
  TRY_ASSIGN(const FolderEntry source, EntryWithinRoots(from));
  TRY_ASSIGN(const FolderEntry target, EntryWithinRoots(to));
  if (renameat(source.folder.get(), source.name.c_str(), target.folder.get(),
               target.name.c_str()) != 0)
    return FileError(errno, from, Format("rename to {}", Printable(to)));
  return SyncFolderOf(to);
}

}  // namespace penstock::io
