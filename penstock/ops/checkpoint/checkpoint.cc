#include "penstock/ops/checkpoint/checkpoint.h"

#include <cstdio>
#include <filesystem>

#include "penstock/io/file_tree.h"
#include "penstock/ops/checkpoint/checkpoint_reader.h"

namespace penstock::ops {
namespace {

// One name and one slice a tensor.
Status CheckLists(const Shape& names, const Shape& slices, size_t num_tensors) {
  TRY(CheckVector(names, "tensor_names"));
  TRY(CheckVector(slices, "shape_and_slices"));
  const Shape expected{static_cast<int64_t>(num_tensors)};
  if (!expected.IsCompatibleWith(names) || !expected.IsCompatibleWith(slices)) {
    return InvalidArgument("tensor_names and shape_and_slices must have {} elements, got {} and {}",
                           num_tensors, names, slices);
  }
  return OkStatus();
}

// The shape that "4 4 0,2:-" promises.
Result<Shape> PromisedShape(const std::string& shape_and_slice) {
  if (shape_and_slice.empty()) return Shape::Unknown();
  TRY_ASSIGN(const io::ShapeAndSlice parsed, io::ParseShapeAndSlice(shape_and_slice));
  TRY_ASSIGN(const io::TensorSlice slice, parsed.slice.Within(parsed.shape));
  return slice.shape();
}

Status RestoreOne(CpuContext& context, const Tensor& pattern, const Tensor& name,
                  std::string_view shape_and_slice, DType dtype) {
  TRY_ASSIGN(const CheckpointReader reader, CheckpointReader::Open(pattern.scalar<std::string>()));
  TRY_ASSIGN(Tensor value,
             reader.Read(name.scalar<std::string>(), shape_and_slice, dtype, context.allocator()));
  context.SetOutput(0, std::move(value));
  return OkStatus();
}

std::string FiveDigits(int32_t number) {
  char text[16];
  std::snprintf(text, sizeof(text), "%05d", static_cast<int>(number));
  return text;
}

}  // namespace

Result<std::vector<Shape>> SaveV2::InferShape(const Shape& prefix, const Shape& tensor_names,
                                              const Shape& shape_and_slices,
                                              std::span<const Known> tensors) const {
  TRY(CheckScalar(prefix, "prefix"));
  TRY(CheckLists(tensor_names, shape_and_slices, tensors.size()));
  return std::vector<Shape>();
}

Status SaveV2::ComputeCpu(CpuContext&, const Tensor& prefix,
                          std::span<const std::string> tensor_names,
                          std::span<const std::string> shape_and_slices,
                          std::span<Tensor* const> tensors) const {
  TRY_ASSIGN(io::BundleWriter writer, io::BundleWriter::Open(prefix.scalar<std::string>()));
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (shape_and_slices[i].empty()) {
      TRY(writer.Add(tensor_names[i], *tensors[i]));
    } else {
      TRY_ASSIGN(const io::ShapeAndSlice part, io::ParseShapeAndSlice(shape_and_slices[i]));
      TRY(writer.AddSlice(tensor_names[i], part.shape, part.slice, *tensors[i]));
    }
  }
  return writer.Finish();
}

Result<std::vector<Shape>> RestoreV2::InferShape(const Shape& prefix, const Shape& tensor_names,
                                                 const Known& shape_and_slices) const {
  TRY(CheckScalar(prefix, "prefix"));
  TRY(CheckLists(tensor_names, *shape_and_slices.shape, dtypes.size()));
  std::vector<Shape> shapes(dtypes.size(), Shape::Unknown());
  for (size_t i = 0; shape_and_slices.value != nullptr && i < dtypes.size(); ++i) {
    TRY_ASSIGN(shapes[i], PromisedShape(shape_and_slices.value->data<std::string>()[i]));
  }
  return shapes;
}

Status RestoreV2::ComputeCpu(CpuContext& context, const Tensor& prefix,
                             std::span<const std::string> tensor_names,
                             std::span<const std::string> shape_and_slices) const {
  TRY_ASSIGN(const CheckpointReader reader, CheckpointReader::Open(prefix.scalar<std::string>()));
  for (size_t i = 0; i < dtypes.size(); ++i) {
    TRY_ASSIGN(Tensor value,
               reader.Read(tensor_names[i], shape_and_slices[i], dtypes[i], context.allocator()));
    context.SetOutput(static_cast<int>(i), std::move(value));
  }
  return OkStatus();
}

