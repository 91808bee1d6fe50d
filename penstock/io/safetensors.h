#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/allocator.h"
#include "penstock/core/status.h"
#include "penstock/io/block_reader.h"
#include "penstock/io/named_tensor.h"

// Tensors in the format of the safetensors library.
//
//   file   = header_bytes:u64 header data
//   header = a JSON object, filled up with spaces:
//       {"name": {"dtype": dtype, "shape": [n, ...], "data_offsets": [begin, end]}, ...,
//        "__metadata__": {"key": "value", ...}}
//   dtype  = "BOOL" | "U8" | "I8" | "I16" | "U16" | "F16" | "BF16" | "I32" | "U32" | "F32" | "F64"
//   |
//            "I64" | "U64" | "C64"; those of fewer than 8 bits, and F8_*, are not read
//   data   = element*, little-endian; offsets count from its beginning
//
// The ranges of the tensors fill the data without a gap and do not overlap. There are no checksums.

namespace penstock::io {

struct SafetensorsEntry {
  std::string dtype_name;         // as written
  DType dtype = DType::kInvalid;  // kInvalid: one that we do not know
  Shape shape;
  uint64_t begin = 0;  // in the data
  uint64_t end = 0;
};

struct SafetensorsHeader {
  std::map<std::string, SafetensorsEntry, std::less<>> entries;
  std::map<std::string, std::string> metadata;
};

// Checks all that the grammar says, for data of so many bytes. DataLoss names what is wrong.
Result<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json, uint64_t data_bytes);

// Reads tensors by name.
// Threads: all methods may be called concurrently.
class SafetensorsReader {
 public:
  // NotFound when there is no file, DataLoss when it is damaged or of another format.
  static Result<SafetensorsReader> Open(const std::string& path);

  const SafetensorsHeader& header() const { return header_; }
  std::vector<std::string> Names() const;
  // NotFound when there is none of that name, Unimplemented when we have no such dtype.
  Result<Tensor> Read(std::string_view name, Allocator* allocator = HostAllocator()) const;

 private:
  explicit SafetensorsReader(BlockReader file) : file_(std::move(file)) {}

  BlockReader file_;
  uint64_t data_offset_ = 0;
  SafetensorsHeader header_;
};

// Writes a file whole or not at all. InvalidArgument when two tensors have one name, Unimplemented
// for dtypes that the format does not have.
Status WriteSafetensors(const std::string& path, std::span<const NamedTensor> tensors,
                        const std::map<std::string, std::string>& metadata = {});

}  // namespace penstock::io
