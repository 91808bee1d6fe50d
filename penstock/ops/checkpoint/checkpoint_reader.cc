#include "penstock/ops/checkpoint/checkpoint_reader.h"

#include <cstring>
#include <vector>

#include "penstock/graph/tensor_proto.h"
#include "penstock/io/file_tree.h"

namespace penstock::ops {

Result<CheckpointReader> CheckpointReader::Open(const std::string& pattern) {
  CheckpointReader reader;
  reader.pattern_ = pattern;
  if (io::BundleExists(pattern)) {
    TRY_ASSIGN(reader.bundle_, io::BundleReader::Open(pattern));
    return reader;
  }
  TRY_ASSIGN(const std::vector<std::string> paths, io::MatchFiles(pattern));
  if (paths.empty()) {
    return NotFound("there is no checkpoint: Failed to find any matching files for {}",
                    Printable(pattern));
  }
  TRY_ASSIGN(reader.legacy_, io::ReadLegacyCheckpoint(paths));
  return reader;
}

Result<Tensor> CheckpointReader::Read(std::string_view name, std::string_view shape_and_slice,
                                      DType dtype, Allocator* allocator) const {
  DType stored = DType::kInvalid;
  Shape shape;
  const io::LegacyCheckpoint::Entry* legacy = nullptr;
  if (bundle_) {
    TRY_ASSIGN(const io::BundleEntry* entry, bundle_->Find(name));
    stored = entry->dtype;
    shape = entry->shape;
  } else {
    const auto found = legacy_.entries.find(name);
    if (found == legacy_.entries.end()) {
      return NotFound("Key {} not found in checkpoint {}", Printable(name), Printable(pattern_));
    }
    legacy = &found->second;
    stored = legacy->dtype;
    shape = legacy->shape;
  }
  if (stored != dtype) {
    return InvalidArgument("tensor_name = {}; expected dtype {} does not equal original dtype {}",
                           Printable(name), dtype, stored);
  }
  io::TensorSlice slice(
      std::vector<io::TensorSlice::Extent>(static_cast<size_t>(shape.rank())));  // all of it
  if (!shape_and_slice.empty()) {
    TRY_ASSIGN(const io::ShapeAndSlice wanted, io::ParseShapeAndSlice(shape_and_slice));
    if (wanted.shape != shape) {
      return InvalidArgument(
          "tensor_name = {}; shape in shape_and_slice spec {} does not match "
          "the shape stored in checkpoint: {}",
          Printable(name), wanted.shape, shape);
    }
    slice = wanted.slice;
  }
  if (legacy != nullptr) return ReadLegacy(name, *legacy, slice, allocator);
  return bundle_->ReadSlice(name, slice, allocator);
}

Result<Tensor> CheckpointReader::ReadLegacy(std::string_view name,
                                            const io::LegacyCheckpoint::Entry& entry,
                                            const io::TensorSlice& slice,
                                            Allocator* allocator) const {
  TRY_ASSIGN(const io::TensorSlice wanted, slice.Within(entry.shape));
  int64_t num_elements = 0;
  std::vector<Tensor> parts;
  for (const auto& part : entry.parts) {
    TRY_ASSIGN(Tensor value, ParseTensorProto(part.tensor_proto));
    num_elements += value.num_elements();
    parts.push_back(std::move(value));
  }
  int64_t copied = 0;
  Tensor result;
  if (num_elements >= wanted.shape().num_elements()) {
    TRY_ASSIGN(result, Tensor::Make(allocator, entry.dtype, wanted.shape()));
    if (IsPlain(entry.dtype) && result.bytes() > 0)
      std::memset(result.mutable_raw(), 0, result.bytes());  // parts may overlap and leave gaps
    for (size_t i = 0; i < parts.size(); ++i)
      copied += CopyCommon(entry.parts[i].slice, parts[i], wanted, &result);
  }
  if (!result.initialized() || copied != result.num_elements()) {
    return DataLoss("checkpoint {}: tensor '{}': its parts do not cover the slice {} once",
                    Printable(pattern_), Printable(name), slice.ToString());
  }
  return result;
}

}  // namespace penstock::ops