Result<Shape> RestoreSlice::InferShape(const Shape& file_pattern, const Shape& tensor_name,
                                       const Known& shape_and_slice) const {
  TRY(CheckScalar(file_pattern, "file_pattern"));
  TRY(CheckScalar(tensor_name, "tensor_name"));
  TRY(CheckScalar(*shape_and_slice.shape, "shape_and_slice"));
  if (shape_and_slice.value == nullptr) return Shape::Unknown();
  return PromisedShape(shape_and_slice.value->scalar<std::string>());
}

Status RestoreSlice::ComputeCpu(CpuContext& context, const Tensor& file_pattern,
                                const Tensor& tensor_name, const Tensor& shape_and_slice) const {
  return RestoreOne(context, file_pattern, tensor_name, shape_and_slice.scalar<std::string>(), dt);
}

Result<Shape> Restore::InferShape(const Shape& file_pattern, const Shape& tensor_name) const {
  TRY(CheckScalar(file_pattern, "file_pattern"));
  TRY(CheckScalar(tensor_name, "tensor_name"));
  return Shape::Unknown();
}

Status Restore::ComputeCpu(CpuContext& context, const Tensor& file_pattern,
                           const Tensor& tensor_name) const {
  return RestoreOne(context, file_pattern, tensor_name, "", dt);
}

Result<Shape> ShardedFilename::InferShape(const Shape& basename, const Shape& shard,
                                          const Shape& num_shards) const {
  TRY(CheckScalar(basename, "basename"));
  TRY(CheckScalar(shard, "shard"));
  TRY(CheckScalar(num_shards, "num_shards"));
  return Shape();
}

Status ShardedFilename::ComputeCpu(CpuContext&, const Tensor& basename, int32_t shard,
                                   int32_t num_shards, Tensor& filename) const {
  *filename.mutable_data<std::string>() =
      basename.scalar<std::string>() + "-" + FiveDigits(shard) + "-of-" + FiveDigits(num_shards);
  return OkStatus();
}

Result<Shape> ShardedFilespec::InferShape(const Shape& basename, const Shape& num_shards) const {
  TRY(CheckScalar(basename, "basename"));
  TRY(CheckScalar(num_shards, "num_shards"));
  return Shape();
}

Status ShardedFilespec::ComputeCpu(CpuContext&, const Tensor& basename, int32_t num_shards,
                                   Tensor& filename) const {
  *filename.mutable_data<std::string>() = basename.scalar<std::string>() +
                                          "-????"
                                          "?-of-" +
                                          FiveDigits(num_shards);
  return OkStatus();
}

Result<std::vector<Shape>> MergeV2Checkpoints::InferShape(const Shape& checkpoint_prefixes,
                                                          const Shape& destination_prefix) const {
  TRY(CheckVector(checkpoint_prefixes, "checkpoint_prefixes"));
  TRY(CheckScalar(destination_prefix, "destination_prefix"));
  return std::vector<Shape>();
}

Status MergeV2Checkpoints::ComputeCpu(CpuContext&, std::span<const std::string> checkpoint_prefixes,
                                      const Tensor& destination_prefix) const {
  const std::string& merged = destination_prefix.scalar<std::string>();
  TRY(io::MergeBundles(checkpoint_prefixes, merged, allow_missing_files));
  if (!delete_old_dirs) return OkStatus();
  const std::filesystem::path kept = std::filesystem::path(merged).parent_path();
  for (const std::string& prefix : checkpoint_prefixes) {
    const std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
    // A folder that is not empty stays.
    if (!folder.empty() && folder != kept) (void)io::RemoveFolder(folder);
  }
  return OkStatus();
}

void RegisterCheckpoint(Registrar& registrar) {
  registrar.AddAll<SaveV2, RestoreV2, RestoreSlice, Restore, ShardedFilename, ShardedFilespec,
                   MergeV2Checkpoints>();
}

}  // namespace penstock::ops
