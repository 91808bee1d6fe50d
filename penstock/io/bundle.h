#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/allocator.h"
#include "penstock/core/status.h"
#include "penstock/core/tensor.h"
#include "penstock/io/bundle_index.h"
#include "penstock/io/file.h"
#include "penstock/io/file_tree.h"
#include "penstock/io/tensor_slice.h"

// Checkpoints of TensorFlow's second format, a "bundle" of tensors by name.
//
//   <prefix>.index                  a table (table.h):
//       ""           -> BundleHeaderProto, with the number N of data files
//       name         -> BundleEntryProto: dtype, shape, where the bytes lie, their checksum; or,
//                       for a tensor that was saved in parts, only dtype, shape and the slices
//       SliceKey(..) -> BundleEntryProto of one part (tensor_slice.h)
//   <prefix>.data-SSSSS-of-NNNNN    the bytes of tensors, back to back, little-endian
//
//   plain tensor  = element*
//   string tensor = length:varint*  masked_crc32c(lengths as u32 each):u32  byte*
//       A length of 2^32 and above is a u64 there. The entry's checksum is over the lengths in that
//       form, their checksum, and the bytes.
//   variant tensor, resource: not read, not written
//
// Checksums are masked (crc32c.h).

namespace penstock::io {

// Whether there is a checkpoint of that prefix.
bool BundleExists(const std::string& prefix);

// Reads tensors by name. Damaged files are DataLoss; what does not fit in its file is found before
// memory is asked for.
// Threads: all methods may be called concurrently.
class BundleReader {
 public:
  // NotFound when there is none.
  static Result<BundleReader> Open(const std::string& prefix);

  // The names of all tensors, sorted.
  std::vector<std::string> Names() const;
  // NotFound when there is none of that name.
  Result<const BundleEntry*> Find(std::string_view name) const;
  const BundleIndex& index() const { return index_; }

  Result<Tensor> Read(std::string_view name, Allocator* allocator = HostAllocator()) const;
  // Only a part of it, which need not be one that it was saved in.
  Result<Tensor> ReadSlice(std::string_view name, const TensorSlice& slice,
                           Allocator* allocator = HostAllocator()) const;

 private:
  struct Data {
    File file;
    uint64_t size;
  };

  explicit BundleReader(std::string prefix) : prefix_(std::move(prefix)) {}
  Status Damaged(std::string_view name, std::string_view what) const;
  Result<Tensor> ReadEntry(std::string_view name, const BundleEntry& entry,
                           Allocator* allocator) const;
  Status ReadPlain(std::string_view name, const BundleEntry& entry, Tensor* tensor) const;
  Status ReadStrings(std::string_view name, const BundleEntry& entry, Tensor* tensor) const;
  Status ReadBytes(std::string_view name, const BundleEntry& entry, char* out) const;

  std::string prefix_;
  BundleIndex index_;
  std::vector<Data> data_;  // by shard
};

// Writes a bundle of one data file, byte for byte as TensorFlow does for the same tensors in the
// same order. Nothing appears under its name before Finish, and the index last.
// Threads: one at a time. After an error, only destruction.
class BundleWriter {
 public:
  static Result<BundleWriter> Open(const std::string& prefix);

  // InvalidArgument when the name was added before.
  Status Add(const std::string& name, const Tensor& tensor);
  // A part of a tensor of shape `full`.
  Status AddSlice(const std::string& name, const Shape& full, const TensorSlice& slice,
                  const Tensor& part);
  Status Finish();

 private:
  BundleWriter(std::string prefix, AtomicFile data)
      : prefix_(std::move(prefix)), data_(std::move(data)) {}
  Status Write(const Tensor& tensor, BundleEntry* entry);
  Status Append(std::string_view bytes);
  Status Flush();

  std::string prefix_;
  AtomicFile data_;
  uint64_t size_ = 0;   // of what was appended to the data
  std::string buffer_;  // the end of it, not yet written
  BundleIndex index_;
};

// Makes one bundle of several whose tensors differ, moving their data files: the originals are gone
// afterwards. Parts of one tensor may lie in several. With `skip_missing`, prefixes of which there
// is no bundle are left out.
Status MergeBundles(std::span<const std::string> prefixes, const std::string& merged,
                    bool skip_missing);

}  // namespace penstock::io
