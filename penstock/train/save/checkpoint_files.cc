#include "penstock/train/save/checkpoint_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>

#include "penstock/core/log.h"
#include "penstock/io/bundle.h"
#include "penstock/io/checkpoint_state.h"
#include "penstock/io/file_tree.h"

namespace penstock {
namespace {

constexpr std::string_view kIndexEnd = ".index";

std::string At(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).string();
}

bool AllDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The prefix of a state file as a path: a folder that was moved is still found.
std::string Resolved(const std::string& folder, const std::string& prefix) {
  const std::filesystem::path path(prefix);
  if (!path.is_absolute()) return At(folder, prefix);
  return io::BundleExists(prefix) ? prefix : At(folder, path.filename());
}

// "model.ckpt-5" and 2 of "model.ckpt-5.data-00001-of-00002".
struct DataName {
  std::string prefix;
  int32_t num_shards = 0;
};
std::optional<DataName> ParseDataName(const std::string& name) {
  constexpr size_t kEndSize = std::string_view(".data-00001-of-00002").size();
  if (name.size() <= kEndSize) return std::nullopt;
  DataName data;
  data.prefix = name.substr(0, name.size() - kEndSize);
  int32_t shard = 0;
  const std::string_view end = std::string_view(name).substr(data.prefix.size());
  std::from_chars(end.data() + 6, end.data() + 11, shard);
  std::from_chars(end.data() + 15, end.data() + 20, data.num_shards);
  if (io::BundleDataPath(data.prefix, shard, data.num_shards) != name) return std::nullopt;
  return data;
}

// All in the folder by the time of their index, the oldest first.
std::vector<io::CheckpointRecord> ScanFolder(const std::string& folder) {
  std::vector<io::CheckpointRecord> found;
  const Result<std::vector<std::string>> names = io::ListFolder(folder);
  if (!names.ok()) return found;
  for (const std::string& name : *names) {
    if (!name.ends_with(kIndexEnd)) continue;
    const Result<io::FileInfo> info = io::StatFile(At(folder, name));
    if (!info.ok() || info->is_folder) continue;
    found.push_back({name.substr(0, name.size() - kIndexEnd.size()),
                     static_cast<double>(info->modified_ns) * 1e-9});
  }
  std::ranges::stable_sort(found, {}, [](const io::CheckpointRecord& record) {
    return std::pair(record.seconds, StepOf(record.prefix).value_or(-1));
  });
  return found;
}

}  // namespace

PrefixParts SplitPrefix(const std::string& prefix) {
  const std::filesystem::path path(prefix);
  const std::string folder = path.parent_path();
  return {folder.empty() ? "." : folder, path.filename()};
}

std::string StepPrefix(const std::string& prefix, int64_t step) {
  return prefix + "-" + std::to_string(step);
}

std::optional<int64_t> StepOf(const std::string& prefix) {
  const size_t dash = prefix.rfind('-');
  if (dash == std::string::npos || !AllDigits(std::string_view(prefix).substr(dash + 1)))
    return std::nullopt;
  int64_t step = 0;
  const char* const end = prefix.data() + prefix.size();
  const auto [stop, error] = std::from_chars(prefix.data() + dash + 1, end, step);
  return error == std::errc() ? std::optional(step) : std::nullopt;
}

bool IsNamedAfter(std::string_view name, std::string_view base) {
  if (!name.starts_with(base)) return false;
  name.remove_prefix(base.size());
  return name.empty() || (name[0] == '-' && AllDigits(name.substr(1)));
}

io::CheckpointState StateOf(const std::string& folder, const std::string& state_file) {
  Result<io::CheckpointState> state = io::ReadCheckpointState(At(folder, state_file));
  if (state.ok()) return *std::move(state);
  io::CheckpointState found;
  if (state.status().code() == Code::kNotFound) return found;
  Log(LogLevel::kWarning,
      Format("{}; taking the checkpoints that the folder has", state.status().message()));
  found.all = ScanFolder(folder);
  if (!found.all.empty()) found.latest = found.all.back().prefix;
  return found;
}

