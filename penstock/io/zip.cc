#include "penstock/io/zip.h"

#include <algorithm>

#include "penstock/io/compression.h"
#include "penstock/io/crc32c.h"
#include "penstock/io/little_endian.h"

namespace penstock::io {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kEntry = 0x02014b50, kEnd = 0x06054b50;
constexpr uint32_t kEnd64 = 0x06064b50, kEnd64Locator = 0x07064b50;
constexpr uint64_t kLocalBytes = 30, kEntryBytes = 46, kEndBytes = 22, kEnd64Bytes = 56;
constexpr uint64_t kLocatorBytes = 20, kMaxCommentBytes = 0xffff;
constexpr uint64_t kMaxDirectoryBytes = 256 << 20;
constexpr uint32_t kElsewhere = 0xffffffff;  // the number lies in `extra`
constexpr uint16_t kStored = 0, kDeflated = 8;
constexpr uint64_t kMaxRatio = 1032;  // DEFLATE packs no better

uint16_t U16(std::string_view bytes, uint64_t at) {
  return LoadLittleEndian<uint16_t>(bytes.data() + at);
}
uint32_t U32(std::string_view bytes, uint64_t at) {
  return LoadLittleEndian<uint32_t>(bytes.data() + at);
}
uint64_t U64(std::string_view bytes, uint64_t at) {
  return LoadLittleEndian<uint64_t>(bytes.data() + at);
}

// The field of `extra` with 64-bit numbers.
std::string_view Zip64Field(std::string_view extra) {
  while (extra.size() >= 4) {
    const uint64_t size = U16(extra, 2);
    if (size > extra.size() - 4) break;
    if (U16(extra, 0) == 1) return extra.substr(4, size);
    extra.remove_prefix(4 + size);
  }
  return {};
}

// Takes the next 64-bit number for one that says that it lies there.
bool Resolve(uint64_t* number, std::string_view* zip64) {
  if (*number != kElsewhere) return true;
  if (zip64->size() < 8) return false;
  *number = U64(*zip64, 0);
  zip64->remove_prefix(8);
  return true;
}

template <class T>
void Put(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// What the local part and the directory have in common, from the version to the length of the name.
std::string SharedFields(const std::string& name, uint64_t bytes, uint32_t crc, bool is_large) {
  const uint32_t size = is_large ? kElsewhere : static_cast<uint32_t>(bytes);
  std::string fields;
  Put<uint16_t>(is_large ? 45 : 20, &fields);
  Put<uint16_t>(0x800, &fields);  // names are UTF-8
  Put<uint16_t>(kStored, &fields);
  Put<uint16_t>(0, &fields);     // midnight,
  Put<uint16_t>(0x21, &fields);  // the 1st of January 1980: equal arrays give equal bytes
  Put<uint32_t>(crc, &fields);
  Put<uint32_t>(size, &fields);
  Put<uint32_t>(size, &fields);
  Put<uint16_t>(static_cast<uint16_t>(name.size()), &fields);
  return fields;
}

std::string Zip64Extra(std::initializer_list<uint64_t> numbers) {
  std::string extra;
  Put<uint16_t>(1, &extra);
  Put<uint16_t>(static_cast<uint16_t>(8 * numbers.size()), &extra);
  for (const uint64_t number : numbers) Put(number, &extra);
  return extra;
}

}  // namespace

Status ZipReader::Damaged(std::string_view what) const {
  return DataLoss("{}: {}", Printable(path()), what);
}

Result<ZipReader> ZipReader::Open(const std::string& path) {
  TRY_ASSIGN(BlockReader file, BlockReader::Open(path));
  ZipReader reader(std::move(file));
  TRY(reader.ReadDirectory());
  return reader;
}

Status ZipReader::ReadDirectory() {
  const uint64_t size = file_.size();
  std::string tail(std::min(size, kEndBytes + kMaxCommentBytes + kLocatorBytes), '\0');
  TRY(file_.ReadAt(size - tail.size(), tail.size(), tail.data()));
  size_t at =
      tail.size() < kEndBytes ? std::string::npos : tail.rfind("PK\5\6", tail.size() - kEndBytes);
  if (at == std::string::npos) return Damaged("no zip archive, or cut");
  const std::string_view end = std::string_view(tail).substr(at);
  uint64_t num_entries = U16(end, 10), bytes = U32(end, 12), offset = U32(end, 16);
  if (num_entries == 0xffff || bytes == kElsewhere || offset == kElsewhere) {
    if (at < kLocatorBytes || U32(tail, at - kLocatorBytes) != kEnd64Locator)
      return Damaged("the end of the archive is cut");
    const uint64_t end64_at = U64(tail, at - kLocatorBytes + 8);
    std::string end64(kEnd64Bytes, '\0');
    TRY(file_.ReadAt(end64_at, end64.size(), end64.data()));
    if (U32(end64, 0) != kEnd64) return Damaged("the end of the archive is damaged");
    num_entries = U64(end64, 32);
    bytes = U64(end64, 40);
    offset = U64(end64, 48);
  }
  if (offset > size || bytes > size - offset || bytes > kMaxDirectoryBytes ||
      num_entries > bytes / kEntryBytes)
    return Damaged(Format("a directory of {} files in {} bytes at offset {} does not fit",
                          num_entries, bytes, offset));
  std::string directory(bytes, '\0');
  TRY(file_.ReadAt(offset, bytes, directory.data()));
  TRY(ParseEntries(directory, num_entries, offset));
  return CheckDisjoint();
}

Status ZipReader::ParseEntries(std::string_view directory, uint64_t num_entries,
                               uint64_t directory_offset) {
  for (uint64_t i = 0; i < num_entries; ++i) {
    if (directory.size() < kEntryBytes || U32(directory, 0) != kEntry)
      return Damaged(Format("file {} of the directory is damaged", i));
    const uint64_t name = U16(directory, 28), extra = U16(directory, 30);
    const uint64_t all = kEntryBytes + name + extra + U16(directory, 32);
    if (all > directory.size()) return Damaged(Format("file {} of the directory is cut", i));
    ZipEntry entry;
    entry.name = directory.substr(kEntryBytes, name);
    entry.crc = U32(directory, 16);
    entry.packed_bytes = U32(directory, 20);
    entry.bytes = U32(directory, 24);
    entry.offset = U32(directory, 42);
    std::string_view zip64 = Zip64Field(directory.substr(kEntryBytes + name, extra));
    if (!Resolve(&entry.bytes, &zip64) || !Resolve(&entry.packed_bytes, &zip64) ||
        !Resolve(&entry.offset, &zip64))
      return Damaged(Format("'{}': its sizes are missing", Printable(entry.name)));
    const uint16_t method = U16(directory, 10);
    if ((U16(directory, 8) & 1) != 0 || (method != kStored && method != kDeflated)) {
      return Unimplemented("{}: '{}' is encrypted, or packed in a way that is not known",
                           Printable(path()), Printable(entry.name));
    }
    entry.is_deflated = method == kDeflated;
    if (entry.is_deflated ? entry.bytes / kMaxRatio > entry.packed_bytes + 1
                          : entry.bytes != entry.packed_bytes)
      return Damaged(Format("'{}': {} bytes cannot have been packed to {}", Printable(entry.name),
                            entry.bytes, entry.packed_bytes));
    TRY(FindData(&entry, directory_offset));
    entries_.push_back(std::move(entry));
    directory.remove_prefix(all);
  }
  return OkStatus();
}

// `entry->offset` is that of the local part at first.
Status ZipReader::FindData(ZipEntry* entry, uint64_t directory_offset) {
  std::string local(kLocalBytes, '\0');
  if (entry->offset > directory_offset || directory_offset - entry->offset < kLocalBytes)
    return Damaged(Format("'{}' does not lie in the archive", Printable(entry->name)));
  TRY(file_.ReadAt(entry->offset, local.size(), local.data()));
  if (U32(local, 0) != kLocal)
    return Damaged(Format("'{}' does not begin where the directory says", Printable(entry->name)));
  entry->offset += kLocalBytes + U16(local, 26) + U16(local, 28);
  if (entry->offset > directory_offset || entry->packed_bytes > directory_offset - entry->offset)
    return Damaged(Format("'{}' does not lie in the archive", Printable(entry->name)));
  return OkStatus();
}

Status ZipReader::CheckDisjoint() const {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const ZipEntry& entry : entries_)
    ranges.emplace_back(entry.offset, entry.offset + entry.packed_bytes);
  std::ranges::sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i) {
    if (ranges[i].first < ranges[i - 1].second) return Damaged("two files of the archive overlap");
  }
  return OkStatus();
}

