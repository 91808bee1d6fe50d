#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/allocator.h"
#include "penstock/core/status.h"
#include "penstock/io/named_tensor.h"
#include "penstock/io/npy.h"
#include "penstock/io/zip.h"

// Several arrays as NumPy saves them (.npz): a zip archive (zip.h) of files "<name>.npy" (npy.h),
// stored (numpy.savez) or deflated (numpy.savez_compressed). Other files in it are left alone.

namespace penstock::io {

// Reads arrays by name. Threads: all methods may be called concurrently.
class NpzReader {
 public:
  // `limit`: the most bytes that a deflated array may have; a stored one is in the file.
  static Result<NpzReader> Open(const std::string& path, uint64_t limit = uint64_t{4} << 30);

  std::vector<std::string> Names() const;
  // dtype and shape of an array, from its beginning. NotFound when there is none of that name.
  Result<NpyHeader> ReadHeader(std::string_view name) const;
  Result<Tensor> Read(std::string_view name, Allocator* allocator = HostAllocator()) const;

 private:
  NpzReader(ZipReader zip, uint64_t limit) : zip_(std::move(zip)), limit_(limit) {}
  Result<const ZipEntry*> Find(std::string_view name) const;
  Result<NpyHeader> HeaderOf(const ZipEntry& entry, std::string* begin) const;

  ZipReader zip_;
  uint64_t limit_;
  std::map<std::string, size_t, std::less<>> arrays_;  // to entries
};

// Stored, whole or not at all. InvalidArgument when two have one name.
Status WriteNpz(const std::string& path, std::span<const NamedTensor> tensors);

}  // namespace penstock::io
