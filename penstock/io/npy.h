#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/core/allocator.h"
#include "penstock/core/function_ref.h"
#include "penstock/core/status.h"
#include "penstock/core/tensor.h"

// One array as NumPy saves it (.npy).
//
//   file    = "\x93NUMPY" major:u8 minor:u8 length header data
//   length  = u16 in version 1, u32 in versions 2 and 3: the bytes of the header
//   header  = a Python dict, filled up with spaces and "\n":
//       {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
//   descr   = order kind size; order "<" little-endian, ">" big-endian, "|" neither; kind "b" bool,
//   "i",
//             "u", "f", "c" numbers of `size` bytes, "S" bytes and "U" Unicode (4 bytes a
//             character), `size` characters each, filled up with zeros
//   data    = element*, the last index fastest, or the first when fortran_order
//
// Arrays of objects (pickles, which are code) and of records are refused.

namespace penstock::io {

struct NpyHeader {
  DType dtype = DType::kInvalid;
  char kind = 0;
  uint64_t element_bytes = 0;  // in the file
  bool is_swapped = false;     // big-endian
  bool fortran_order = false;
  Shape shape;
  uint64_t header_bytes = 0;  // of all before the data
  uint64_t data_bytes = 0;
};

// The most bytes that ParseNpyHeader needs.
inline constexpr uint64_t kMaxNpyHeaderBytes = 1 << 20;

// Of a file that begins so. DataLoss when it is none or cut, Unimplemented for arrays that no
// tensor holds.
Result<NpyHeader> ParseNpyHeader(std::string_view begin);

// The array, whose data `read` copies.
Result<Tensor> ReadNpyData(const NpyHeader& header, FunctionRef<Status(char* out)> read,
                           Allocator* allocator = HostAllocator());

// All that comes before the data of a tensor. Unimplemented for dtypes that NumPy does not have.
Result<std::string> NpyHeaderOf(const Tensor& tensor);
// Gives the data, piece by piece.
Status WriteNpyData(const Tensor& tensor, FunctionRef<Status(std::string_view)> write);

Result<Tensor> ReadNpy(const std::string& path, Allocator* allocator = HostAllocator());
// Writes a file whole or not at all.
Status WriteNpy(const std::string& path, const Tensor& tensor);

}  // namespace penstock::io