Status ZipReader::ReadPacked(const ZipEntry& entry, uint64_t offset, uint64_t n, char* out) const {
  if (offset > entry.packed_bytes || n > entry.packed_bytes - offset)
    return Damaged(Format("'{}' is cut", Printable(entry.name)));
  return file_.ReadAt(entry.offset + offset, n, out);
}

Result<std::string> ZipReader::ReadAll(const ZipEntry& entry, uint64_t limit) const {
  if (entry.bytes > limit) {
    return ResourceExhausted("{}: '{}' has {} bytes, at most {} are read", Printable(path()),
                             Printable(entry.name), entry.bytes, limit);
  }
  std::string bytes(entry.packed_bytes, '\0');
  TRY(ReadPacked(entry, 0, bytes.size(), bytes.data()));
  if (entry.is_deflated) {
    Result<std::string> unpacked = Uncompress(Compression::kDeflate, bytes, entry.bytes);
    if (!unpacked.ok() && unpacked.status().code() == Code::kUnimplemented) return unpacked;
    if (!unpacked.ok())
      return Damaged(Format("'{}': {}", Printable(entry.name), unpacked.status().message()));
    bytes = *std::move(unpacked);
  }
  if (bytes.size() != entry.bytes || Crc32(bytes) != entry.crc)
    return Damaged(Format("'{}': checksum does not match", Printable(entry.name)));
  return bytes;
}

