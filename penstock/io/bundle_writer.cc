#include <filesystem>

#include "penstock/io/bundle.h"
#include "penstock/io/crc32c.h"
#include "penstock/io/file_tree.h"
#include "penstock/io/varint.h"

namespace penstock::io {
namespace {

Status WriteIndex(const std::string& prefix, const BundleIndex& index) {
  TRY_ASSIGN(const std::string bytes, SerializeBundleIndex(index));
  return WriteFileAtomically(BundleIndexPath(prefix), bytes);
}

// The number of data files of the bundle of that prefix; 0 when there is none that can be read.
int32_t NumShardsOf(const std::string& prefix) {
  if (!BundleExists(prefix)) return 0;
  const Result<BundleIndex> index = ReadBundleIndex(prefix);
  return index.ok() ? index->num_shards : 0;
}

// What cannot be removed stays, and hurts nobody.
void RemoveData(const std::string& prefix, int32_t num_shards) {
  for (int32_t shard = 0; shard < num_shards; ++shard)
    (void)RemoveFile(BundleDataPath(prefix, shard, num_shards));
}

// Puts an index over data files that lie in place, and removes those of the `old` bundle. On error
// the data files go again, unless the index is there and means them.
Status PutIndex(const std::string& prefix, const BundleIndex& index, int32_t old) {
  if (Status written = WriteIndex(prefix, index); !written.ok()) {
    if (NumShardsOf(prefix) != index.num_shards) RemoveData(prefix, index.num_shards);
    return written;
  }
  RemoveData(prefix, old);
  return OkStatus();
}

}  // namespace

Result<BundleWriter> BundleWriter::Open(const std::string& prefix, uint64_t max_shard_bytes) {
  const std::string folder = std::filesystem::path(prefix).parent_path();
  if (!folder.empty()) TRY(MakeFolders(folder));
  BundleWriter writer(prefix, max_shard_bytes);
  TRY(writer.OpenShard());
  return writer;
}

Status BundleWriter::OpenShard() {
  // What it will be called is known at the end.
  TRY_ASSIGN(BlockWriter data, BlockWriter::Create(prefix_ + ".data"));
  data_.push_back(std::move(data));
  return OkStatus();
}

Status BundleWriter::Add(const std::string& name, const Tensor& tensor) {
  if (name.empty()) return InvalidArgument("a tensor must have a name to be saved");
  const auto [at, added] = index_.entries.try_emplace(name);
  if (!added) return InvalidArgument("tensor '{}' is saved twice", Printable(name));
  return Write(tensor, &at->second);
}

Status BundleWriter::AddSlice(const std::string& name, const Shape& full, const TensorSlice& slice,
                              const Tensor& part) {
  TRY_ASSIGN(const TensorSlice place, slice.Within(full));
  if (place.shape() != part.shape()) {
    return InvalidArgument("slice {} of '{}' has shape {}, but the tensor has {}", slice.ToString(),
                           Printable(name), place.shape(), part.shape());
  }
  if (place.Covers(full)) return Add(name, part);
  if (name.empty()) return InvalidArgument("a tensor must have a name to be saved");
  BundleEntry& whole = index_.entries[name];
  if (whole.dtype == DType::kInvalid) {
    whole.dtype = part.dtype();
    whole.shape = full;
  } else if (whole.slices.empty() || whole.dtype != part.dtype() || whole.shape != full) {
    return InvalidArgument("'{}' was saved as {} {}; {} {} is no part of it", Printable(name),
                           whole.dtype, whole.shape, part.dtype(), full);
  }
  whole.slices.push_back(slice);
  return Add(SliceKey(name, slice), part);
}

Status BundleWriter::Write(const Tensor& tensor, BundleEntry* entry) {
  if (!tensor.initialized()) return FailedPrecondition("a tensor without a value cannot be saved");
  if (tensor.dtype() != DType::kString && !IsPlain(tensor.dtype()))
    return Unimplemented("values of dtype {} cannot be saved", tensor.dtype());
  const uint64_t used = data_.back().size();
  if (used > 0 && (used > max_shard_bytes_ || tensor.bytes() > max_shard_bytes_ - used)) {
    TRY(data_.back().Finish());
    TRY(OpenShard());
  }
  entry->dtype = tensor.dtype();
  entry->shape = tensor.shape();
  entry->shard = static_cast<int32_t>(data_.size() - 1);
  entry->offset = data_.back().size();
  uint32_t crc = 0;
  if (tensor.dtype() == DType::kString) {
    TRY(WriteStrings(tensor.values<std::string>(), &crc));
  } else {
    TRY(data_.back().Append({static_cast<const char*>(tensor.raw()), tensor.bytes()}, &crc));
  }
  entry->size = data_.back().size() - entry->offset;
  entry->crc = MaskCrc(crc);
  return OkStatus();
}

Status BundleWriter::WriteStrings(std::span<const std::string> strings, uint32_t* crc) {
  std::string lengths;
  for (const std::string& text : strings) {
    const uint64_t length = text.size();
    AppendVarint(length, &lengths);
    *crc = Crc32c({reinterpret_cast<const char*>(&length), length > UINT32_MAX ? 8u : 4u}, *crc);
  }
  const uint32_t masked = MaskCrc(*crc);
  TRY(data_.back().Append(lengths));
  TRY(data_.back().Append({reinterpret_cast<const char*>(&masked), sizeof(masked)}, crc));
  for (const std::string& text : strings) TRY(data_.back().Append(text, crc));
  return OkStatus();
}

Status BundleWriter::Finish() {
  const int32_t old = NumShardsOf(prefix_);
  if (static_cast<size_t>(old) == data_.size()) {
    TRY(data_.back().Finish());
    TRY(OpenShard());  // an empty file, so that the names differ
  }
  TRY(data_.back().Finish());
  index_.num_shards = static_cast<int32_t>(data_.size());
  if (Status committed = CommitData(index_.num_shards); !committed.ok()) {
    RemoveData(prefix_, index_.num_shards);
    return committed;
  }
  return PutIndex(prefix_, index_, old);
}

Status BundleWriter::CommitData(int32_t num_shards) {
  for (int32_t shard = 0; shard < num_shards; ++shard)
    TRY(data_[static_cast<size_t>(shard)].CommitAs(BundleDataPath(prefix_, shard, num_shards)));
  return OkStatus();
}

Status MergeBundles(std::span<const std::string> prefixes, const std::string& merged,
                    bool skip_missing) {
  struct Move {
    std::string from;
    int32_t shard;
  };
  std::vector<Move> moves;
  std::vector<std::string> old_indices;
  BundleIndex all;
  for (const std::string& prefix : prefixes) {
    Result<BundleIndex> index = ReadBundleIndex(prefix);
    if (!index.ok() && index.status().code() == Code::kNotFound && skip_missing) continue;
    if (!index.ok()) return index.status();
    const auto first = static_cast<int32_t>(moves.size());
    for (int32_t shard = 0; shard < index->num_shards; ++shard)
      moves.push_back({BundleDataPath(prefix, shard, index->num_shards), first + shard});
    old_indices.push_back(BundleIndexPath(prefix));
    for (auto& [key, entry] : index->entries) {
      entry.shard += entry.slices.empty() ? first : 0;
      const auto [at, added] = all.entries.try_emplace(key, entry);
      if (added) continue;
      BundleEntry& known = at->second;
      if (entry.slices.empty() || known.slices.empty() || known.dtype != entry.dtype ||
          known.shape != entry.shape) {
        return InvalidArgument("tensor '{}' is in several of the checkpoints to be merged",
                               Printable(key));
      }
      known.slices.insert(known.slices.end(), entry.slices.begin(), entry.slices.end());
    }
  }
  if (moves.empty()) return InvalidArgument("there is no checkpoint to be merged");
  const int32_t old = NumShardsOf(merged);
  const bool clashes = static_cast<size_t>(old) == moves.size();
  all.num_shards = static_cast<int32_t>(moves.size()) + (clashes ? 1 : 0);
  for (const Move& move : moves)
    TRY(RenameFile(move.from, BundleDataPath(merged, move.shard, all.num_shards)));
  if (clashes) TRY(WriteFileAtomically(BundleDataPath(merged, old, all.num_shards), ""));
  TRY(WriteIndex(merged, all));
  RemoveData(merged, old);
  for (const std::string& path : old_indices) {
    if (path != BundleIndexPath(merged)) TRY(RemoveFile(path));
  }
  return OkStatus();
}

}  // namespace penstock::io
