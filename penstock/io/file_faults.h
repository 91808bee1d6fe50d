#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

// The seam for faults of the disk: a test sees each change that this room is about to make, and may
// make it fail, cut it short, or end the process there.

namespace penstock::io {

enum class FileAction {
  kCreate,
  kWrite,
  kResize,
  kSync,
  kRename,
  kSyncFolder,
  kRemove,
  kMakeFolder,
};
std::string_view ToString(FileAction action);

struct FileEvent {
  FileAction action;
  std::string_view path;    // of kRename: the old name
  std::string_view target;  // of kRename: the new name
  uint64_t bytes = 0;       // of kWrite: how many; of kResize: the new size
};

// What becomes of an event: nothing unusual unless told.
struct FileFault {
  int error = 0;  // the call fails with this errno
  uint64_t bytes =
      UINT64_MAX;  // of kWrite: only so many get to the file; without an error, silently
};

// Threads: Before may be called by several threads at once.
class FileFaults {
 public:
  virtual ~FileFaults() = default;
  virtual FileFault Before(const FileEvent& event) = 0;
};

// Replaces the faults of the process; null, as at first, for none. REQUIRES: they outlive their
// use.
void SetFileFaults(FileFaults* faults);

namespace file_internal {
extern std::atomic<FileFaults*> faults;
}  // namespace file_internal

inline FileFault BeforeFileEvent(FileAction action, std::string_view path, uint64_t bytes = 0,
                                 std::string_view target = {}) {
  FileFaults* const faults = file_internal::faults.load(std::memory_order_acquire);
  return faults == nullptr ? FileFault() : faults->Before({action, path, target, bytes});
}

}  // namespace penstock::io
