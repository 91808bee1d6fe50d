#include <algorithm>
#include <cstring>

#include "penstock/io/bundle.h"
#include "penstock/io/crc32c.h"
#include "penstock/io/file_tree.h"
#include "penstock/io/little_endian.h"
#include "penstock/io/varint.h"

namespace penstock::io {

bool BundleExists(const std::string& prefix) {
  const Result<FileInfo> info = StatFile(BundleIndexPath(prefix));
  return info.ok() && !info->is_folder;
}

Result<BundleReader> BundleReader::Open(const std::string& prefix) {
  BundleReader reader(prefix);
  TRY_ASSIGN(reader.index_, ReadBundleIndex(prefix));
  for (int32_t shard = 0; shard < reader.index_.num_shards; ++shard) {
    TRY_ASSIGN(BlockReader data,
               BlockReader::Open(BundleDataPath(prefix, shard, reader.index_.num_shards)));
    reader.data_.push_back(std::move(data));
  }
  return reader;
}

std::vector<std::string> BundleReader::Names() const {
  std::vector<std::string> names;
  for (const auto& [key, entry] : index_.entries) {
    if (!IsPartKey(key)) names.push_back(key);
  }
  return names;
}

Result<const BundleEntry*> BundleReader::Find(std::string_view name) const {
  const auto found = index_.entries.find(name);
  if (found == index_.entries.end() || IsPartKey(name))
    return NotFound("Key {} not found in checkpoint {}", Printable(name), Printable(prefix_));
  return &found->second;
}

Status BundleReader::Damaged(std::string_view name, std::string_view what) const {
  return DataLoss("checkpoint {}: tensor '{}': {}", Printable(prefix_), Printable(name), what);
}

Result<Tensor> BundleReader::Read(std::string_view name, Allocator* allocator) const {
  TRY_ASSIGN(const BundleEntry* entry, Find(name));
  if (entry->slices.empty()) return ReadEntry(name, *entry, allocator);
  return ReadSlice(
      name, TensorSlice(std::vector<TensorSlice::Extent>(static_cast<size_t>(entry->shape.rank()))),
      allocator);
}

Result<Tensor> BundleReader::ReadSlice(std::string_view name, const TensorSlice& slice,
                                       Allocator* allocator) const {
  TRY_ASSIGN(const BundleEntry* entry, Find(name));
  TRY_ASSIGN(const TensorSlice wanted, slice.Within(entry->shape));
  if (entry->slices.empty()) {
    TRY_ASSIGN(Tensor whole, ReadEntry(name, *entry, allocator));
    if (wanted.Covers(entry->shape)) return whole;
    TRY_ASSIGN(Tensor part, Tensor::Make(allocator, entry->dtype, wanted.shape()));
    const TensorSlice all(
        std::vector<TensorSlice::Extent>(static_cast<size_t>(entry->shape.rank())));
    TRY_ASSIGN(const TensorSlice from, all.Within(entry->shape));
    CopyCommon(from, whole, wanted, &part);
    return part;
  }
  // The parts are read before the whole is allocated: what a hostile index promises and has not is
  // not asked for.
  std::vector<std::pair<TensorSlice, Tensor>> parts;
  int64_t num_elements = 0;
  for (const TensorSlice& written : entry->slices) {
    TRY_ASSIGN(const TensorSlice from, written.Within(entry->shape));
    const auto found = index_.entries.find(SliceKey(name, written));
    if (found == index_.entries.end())
      return Damaged(name, Format("part {} is missing", written.ToString()));
    const BundleEntry& part = found->second;
    if (part.dtype != entry->dtype || part.shape != from.shape() || !part.slices.empty()) {
      return Damaged(name, Format("part {} must be {} {}, got {} {}", written.ToString(),
                                  entry->dtype, from.shape(), part.dtype, part.shape));
    }
    TRY_ASSIGN(Tensor value, ReadEntry(name, part, allocator));
    num_elements += std::min(value.num_elements(), INT64_MAX - num_elements);
    parts.emplace_back(from, std::move(value));
  }
  if (num_elements < wanted.shape().num_elements())
    return Damaged(name, Format("its parts do not cover the slice {}", slice.ToString()));
  TRY_ASSIGN(Tensor result, Tensor::Make(allocator, entry->dtype, wanted.shape()));
  if (IsPlain(entry->dtype) && result.bytes() > 0) {
    std::memset(result.mutable_raw(), 0, result.bytes());  // parts may overlap, so some be left out
  }
  int64_t copied = 0;
  for (const auto& [from, value] : parts) copied += CopyCommon(from, value, wanted, &result);
  if (copied != result.num_elements())
    return Damaged(name, Format("its parts do not cover the slice {} once", slice.ToString()));
  return result;
}

Status BundleReader::CheckPlace(std::string_view name) const {
  TRY_ASSIGN(const BundleEntry* entry, Find(name));
  if (entry->slices.empty()) return CheckEntry(name, *entry);
  for (const TensorSlice& written : entry->slices) {
    const auto part = index_.entries.find(SliceKey(name, written));
    if (part == index_.entries.end())
      return Damaged(name, Format("part {} is missing", written.ToString()));
    TRY(CheckEntry(name, part->second));
  }
  return OkStatus();
}

Status BundleReader::CheckEntry(std::string_view name, const BundleEntry& entry) const {
  const BlockReader& data = data_[static_cast<size_t>(entry.shard)];
  if (entry.offset > data.size() || entry.size > data.size() - entry.offset) {
    return Damaged(name, Format("{} bytes at offset {} do not lie in {}, which has {}", entry.size,
                                entry.offset, Printable(data.path()), data.size()));
  }
  const auto num_elements = static_cast<uint64_t>(entry.shape.num_elements());
  if (entry.dtype == DType::kString) {
    // A length takes a byte or more, so the file bounds the number of strings.
    if (num_elements > entry.size) {
      return Damaged(name, Format("{} strings cannot lie in {} bytes", num_elements, entry.size));
    }
    return OkStatus();
  }
  if (!IsPlain(entry.dtype)) {
    return Unimplemented("checkpoint {}: tensor '{}': values of dtype {} cannot be read",
                         Printable(prefix_), Printable(name), entry.dtype);
  }
  const size_t element = SizeOf(entry.dtype);
  if (entry.size % element != 0 || entry.size / element != num_elements) {
    return Damaged(name, Format("expected {} elements of {} bytes, got {} bytes", num_elements,
                                element, entry.size));
  }
  return OkStatus();
}

Result<Tensor> BundleReader::ReadEntry(std::string_view name, const BundleEntry& entry,
                                       Allocator* allocator) const {
  TRY(CheckEntry(name, entry));
  TRY_ASSIGN(Tensor tensor, Tensor::Make(allocator, entry.dtype, entry.shape));
  TRY(entry.dtype == DType::kString ? ReadStrings(name, entry, &tensor)
                                    : ReadPlain(name, entry, &tensor));
  return tensor;
}

Status BundleReader::ReadInto(std::string_view name, Tensor* tensor) const {
  TRY_ASSIGN(const BundleEntry* entry, Find(name));
  if (entry->dtype != tensor->dtype() || entry->shape != tensor->shape() || !IsPlain(entry->dtype))
    return InvalidArgument("'{}' is {} {}; it cannot be read into {} {}", Printable(name),
                           entry->dtype, entry->shape, tensor->dtype(), tensor->shape());
  if (entry->slices.empty()) {
    TRY(CheckEntry(name, *entry));
    return ReadPlain(name, *entry, tensor);
  }
  TRY_ASSIGN(*tensor, Read(name));
  return OkStatus();
}

Status BundleReader::ReadBytes(std::string_view name, const BundleEntry& entry, char* out,
                               uint32_t* crc) const {
  const Status read =
      data_[static_cast<size_t>(entry.shard)].ReadAt(entry.offset, entry.size, out, crc);
  return read.ok() ? read
                   : read.Annotate(
                         Format("checkpoint {}: tensor '{}'", Printable(prefix_), Printable(name)));
}

Status BundleReader::ReadPlain(std::string_view name, const BundleEntry& entry,
                               Tensor* tensor) const {
  auto* bytes = static_cast<char*>(tensor->mutable_raw());
  uint32_t crc = 0;
  TRY(ReadBytes(name, entry, bytes, &crc));
  if (MaskCrc(crc) != entry.crc) return Damaged(name, "checksum does not match");
  if (entry.dtype == DType::kBool) {  // any other byte is no bool to the compiler
    std::transform(bytes, bytes + entry.size, bytes, [](char c) { return c != 0 ? '\1' : '\0'; });
  }
  return OkStatus();
}

Status BundleReader::ReadStrings(std::string_view name, const BundleEntry& entry,
                                 Tensor* tensor) const {
  std::string bytes(entry.size, '\0');
  TRY(ReadBytes(name, entry, bytes.data()));
  std::string_view rest = bytes;
  std::vector<uint64_t> lengths(static_cast<size_t>(tensor->num_elements()));
  uint32_t crc = 0;
  for (uint64_t& length : lengths) {
    if (!TakeVarint(&rest, &length) || length > entry.size)
      return Damaged(name, "the length of a string does not fit");
    crc = Crc32c({reinterpret_cast<const char*>(&length), length > UINT32_MAX ? 8u : 4u}, crc);
  }
  if (rest.size() < sizeof(uint32_t) || LoadLittleEndian<uint32_t>(rest.data()) != MaskCrc(crc))
    return Damaged(name, "checksum of the lengths of strings does not match");
  crc = Crc32c(rest, crc);
  rest.remove_prefix(sizeof(uint32_t));
  if (MaskCrc(crc) != entry.crc) return Damaged(name, "checksum does not match");
  std::string* out = tensor->mutable_data<std::string>();
  for (const uint64_t length : lengths) {
    if (length > rest.size()) return Damaged(name, "a string does not fit");
    out++->assign(rest.substr(0, length));
    rest.remove_prefix(length);
  }
  return rest.empty() ? OkStatus()
                      : Damaged(name, Format("{} bytes follow the last string", rest.size()));
}

}  // namespace penstock::io
