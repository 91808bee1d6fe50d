#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/dtype.h"
#include "penstock/core/shape.h"
#include "penstock/core/status.h"
#include "penstock/io/tensor_slice.h"

// The index of a bundle, in memory and as bytes; bundle.h has the grammar.

namespace penstock::io {

struct BundleEntry {
  DType dtype = DType::kInvalid;
  Shape shape;
  int32_t shard = 0;
  uint64_t offset = 0;
  uint64_t size = 0;
  uint32_t crc = 0;
  std::vector<TensorSlice> slices;  // as written; the tensor was saved in these parts
};

struct BundleIndex {
  int32_t num_shards = 1;
  std::map<std::string, BundleEntry, std::less<>> entries;  // tensors, and parts by their SliceKey
};

// Keys of parts sort before all names, which do not begin so.
inline bool IsPartKey(std::string_view key) { return key.starts_with('\0'); }

inline std::string BundleIndexPath(const std::string& prefix) { return prefix + ".index"; }
// "p.data-00001-of-00002"
std::string BundleDataPath(const std::string& prefix, int32_t shard, int32_t num_shards);

// Checks every entry: known dtype, full shape that can be addressed, shard and place in range.
Result<BundleIndex> ParseBundleIndex(std::string_view bytes, std::string_view path);
// From the disk. NotFound when there is none.
Result<BundleIndex> ReadBundleIndex(const std::string& prefix);
Result<std::string> SerializeBundleIndex(const BundleIndex& index);

}  // namespace penstock::io
