#pragma once

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/core/status.h"

// Where files may lie. Graphs, clients and peers name files; roots are the folders that they may
// name them in. Every path of this room goes through here, so that none can forget the limit: it
// holds for the whole process.
//
// With roots, a path must begin with one of them, and the kernel resolves the rest beneath it:
// neither ".." nor a symbolic link leads out, also not one that is put there meanwhile. Without
// roots there is no limit, as a local user expects.

namespace penstock::io {

// Replaces the roots, at first those of the environment variable PENSTOCK_FILE_ROOTS (separated by
// ':'). None: no limit. An error, and nothing changed, when one is no folder that can be opened.
// Threads: may be called at any time; what is open stays open.
Status SetFileRoots(std::span<const std::string> roots);
// As they were given.
std::vector<std::string> FileRoots();

// An open file descriptor, or none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();

  bool valid() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_ = -1;
};

// Opens `path` within the roots; `flags` and `mode` are those of open(2). The error says what could
// not be done: "create", "open".
Result<Descriptor> OpenWithinRoots(const std::string& path, int flags, mode_t mode,
                                   std::string_view what);

// A name in an open folder, for the calls that end in -at.
struct FolderEntry {
  Descriptor folder;
  std::string name;
};
// The last name of `path` in its folder, which lies within the roots. The name itself is not
// resolved: it may be missing, or a link.
Result<FolderEntry> EntryWithinRoots(const std::string& path);

// What errno says of an operation on `path`.
Status FileError(int error, std::string_view path, std::string_view what);

// Opens `path` beneath `folder` name by name, with no links at all: what systems without openat2(2)
// do. -1 with errno; EXDEV where the path would lead out.
int OpenByNames(int folder, std::string_view path, int flags, mode_t mode);

}  // namespace penstock::io