Result<ZipWriter> ZipWriter::Create(const std::string& path) {
  TRY_ASSIGN(BlockWriter file, BlockWriter::Create(path));
  return ZipWriter(std::move(file));
}

Status ZipWriter::Begin(const std::string& name, uint64_t bytes, uint32_t crc) {
  if (name.empty() || name.size() > UINT16_MAX)
    return InvalidArgument("'{}' cannot be the name of a file in an archive", Printable(name));
  const uint64_t offset = file_.size();
  const bool is_large = bytes >= kElsewhere || offset >= kElsewhere;
  const std::string shared = SharedFields(name, bytes, crc, is_large);
  const std::string extra = is_large ? Zip64Extra({bytes, bytes}) : "";
  std::string local;
  Put(kLocal, &local);
  local += shared;
  Put<uint16_t>(static_cast<uint16_t>(extra.size()), &local);
  TRY(file_.Append(local + name + extra));

  const std::string more = is_large ? Zip64Extra({bytes, bytes, offset}) : "";
  Put(kEntry, &directory_);
  Put<uint16_t>(45, &directory_);
  directory_ += shared;
  Put<uint16_t>(static_cast<uint16_t>(more.size()), &directory_);
  directory_.append(10, '\0');  // comment, disk, attributes
  Put<uint32_t>(is_large ? kElsewhere : static_cast<uint32_t>(offset), &directory_);
  directory_ += name + more;
  ++num_entries_;
  return OkStatus();
}

Status ZipWriter::Finish() {
  const uint64_t offset = file_.size(), bytes = directory_.size();
  std::string end;
  if (num_entries_ >= 0xffff || bytes >= kElsewhere || offset >= kElsewhere) {
    Put(kEnd64, &end);
    Put<uint64_t>(kEnd64Bytes - 12, &end);
    Put<uint32_t>(45 | 45 << 16, &end);
    Put<uint64_t>(0, &end);  // disks
    Put<uint64_t>(num_entries_, &end);
    Put<uint64_t>(num_entries_, &end);
    Put<uint64_t>(bytes, &end);
    Put<uint64_t>(offset, &end);
    Put(kEnd64Locator, &end);
    Put<uint32_t>(0, &end);
    Put<uint64_t>(offset + bytes, &end);
    Put<uint32_t>(1, &end);
  }
  const auto entries = static_cast<uint16_t>(std::min<uint64_t>(num_entries_, 0xffff));
  Put(kEnd, &end);
  Put<uint32_t>(0, &end);
  Put<uint16_t>(entries, &end);
  Put<uint16_t>(entries, &end);
  Put<uint32_t>(static_cast<uint32_t>(std::min<uint64_t>(bytes, kElsewhere)), &end);
  Put<uint32_t>(static_cast<uint32_t>(std::min<uint64_t>(offset, kElsewhere)), &end);
  Put<uint16_t>(0, &end);
  TRY(file_.Append(directory_));
  TRY(file_.Append(end));
  TRY(file_.Finish());
  return file_.Commit();
}

}  // namespace penstock::io
