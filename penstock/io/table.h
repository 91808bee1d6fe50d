#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/status.h"

// Sorted tables, the format of LevelDB, in which TensorFlow keeps the index of a checkpoint. All
// numbers are little-endian.
//
//   table   = block* metaindex:block index:block footer
//   block   = contents  compression:u8 (0 none, 1 snappy)  masked_crc32c(contents, compression):u32
//   footer  = metaindex:handle index:handle  zeros up to 40 bytes  0xdb4775248b80fb57:u64
//   handle  = offset:varint size:varint    (of the contents)
//   contents = entry*  restart:u32*  number of restarts:u32
//   entry   = shared:varint own:varint length:varint  key:byte[own] value:byte[length]
//             (a key begins with `shared` bytes of the key before it)
//
// A value of the index block is the handle of the block whose keys are not above its key.
//
// LevelDB's own library reads and writes them: an optional part of the build. Without it every call
// is Unimplemented and says which package is missing.

namespace penstock::io {

struct TableEntry {
  std::string key;
  std::string value;
};

// All entries of a table, their keys strictly ascending. Every checksum is verified, and every size
// is held against the table's own before it is used. Errors are DataLoss and name the file `path`.
Result<std::vector<TableEntry>> ParseTable(std::string_view bytes, std::string_view path);

// A table as TensorFlow writes it: not compressed, in blocks of 256 KiB. REQUIRES: keys are
// strictly ascending.
Result<std::string> BuildTable(std::span<const TableEntry> entries);

}  // namespace penstock::io
