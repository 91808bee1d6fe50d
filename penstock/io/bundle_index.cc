#include "penstock/io/bundle_index.h"

#include <cstdio>
#include <utility>

#include "penstock/core/checked.h"
#include "penstock/io/file_tree.h"
#include "penstock/io/table.h"
#include "penstock/proto/tensor_bundle.pb.h"

namespace penstock::io {
namespace {

constexpr int32_t kVersion = 1;
constexpr uint64_t kMaxIndexBytes = uint64_t{1} << 30;
constexpr int32_t kMaxShards = 99'999;  // five digits in a file's name

Result<Shape> ReadShape(const tf::TensorShapeProto& proto) {
  if (proto.unknown_rank()) return InvalidArgument("the rank is not known");
  std::vector<int64_t> dims;
  for (const auto& dim : proto.dim()) {
    if (dim.size() < 0) return InvalidArgument("the extent {} is negative", dim.size());
    dims.push_back(dim.size());
  }
  return Shape::Make(dims);
}

Result<BundleEntry> ReadEntry(const std::string& value, int32_t num_shards) {
  tf::BundleEntryProto proto;
  if (!proto.ParseFromString(value)) return InvalidArgument("it does not parse");
  BundleEntry entry;
  if (proto.dtype() <= 0 || proto.dtype() >= kNumDTypes)
    return Unimplemented("dtype {} is not known", static_cast<int>(proto.dtype()));
  entry.dtype = static_cast<DType>(proto.dtype());
  TRY_ASSIGN(entry.shape, ReadShape(proto.shape()));
  if (!InRange(proto.shard_id(), num_shards))
    return InvalidArgument("it lies in file {} of {}", proto.shard_id(), num_shards);
  if (proto.offset() < 0 || proto.size() < 0 || !CheckedAdd(proto.offset(), proto.size()))
    return InvalidArgument("it has {} bytes at offset {}", proto.size(), proto.offset());
  entry.shard = proto.shard_id();
  entry.offset = static_cast<uint64_t>(proto.offset());
  entry.size = static_cast<uint64_t>(proto.size());
  entry.crc = proto.crc32c();
  for (const tf::TensorSliceProto& slice : proto.slices()) {
    TRY_ASSIGN(TensorSlice read, TensorSlice::FromProto(slice));
    TRY(read.Within(entry.shape));
    entry.slices.push_back(std::move(read));
  }
  return entry;
}

std::string WriteEntry(const BundleEntry& entry) {
  tf::BundleEntryProto proto;
  proto.set_dtype(static_cast<tf::DataType>(entry.dtype));
  // Present even for a scalar, as TensorFlow writes it.
  tf::TensorShapeProto* shape = proto.mutable_shape();
  for (const int64_t dim : entry.shape.dims()) shape->add_dim()->set_size(dim);
  proto.set_shard_id(entry.shard);
  proto.set_offset(static_cast<int64_t>(entry.offset));
  proto.set_size(static_cast<int64_t>(entry.size));
  proto.set_crc32c(entry.crc);
  for (const TensorSlice& slice : entry.slices) slice.ToProto(proto.add_slices());
  return proto.SerializeAsString();
}

}  // namespace

std::string BundleDataPath(const std::string& prefix, int32_t shard, int32_t num_shards) {
  char suffix[64];
  std::snprintf(suffix, sizeof(suffix), ".data-%05d-of-%05d", static_cast<int>(shard),
                static_cast<int>(num_shards));
  return prefix + suffix;
}

Result<BundleIndex> ReadBundleIndex(const std::string& prefix) {
  const std::string path = BundleIndexPath(prefix);
  TRY_ASSIGN(const std::string bytes, ReadWholeFile(path, kMaxIndexBytes));
  return ParseBundleIndex(bytes, path);
}

Result<BundleIndex> ParseBundleIndex(std::string_view bytes, std::string_view path) {
  TRY_ASSIGN(const std::vector<TableEntry> table, ParseTable(bytes, path));
  tf::BundleHeaderProto header;
  if (table.empty() || !table[0].key.empty() || !header.ParseFromString(table[0].value))
    return DataLoss("{}: the index has no header", Printable(path));
  if (header.endianness() != tf::BundleHeaderProto::LITTLE)
    return Unimplemented("{}: written by a big-endian machine", Printable(path));
  if (header.version().min_consumer() > kVersion) {
    return Unimplemented("{}: needs a reader of version {}, this one has {}", Printable(path),
                         header.version().min_consumer(), kVersion);
  }
  if (header.num_shards() < 1 || header.num_shards() > kMaxShards)
    return DataLoss("{}: expected 1 to {} data files, got {}", Printable(path), kMaxShards,
                    header.num_shards());
  BundleIndex index;
  index.num_shards = header.num_shards();
  for (size_t i = 1; i < table.size(); ++i) {
    Result<BundleEntry> entry = ReadEntry(table[i].value, index.num_shards);
    if (!entry.ok()) {
      const Code code = entry.status().code();
      return Status(code == Code::kUnimplemented ? code : Code::kDataLoss,
                    Format("{}: entry of '{}': {}", Printable(path), Printable(table[i].key),
                           entry.status().message()));
    }
    index.entries.emplace_hint(index.entries.end(), table[i].key, *std::move(entry));
  }
  return index;
}

Result<std::string> SerializeBundleIndex(const BundleIndex& index) {
  std::vector<TableEntry> table(1);
  tf::BundleHeaderProto header;
  header.set_num_shards(index.num_shards);
  header.mutable_version()->set_producer(kVersion);
  table[0].value = header.SerializeAsString();
  for (const auto& [key, entry] : index.entries) table.push_back({key, WriteEntry(entry)});
  return BuildTable(table);
}

}  // namespace penstock::io