std::vector<std::string> CheckpointsIn(const std::string& folder, const std::string& state_file) {
  const io::CheckpointState state = StateOf(folder, state_file);
  std::vector<std::string> candidates;
  if (!state.latest.empty()) candidates.push_back(Resolved(folder, state.latest));
  for (auto record = state.all.rbegin(); record != state.all.rend(); ++record)
    candidates.push_back(Resolved(folder, record->prefix));
  // Those that the state does not name come last.
  std::vector<io::CheckpointRecord> scanned = ScanFolder(folder);
  for (auto record = scanned.rbegin(); record != scanned.rend(); ++record)
    candidates.push_back(At(folder, record->prefix));
  std::vector<std::string> found;
  std::set<std::string> seen;
  for (const std::string& prefix : candidates) {
    if (seen.insert(prefix).second && io::BundleExists(prefix)) found.push_back(prefix);
  }
  return found;
}

std::optional<std::string> LatestCheckpoint(const std::string& folder,
                                            const std::string& state_file) {
  const std::vector<std::string> found = CheckpointsIn(folder, state_file);
  return found.empty() ? std::nullopt : std::optional(found.front());
}

void RemoveCheckpoint(const std::string& prefix) {
  const Result<io::BundleIndex> index = io::ReadBundleIndex(prefix);
  if (!io::RemoveFile(io::BundleIndexPath(prefix)).ok()) return;
  for (int32_t shard = 0; index.ok() && shard < index->num_shards; ++shard)
    (void)io::RemoveFile(io::BundleDataPath(prefix, shard, index->num_shards));
  (void)io::RemoveFile(prefix + ".meta");  // as TensorFlow writes it
}

void RemoveOrphans(const std::string& folder, const std::string& base,
                   const std::string& state_file, int64_t before) {
  const Result<std::vector<std::string>> names = io::ListFolder(folder);
  if (!names.ok()) return;
  std::map<std::string, int32_t> num_shards;  // of each prefix; 0 without an index
  const auto shards_of = [&](const std::string& prefix) {
    const auto [at, added] = num_shards.try_emplace(prefix, 0);
    const Result<io::BundleIndex> index = io::ReadBundleIndex(At(folder, prefix));
    if (added && index.ok()) at->second = index->num_shards;
    // One that is damaged may be mended from its data.
    if (added && !index.ok() && index.status().code() != Code::kNotFound) at->second = -1;
    return at->second;
  };
  for (const std::string& name : *names) {
    if (!name.starts_with(base) && !name.starts_with(state_file)) continue;
    bool is_orphan = io::IsAbandoned(name);
    if (const std::optional<DataName> data = ParseDataName(name);
        data.has_value() && IsNamedAfter(data->prefix, base)) {
      const int32_t expected = shards_of(data->prefix);
      const Result<io::FileInfo> info = io::StatFile(At(folder, name));
      is_orphan =
          expected >= 0 && expected != data->num_shards && info.ok() && info->modified_ns < before;
    }
    if (is_orphan) (void)io::RemoveFile(At(folder, name));
  }
}

Status NoCheckpoint(const std::string& path) {
  const Result<io::FileInfo> info = io::StatFile(path);
  if (info.ok() && info->is_folder) {
    return NotFound(
        "{} is a folder, not the prefix of a checkpoint; LatestCheckpoint finds one in it",
        Printable(path));
  }
  for (const std::string_view end : {".index", ".meta", ".data-00000-of-00001"}) {
    if (path.ends_with(end)) {
      return NotFound("{} is a file of a checkpoint; expected its prefix, {}", Printable(path),
                      Printable(path.substr(0, path.size() - end.size())));
    }
  }
  if (!info.ok()) {
    return NotFound("there is no checkpoint {}: {} cannot be found", Printable(path),
                    Printable(io::BundleIndexPath(path)));
  }
  struct Magic {
    std::string_view begin;
    std::string_view what;
  };
  constexpr Magic kMagics[] = {
      {"PK",
       "a zip archive, perhaps of NumPy (.npz), Keras or PyTorch; LoadNpz reads those of NumPy"},
      {"\x89HDF", "an HDF5 file"},
      {"\x93NUMPY", "a NumPy array"},
      {"\x80\x02", "a Python pickle"},
      {"GGUF", "a GGUF file"},
  };
  char begin[16] = {};
  if (Result<io::File> file = io::File::OpenToRead(path); file.ok())
    (void)file->ReadAt(0, sizeof begin, begin).ok();
  std::string_view what = "a file of another format";
  for (const Magic& magic : kMagics) {
    if (std::string_view(begin, sizeof begin).starts_with(magic.begin)) what = magic.what;
  }
  if (begin[8] == '{') what = "a safetensors file; LoadSafetensors reads it";
  return InvalidArgument("{} is no checkpoint of TensorFlow's format but {}", Printable(path),
                         what);
}

}  // namespace penstock
