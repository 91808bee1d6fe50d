#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/io/file.h"

// Whole files and folders, within the file roots (file_roots.h). Errors name the path.
// Threads: all functions may be called concurrently.

namespace penstock::io {

// Reads a regular file. ResourceExhausted when it is longer than `limit` bytes: a file that takes
// no room on the disk can claim any length.
Result<std::string> ReadWholeFile(const std::string& path, uint64_t limit = INT32_MAX);

// A file that appears under its name whole or not at all: it is written beside it under another
// name, and Commit() puts it in place. A reader, or a machine that lost its power, finds the old
// file or the new one.
// Threads: one at a time.
class AtomicFile {
 public:
  static Result<AtomicFile> Create(const std::string& path);
  AtomicFile(AtomicFile&&) = default;
  AtomicFile& operator=(AtomicFile&&) = delete;
  // Removes what was written and not committed.
  ~AtomicFile();

  Status Append(std::string_view bytes) { return file_.Append(bytes); }
  // As it is called until it is committed.
  File& file() { return file_; }
  // Returns when the file, and its name, are on the disk. Nothing may be appended afterwards.
  Status Commit() { return CommitAs(path_); }
  // The same under another name than it was created for, in the same folder.
  Status CommitAs(const std::string& path);

 private:
  AtomicFile(File file, std::string path);

  File file_;
  std::string path_;
};

// All of `bytes` at once, as AtomicFile does it.
Status WriteFileAtomically(const std::string& path, std::string_view bytes);

struct FileInfo {
  uint64_t bytes = 0;
  int64_t modified_ns = 0;  // since 1970
  bool is_folder = false;
};
// Follows links. NotFound when there is nothing of that name.
Result<FileInfo> StatFile(const std::string& path);
bool FileExists(const std::string& path);

// The names in a folder, sorted, without "." and "..".
Result<std::vector<std::string>> ListFolder(const std::string& path);
// The paths that match, sorted: `pattern` is a path of which each name may be a pattern of glob.h.
// None is no error, nor is a folder that does not exist or may not be read.
Result<std::vector<std::string>> MatchFiles(const std::string& pattern);

// Makes the folder and those above it that are missing. A folder that exists is no error.
Status MakeFolders(const std::string& path);
// Removes a file, or a link itself.
Status RemoveFile(const std::string& path);
// Removes an empty folder.
Status RemoveFolder(const std::string& path);
// Whether `name` is that of a file which an AtomicFile was writing when its process died: nobody
// will put it in place.
bool IsAbandoned(std::string_view name);
// Replaces a file of the name `to`. Returns when the new name is on the disk.
Status RenameFile(const std::string& from, const std::string& to);

}  // namespace penstock::io
