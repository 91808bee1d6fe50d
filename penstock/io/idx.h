#pragma once

#include <string>

#include "penstock/core/status.h"
#include "penstock/core/tensor.h"

// IDX files: one array, as the MNIST data sets are written. All numbers are big-endian.
//
//   file  = 0:u8 0:u8 type:u8 rank:u8 extent:u32[rank] data
//   type  = 0x08 uint8 | 0x09 int8 | 0x0b int16 | 0x0c int32 | 0x0d float | 0x0e double
//
// Nothing follows the data.

namespace penstock::io {

// Reads a file, plain or compressed by gzip. DataLoss when it is damaged, cut or too long, with the
// offset; ResourceExhausted when the array has more than `limit` bytes. Memory grows with what the
// file holds, not with what its header claims.
Result<Tensor> ReadIdx(const std::string& path, int64_t limit = int64_t{1} << 34);

}  // namespace penstock::io
