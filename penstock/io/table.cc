#include "penstock/io/table.h"

#ifdef PENSTOCK_LEVELDB

#include <leveldb/env.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>
#include <snappy.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "penstock/io/little_endian.h"
#include "penstock/io/varint.h"

namespace penstock::io {
namespace {

constexpr size_t kBlockBytes = 256 << 10;
constexpr size_t kFooterBytes = 48;
constexpr size_t kTrailerBytes = 5;
constexpr uint64_t kMagic = 0xdb4775248b80fb57u;
constexpr char kNotCompressed = 0;
constexpr char kSnappy = 1;
// What snappy can at most make of one byte, with room to spare.
constexpr uint64_t kMaxExpansion = 64;

class BytesToRead final : public leveldb::RandomAccessFile {
 public:
  explicit BytesToRead(std::string_view bytes) : bytes_(bytes) {}
  leveldb::Status Read(uint64_t offset, size_t n, leveldb::Slice* result,
                       char* scratch) const override {
    if (offset > bytes_.size()) return leveldb::Status::Corruption("a block lies past the end");
    n = std::min(n, bytes_.size() - static_cast<size_t>(offset));
    // A copy, since LevelDB frees what it handed in.
    if (n > 0) std::memcpy(scratch, bytes_.data() + offset, n);
    *result = leveldb::Slice(scratch, n);
    return leveldb::Status::OK();
  }

 private:
  const std::string_view bytes_;
};

class BytesToWrite final : public leveldb::WritableFile {
 public:
  leveldb::Status Append(const leveldb::Slice& data) override {
    bytes_.append(data.data(), data.size());
    return leveldb::Status::OK();
  }
  leveldb::Status Close() override { return leveldb::Status::OK(); }
  leveldb::Status Flush() override { return leveldb::Status::OK(); }
  leveldb::Status Sync() override { return leveldb::Status::OK(); }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// LevelDB allocates what a handle asks for before it looks whether the file has it, so every handle
// is checked here first.
class HandleCheck {
 public:
  HandleCheck(std::string_view table, std::string_view path) : table_(table), path_(path) {}

  Status Check() {
    if (table_.size() < kFooterBytes) {
      return Damaged(Format("expected a footer of {} bytes, got {}", kFooterBytes, table_.size()));
    }
    std::string_view footer = table_.substr(table_.size() - kFooterBytes);
    if (LoadLittleEndian<uint64_t>(footer.data() + kFooterBytes - sizeof(kMagic)) != kMagic)
      return Damaged("it does not end with the magic number of a table");
    Block metaindex, index;
    TRY(TakeBlock(&footer, &metaindex));
    TRY(TakeBlock(&footer, &index));
    if (!index.compressed) return CheckIndex(index.contents);
    std::string contents;
    if (!snappy::Uncompress(index.contents.data(), index.contents.size(), &contents))
      return Damaged("the index does not decompress");
    return CheckIndex(contents);
  }

 private:
  struct Block {
    std::string_view contents;
    bool compressed = false;
  };

  Status Damaged(std::string_view what) const {
    return DataLoss("{}: damaged table: {}", Printable(path_), what);
  }

  // Takes a handle off `bytes` and finds its block.
  Status TakeBlock(std::string_view* bytes, Block* block) const {
    uint64_t offset, size;
    if (!TakeVarint(bytes, &offset) || !TakeVarint(bytes, &size)) return Damaged("a bad handle");
    if (offset > table_.size() || size > table_.size() - offset ||
        table_.size() - offset - size < kTrailerBytes) {
      return Damaged(Format("a block of {} bytes at offset {} does not fit in {} bytes", size,
                            offset, table_.size()));
    }
    const char compression = table_[offset + size];
    *block = {table_.substr(offset, size), compression == kSnappy};
    if (compression == kNotCompressed) return OkStatus();
    if (compression != kSnappy)
      return Damaged(Format("unknown compression {}", static_cast<int>(compression)));
    size_t length;
    if (!snappy::GetUncompressedLength(block->contents.data(), size, &length) ||
        length / kMaxExpansion > size)
      return Damaged(Format("the block at offset {} is not compressed by snappy", offset));
    return OkStatus();
  }

  Status CheckIndex(std::string_view index) const {
    if (index.size() < sizeof(uint32_t)) return Damaged("the index is too short");
    const uint64_t restarts =
        LoadLittleEndian<uint32_t>(index.data() + index.size() - sizeof(uint32_t));
    if (restarts > (index.size() - sizeof(uint32_t)) / sizeof(uint32_t))
      return Damaged("the index has too many restarts");
    std::string_view entries = index.substr(0, index.size() - (restarts + 1) * sizeof(uint32_t));
    while (!entries.empty()) {
      uint64_t shared, own, length;
      if (!TakeVarint(&entries, &shared) || !TakeVarint(&entries, &own) ||
          !TakeVarint(&entries, &length) || own > entries.size() || length > entries.size() - own)
        return Damaged("the index has an entry that does not fit");
      std::string_view handle = entries.substr(own, length);
      Block block;
      TRY(TakeBlock(&handle, &block));
      entries.remove_prefix(own + length);
    }
    return OkStatus();
  }

  const std::string_view table_;
  const std::string_view path_;
};

Status FromLevelDb(const leveldb::Status& status, std::string_view path) {
  return status.ok() ? OkStatus()
                     : DataLoss("{}: damaged table: {}", Printable(path), status.ToString());
}

}  // namespace

Result<std::vector<TableEntry>> ParseTable(std::string_view bytes, std::string_view path) {
  TRY(HandleCheck(bytes, path).Check());
  leveldb::Options options;
  options.paranoid_checks = true;
  BytesToRead file(bytes);
  leveldb::Table* opened = nullptr;
  TRY(FromLevelDb(leveldb::Table::Open(options, &file, bytes.size(), &opened), path));
  const std::unique_ptr<leveldb::Table> table(opened);
  leveldb::ReadOptions read;
  read.verify_checksums = true;
  read.fill_cache = false;
  const std::unique_ptr<leveldb::Iterator> at(table->NewIterator(read));
  std::vector<TableEntry> entries;
  for (at->SeekToFirst(); at->Valid(); at->Next()) {
    TableEntry entry{at->key().ToString(), at->value().ToString()};
    if (!entries.empty() && entries.back().key >= entry.key)
      return DataLoss("{}: damaged table: keys are not in order", Printable(path));
    entries.push_back(std::move(entry));
  }
  TRY(FromLevelDb(at->status(), path));
  return entries;
}

Result<std::string> BuildTable(std::span<const TableEntry> entries) {
  leveldb::Options options;
  options.compression = leveldb::kNoCompression;
  options.block_size = kBlockBytes;
  BytesToWrite file;
  leveldb::TableBuilder builder(options, &file);
  for (const TableEntry& entry : entries) builder.Add(entry.key, entry.value);
  TRY(FromLevelDb(builder.Finish(), "new table"));
  return file.Take();
}

}  // namespace penstock::io

#else

namespace penstock::io {
namespace {

Status Missing() {
  return Unimplemented(
      "checkpoints cannot be read or written: this build lacks LevelDB or snappy "
      "(Debian and Ubuntu: libleveldb-dev, libsnappy-dev)");
}

}  // namespace

Result<std::vector<TableEntry>> ParseTable(std::string_view, std::string_view) { return Missing(); }
Result<std::string> BuildTable(std::span<const TableEntry>) { return Missing(); }

}  // namespace penstock::io

#endif
