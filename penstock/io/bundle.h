#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/allocator.h"
#include "penstock/core/status.h"
#include "penstock/core/tensor.h"
#include "penstock/io/block_reader.h"
#include "penstock/io/block_writer.h"
#include "penstock/io/bundle_index.h"
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

  // Whether the data files are as long as the index says, as far as this tensor is concerned: finds
  // files that were cut without reading them.
  Status CheckPlace(std::string_view name) const;
  Result<Tensor> Read(std::string_view name, Allocator* allocator = HostAllocator()) const;
  // Into memory that exists. REQUIRES: `tensor` has the dtype, plain, and shape of the entry, and
  // nobody else holds it. After an error it holds anything.
  Status ReadInto(std::string_view name, Tensor* tensor) const;
  // Only a part of it, which need not be one that it was saved in.
  Result<Tensor> ReadSlice(std::string_view name, const TensorSlice& slice,
                           Allocator* allocator = HostAllocator()) const;

 private:
  explicit BundleReader(std::string prefix) : prefix_(std::move(prefix)) {}
  Status Damaged(std::string_view name, std::string_view what) const;
  Status CheckEntry(std::string_view name, const BundleEntry& entry) const;
  Result<Tensor> ReadEntry(std::string_view name, const BundleEntry& entry,
                           Allocator* allocator) const;
  Status ReadPlain(std::string_view name, const BundleEntry& entry, Tensor* tensor) const;
  Status ReadStrings(std::string_view name, const BundleEntry& entry, Tensor* tensor) const;
  Status ReadBytes(std::string_view name, const BundleEntry& entry, char* out,
                   uint32_t* crc = nullptr) const;

  std::string prefix_;
  BundleIndex index_;
  std::vector<BlockReader> data_;  // by shard
};

// Writes a bundle: one data file, byte for byte as TensorFlow does for the same tensors in the same
// order, or several. Nothing appears under its name before Finish, and the index last. A bundle of
// that name which exists stays whole until then: the new one gets another number of data files, so
// that none has the name of an old one, and the old ones go when its index is in place.
// Threads: one at a time. After an error, only destruction.
class BundleWriter {
 public:
  // A data file that holds something is closed before a tensor that would make it longer than
  // `max_shard_bytes`.
  static Result<BundleWriter> Open(const std::string& prefix,
                                   uint64_t max_shard_bytes = UINT64_MAX);

  // InvalidArgument when the name was added before.
  Status Add(const std::string& name, const Tensor& tensor);
  // A part of a tensor of shape `full`.
  Status AddSlice(const std::string& name, const Shape& full, const TensorSlice& slice,
                  const Tensor& part);
  Status Finish();

 private:
  BundleWriter(std::string prefix, uint64_t max_shard_bytes)
      : prefix_(std::move(prefix)), max_shard_bytes_(max_shard_bytes) {}
  Status OpenShard();
  Status Write(const Tensor& tensor, BundleEntry* entry);
  Status WriteStrings(std::span<const std::string> strings, uint32_t* crc);
  Status CommitData(int32_t num_shards);

  std::string prefix_;
  uint64_t max_shard_bytes_;
  std::vector<BlockWriter> data_;  // by shard; the last is written to
  BundleIndex index_;
};

// Makes one bundle of several whose tensors differ, moving their data files: the originals are gone
// afterwards. Parts of one tensor may lie in several. With `skip_missing`, prefixes of which there
// is no bundle are left out.
Status MergeBundles(std::span<const std::string> prefixes, const std::string& merged,
                    bool skip_missing);

}  // namespace penstock::io
