#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "penstock/core/allocator.h"
#include "penstock/core/tensor.h"
#include "penstock/io/bundle.h"
#include "penstock/io/legacy_checkpoint.h"

namespace penstock::ops {

// A checkpoint of either format.
class CheckpointReader {
 public:
  // `pattern`: a prefix of the second format, else a file of the first or a pattern of such files.
  // NotFound when there is none.
  static Result<CheckpointReader> Open(const std::string& pattern);

  // A tensor, or the part of it that `shape_and_slice` says ("4 4 0,2:-"). InvalidArgument when it
  // is not of that dtype or shape.
  Result<Tensor> Read(std::string_view name, std::string_view shape_and_slice, DType dtype,
                      Allocator* allocator) const;

 private:
  Result<Tensor> ReadLegacy(std::string_view name, const io::LegacyCheckpoint::Entry& entry,
                            const io::TensorSlice& slice, Allocator* allocator) const;

  std::optional<io::BundleReader> bundle_;
  io::LegacyCheckpoint legacy_;
  std::string pattern_;
};

}  // namespace penstock::ops
