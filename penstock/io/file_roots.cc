#include "penstock/io/file_roots.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <optional>
#include <system_error>

#include "penstock/core/mutex.h"

namespace penstock::io {
namespace {

constexpr std::string_view kVariable = "PENSTOCK_FILE_ROOTS";

struct Root {
  std::string given;  // absolute; "/link/data"
  std::string real;   // with no links; "/mnt/data"
  Descriptor folder;
};

struct RootSet {
  std::vector<std::string> given;
  std::vector<Root> roots;
  Status status;  // of an environment that cannot be obeyed: nothing may be opened
};

// The names of a path, one after the other, without "." and empty ones.
class Names {
 public:
  explicit Names(std::string_view path) : left_(path) { Next(); }
  bool done() const { return name_.empty(); }
  std::string_view name() const { return name_; }
  void Next() {
    do {
      left_.remove_prefix(std::min(left_.find_first_not_of('/'), left_.size()));
      name_ = left_.substr(0, left_.find('/'));
      left_.remove_prefix(name_.size());
    } while (name_ == ".");
  }
  // What follows the name.
  std::string_view left() const { return left_; }
  // The name and what follows, as a relative path.
  std::string Rest() const { return done() ? "." : std::string(name_).append(left_); }

 private:
  std::string_view left_;
  std::string_view name_;
};

// `path` as seen from `root`, when it begins with the names of `root`.
std::optional<std::string> Beneath(std::string_view path, std::string_view root) {
  Names of_path(path);
  for (Names of_root(root); !of_root.done(); of_root.Next(), of_path.Next())
    if (of_path.name() != of_root.name()) return std::nullopt;
  return of_path.Rest();
}

Result<std::string> Absolute(const std::string& path) {
  if (path.starts_with('/')) return path;
  char folder[PATH_MAX];
  if (getcwd(folder, sizeof folder) == nullptr) return FileError(errno, path, "find the folder of");
  return std::string(folder) + "/" + path;
}

Result<std::shared_ptr<const RootSet>> MakeRootSet(std::span<const std::string> given) {
  auto set = std::make_shared<RootSet>();
  for (const std::string& path : given) {
    Root root;
    TRY_ASSIGN(root.given, Absolute(path));
    root.folder = Descriptor(open(root.given.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!root.folder.valid()) return FileError(errno, path, "open the file root");
    const std::unique_ptr<char, decltype(&free)> real(realpath(root.given.c_str(), nullptr), free);
    if (real == nullptr) return FileError(errno, path, "resolve the file root");
    root.real = real.get();
    set->given.push_back(path);
    set->roots.push_back(std::move(root));
  }
  return std::shared_ptr<const RootSet>(std::move(set));
}

std::shared_ptr<const RootSet> RootsOfEnvironment() {
  const char* text = std::getenv(kVariable.data());
  std::vector<std::string> given;
  for (std::string_view left = text == nullptr ? "" : text; !left.empty();) {
    const std::string_view root = left.substr(0, left.find(':'));
    left.remove_prefix(std::min(root.size() + 1, left.size()));
    if (!root.empty()) given.emplace_back(root);
  }
  Result<std::shared_ptr<const RootSet>> set = MakeRootSet(given);
  if (set.ok()) return *set;
  auto refused = std::make_shared<RootSet>();
  refused->given = given;
  refused->status = set.status().Annotate(kVariable);
  return refused;
}

class CurrentRoots {
 public:
  std::shared_ptr<const RootSet> Get() {
    MutexLock lock(mu_);
    return set_;
  }
  void Set(std::shared_ptr<const RootSet> set) {
    MutexLock lock(mu_);
    set_ = std::move(set);
  }

 private:
  Mutex mu_;
  std::shared_ptr<const RootSet> set_ GUARDED_BY(mu_) = RootsOfEnvironment();
};

CurrentRoots& Current() {
  static CurrentRoots* const current = new CurrentRoots;
  return *current;
}

int OpenBeneath(int folder, const std::string& path, int flags, mode_t mode) {
  open_how how = {};
  how.flags = static_cast<uint64_t>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  long fd = -1;
  // EAGAIN: something was renamed while ".." was resolved.
  for (int tries = 0; tries < 8; ++tries) {
    fd = syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
    if (fd >= 0 || errno != EAGAIN) break;
  }
  // EPERM: a sandbox that does not know the call.
  if (fd < 0 && (errno == ENOSYS || errno == EPERM)) return OpenByNames(folder, path, flags, mode);
  return static_cast<int>(fd);
}

Code CodeOf(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return Code::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::kPermissionDenied;
    case EEXIST:
      return Code::kAlreadyExists;
    case EISDIR:
    case ENAMETOOLONG:
    case ELOOP:
    case EINVAL:
      return Code::kInvalidArgument;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
      return Code::kResourceExhausted;
    case EBADF:
    case ENOTEMPTY:
      return Code::kFailedPrecondition;
    default:
      return Code::kUnavailable;
  }
}

}  // namespace

Descriptor::~Descriptor() {
  if (valid()) close(fd_);
}

Status FileError(int error, std::string_view path, std::string_view what) {
  return Status(CodeOf(error), Format("{}: cannot {}: {}", Printable(path), what,
                                      std::generic_category().message(error)));
}

Status SetFileRoots(std::span<const std::string> roots) {
  TRY_ASSIGN(std::shared_ptr<const RootSet> set, MakeRootSet(roots));
  Current().Set(std::move(set));
  return OkStatus();
}

std::vector<std::string> FileRoots() { return Current().Get()->given; }

int OpenByNames(int folder, std::string_view path, int flags, mode_t mode) {
  Descriptor at(openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  Names names(path);
  if (names.done()) return openat(at.get(), ".", flags | O_CLOEXEC, mode);
  while (at.valid()) {
    const std::string name(names.name());
    names.Next();
    if (name == "..") {
      errno = EXDEV;
      return -1;
    }
    if (names.done()) return openat(at.get(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode);
    at = Descriptor(openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  return -1;
}

Result<Descriptor> OpenWithinRoots(const std::string& path, int flags, mode_t mode,
                                   std::string_view what) {
  if (path.find('\0') != std::string::npos)
    return InvalidArgument("{}: a path must not hold a zero byte", Printable(path));
  const std::shared_ptr<const RootSet> set = Current().Get();
  TRY(set->status);
  if (set->roots.empty()) {
    Descriptor file(open(path.c_str(), flags | O_CLOEXEC, mode));
    if (!file.valid()) return FileError(errno, path, what);
    return file;
  }
  TRY_ASSIGN(const std::string absolute, Absolute(path));
  for (const Root& root : set->roots) {
    std::optional<std::string> rest = Beneath(absolute, root.given);
    if (!rest.has_value()) rest = Beneath(absolute, root.real);
    if (!rest.has_value()) continue;
    Descriptor file(OpenBeneath(root.folder.get(), *rest, flags, mode));
    if (file.valid()) return file;
    if (errno != EXDEV) return FileError(errno, path, what);
  }
  return PermissionDenied("{}: cannot {}: it lies outside of the file roots", Printable(path),
                          what);
}

Result<FolderEntry> EntryWithinRoots(const std::string& path) {
  std::string trimmed = path;
  while (trimmed.size() > 1 && trimmed.ends_with('/')) trimmed.pop_back();
  const size_t slash = trimmed.rfind('/');
  FolderEntry entry;
  entry.name = slash == std::string::npos ? trimmed : trimmed.substr(slash + 1);
  if (entry.name.empty() || entry.name == "." || entry.name == ".." ||
      entry.name.find('\0') != std::string::npos)
    return InvalidArgument("{}: expected a path that ends in a name", Printable(path));
  const std::string folder =
      slash == std::string::npos ? "." : trimmed.substr(0, std::max<size_t>(slash, 1));
  TRY_ASSIGN(entry.folder, OpenWithinRoots(folder, O_PATH | O_DIRECTORY, 0, "open the folder"));
  return entry;
}

}  // namespace penstock::io
