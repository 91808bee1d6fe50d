#include "penstock/io/legacy_checkpoint.h"

#include "penstock/io/file_tree.h"
#include "penstock/io/table.h"
#include "penstock/proto/saved_tensor_slice.pb.h"

namespace penstock::io {
namespace {

constexpr uint64_t kMaxFileBytes = uint64_t{4} << 30;

Status ReadMeta(const tf::SavedSliceMeta& meta, LegacyCheckpoint* checkpoint) {
  LegacyCheckpoint::Entry entry;
  if (meta.type() <= 0 || meta.type() >= kNumDTypes)
    return Unimplemented("dtype {} is not known", static_cast<int>(meta.type()));
  entry.dtype = static_cast<DType>(meta.type());
  std::vector<int64_t> dims;
  for (const auto& dim : meta.shape().dim()) {
    if (dim.size() < 0) return InvalidArgument("the extent {} is negative", dim.size());
    dims.push_back(dim.size());
  }
  TRY_ASSIGN(entry.shape, Shape::Make(dims));
  const auto [at, added] = checkpoint->entries.try_emplace(meta.name(), entry);
  if (!added && (at->second.dtype != entry.dtype || at->second.shape != entry.shape))
    return InvalidArgument("another file says that it is {} {}", at->second.dtype,
                           at->second.shape);
  return OkStatus();
}

Status ReadPart(tf::SavedSlice& data, LegacyCheckpoint* checkpoint) {
  const auto found = checkpoint->entries.find(data.name());
  if (found == checkpoint->entries.end()) return InvalidArgument("it is not declared");
  LegacyCheckpoint::Entry& entry = found->second;
  LegacyCheckpoint::Part part;
  TRY_ASSIGN(const TensorSlice written, TensorSlice::FromProto(data.slice()));
  TRY_ASSIGN(part.slice, written.Within(entry.shape));
  tf::TensorProto& values = *data.mutable_data();
  values.set_dtype(static_cast<tf::DataType>(entry.dtype));
  values.clear_tensor_shape();
  for (const auto& extent : part.slice.extents())
    values.mutable_tensor_shape()->add_dim()->set_size(extent.length);
  part.tensor_proto = values.SerializeAsString();
  entry.parts.push_back(std::move(part));
  return OkStatus();
}

}  // namespace

Status ParseLegacyCheckpoint(std::string_view bytes, std::string_view path,
                             LegacyCheckpoint* checkpoint) {
  TRY_ASSIGN(const std::vector<TableEntry> table, ParseTable(bytes, path));
  if (table.empty() || !table[0].key.empty())
    return DataLoss("{}: the checkpoint has no header", Printable(path));
  for (const TableEntry& entry : table) {
    tf::SavedTensorSlices slices;
    if (!slices.ParseFromString(entry.value))
      return DataLoss("{}: an entry does not parse", Printable(path));
    const auto check = [&](const Status& status, const std::string& name) {
      return status.ok() ? status
                         : DataLoss("{}: tensor '{}': {}", Printable(path), Printable(name),
                                    status.message());
    };
    for (const tf::SavedSliceMeta& meta : slices.meta().tensor())
      TRY(check(ReadMeta(meta, checkpoint), meta.name()));
    if (slices.has_data())
      TRY(check(ReadPart(*slices.mutable_data(), checkpoint), slices.data().name()));
  }
  return OkStatus();
}

Result<LegacyCheckpoint> ReadLegacyCheckpoint(std::span<const std::string> paths) {
  LegacyCheckpoint checkpoint;
  for (const std::string& path : paths) {
    TRY_ASSIGN(const std::string bytes, ReadWholeFile(path, kMaxFileBytes));
    TRY(ParseLegacyCheckpoint(bytes, path, &checkpoint));
  }
  return checkpoint;
}

}  // namespace penstock::io
