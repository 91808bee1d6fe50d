#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "penstock/core/status.h"
#include "penstock/io/file.h"

namespace penstock::io {

struct FreeBlock {
  void operator()(char* block) const { std::free(block); }
};
using BlockMemory = std::unique_ptr<char, FreeBlock>;

// Memory that a file that bypasses the cache can be read into and written from. REQUIRES: `bytes`
// is a multiple of File::kBlock.
inline Result<BlockMemory> MakeBlockMemory(size_t bytes) {
  BlockMemory memory(static_cast<char*>(std::aligned_alloc(File::kBlock, bytes)));
  if (memory == nullptr) return ResourceExhausted("no memory for a buffer of {} bytes", bytes);
  return memory;
}

}  // namespace penstock::io
