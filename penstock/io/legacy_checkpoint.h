#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/dtype.h"
#include "penstock/core/shape.h"
#include "penstock/core/status.h"
#include "penstock/io/tensor_slice.h"

// Checkpoints of TensorFlow's first format: one or more files, each a table (table.h) of serialized
// SavedTensorSlices messages.
//
//   ""           -> meta: name, dtype, shape and slices of each tensor
//   SliceKey(..) -> data: name, slice, and the values as a TensorProto without dtype and shape

namespace penstock::io {

// Everything in such files, in memory: they are read for old models only, never written.
struct LegacyCheckpoint {
  struct Part {
    TensorSlice slice;         // made by Within
    std::string tensor_proto;  // a whole TensorProto: its dtype and shape are filled in
  };
  struct Entry {
    DType dtype = DType::kInvalid;
    Shape shape;
    std::vector<Part> parts;
  };
  std::map<std::string, Entry, std::less<>> entries;
};

Result<LegacyCheckpoint> ReadLegacyCheckpoint(std::span<const std::string> paths);
// Adds what one file holds.
Status ParseLegacyCheckpoint(std::string_view bytes, std::string_view path,
                             LegacyCheckpoint* checkpoint);

}  // namespace penstock::io
