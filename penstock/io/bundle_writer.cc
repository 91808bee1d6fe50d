#include <filesystem>

#include "penstock/io/bundle.h"
#include "penstock/io/crc32c.h"
#include "penstock/io/varint.h"

namespace penstock::io {
namespace {

constexpr size_t kBufferBytes = 1 << 20;

Status WriteIndex(const std::string& prefix, const BundleIndex& index) {
  TRY_ASSIGN(const std::string bytes, SerializeBundleIndex(index));
  return WriteFileAtomically(BundleIndexPath(prefix), bytes);
}

}  // namespace

Result<BundleWriter> BundleWriter::Open(const std::string& prefix) {
  const std::string folder = std::filesystem::path(prefix).parent_path();
  if (!folder.empty()) TRY(MakeFolders(folder));
  TRY_ASSIGN(AtomicFile data, AtomicFile::Create(BundleDataPath(prefix, 0, 1)));
  return BundleWriter(prefix, std::move(data));
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
  entry->dtype = tensor.dtype();
  entry->shape = tensor.shape();
  entry->offset = size_;
  uint32_t crc = 0;
  if (tensor.dtype() == DType::kString) {
    std::string lengths;
    for (const std::string& text : tensor.values<std::string>()) {
      const uint64_t length = text.size();
      AppendVarint(length, &lengths);
      crc = Crc32c({reinterpret_cast<const char*>(&length), length > UINT32_MAX ? 8u : 4u}, crc);
    }
    const uint32_t masked = MaskCrc(crc);
    const std::string_view masked_bytes(reinterpret_cast<const char*>(&masked), sizeof(masked));
    lengths.append(masked_bytes);
    crc = Crc32c(masked_bytes, crc);
    TRY(Append(lengths));
    for (const std::string& text : tensor.values<std::string>()) {
      crc = Crc32c(text, crc);
      TRY(Append(text));
    }
  } else if (IsPlain(tensor.dtype())) {
    const std::string_view bytes(static_cast<const char*>(tensor.raw()), tensor.bytes());
    crc = Crc32c(bytes);
    TRY(Append(bytes));
  } else {
    return Unimplemented("values of dtype {} cannot be saved", tensor.dtype());
  }
  entry->size = size_ - entry->offset;
  entry->crc = MaskCrc(crc);
  return OkStatus();
}

Status BundleWriter::Append(std::string_view bytes) {
  size_ += bytes.size();
  if (buffer_.size() + bytes.size() > kBufferBytes) TRY(Flush());
  if (bytes.size() > kBufferBytes) return data_.Append(bytes);
  buffer_.append(bytes);
  return OkStatus();
}

Status BundleWriter::Flush() {
  TRY(data_.Append(buffer_));
  buffer_.clear();
  return OkStatus();
}

Status BundleWriter::Finish() {
  TRY(Flush());
  TRY(data_.Commit());
  return WriteIndex(prefix_, index_);
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
  all.num_shards = static_cast<int32_t>(moves.size());
  for (const Move& move : moves)
    TRY(RenameFile(move.from, BundleDataPath(merged, move.shard, all.num_shards)));
  TRY(WriteIndex(merged, all));
  for (const std::string& path : old_indices) {
    if (path != BundleIndexPath(merged)) TRY(RemoveFile(path));
  }
  return OkStatus();
}

}  // namespace penstock::io
