#include "penstock/io/file_faults.h"

namespace penstock::io {
namespace file_internal {
std::atomic<FileFaults*> faults{nullptr};
}  // namespace file_internal

void SetFileFaults(FileFaults* faults) {
  file_internal::faults.store(faults, std::memory_order_release);
}

std::string_view ToString(FileAction action) {
  switch (action) {
    case FileAction::kCreate:
      return "create";
    case FileAction::kWrite:
      return "write";
    case FileAction::kResize:
      return "resize";
    case FileAction::kSync:
      return "sync";
    case FileAction::kRename:
      return "rename";
    case FileAction::kSyncFolder:
      return "sync folder";
    case FileAction::kRemove:
      return "remove";
    case FileAction::kMakeFolder:
      return "make folder";
  }
  return "unknown";
}

}  // namespace penstock::io
