#include "penstock/io/npz.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "penstock/io/crc32c.h"

namespace penstock::io {
namespace {

constexpr std::string_view kEnd = ".npy";

}  // namespace

Result<NpzReader> NpzReader::Open(const std::string& path, uint64_t limit) {
  TRY_ASSIGN(ZipReader zip, ZipReader::Open(path));
  NpzReader reader(std::move(zip), limit);
  const std::vector<ZipEntry>& entries = reader.zip_.entries();
  for (size_t i = 0; i < entries.size(); ++i) {
    const std::string& name = entries[i].name;
    if (!name.ends_with(kEnd)) continue;
    if (!reader.arrays_.emplace(name.substr(0, name.size() - kEnd.size()), i).second)
      return DataLoss("{}: there are two arrays '{}'", Printable(path), Printable(name));
  }
  return reader;
}

std::vector<std::string> NpzReader::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, i] : arrays_) names.push_back(name);
  return names;
}

Result<const ZipEntry*> NpzReader::Find(std::string_view name) const {
  const auto found = arrays_.find(name);
  if (found == arrays_.end())
    return NotFound("{}: there is no array '{}'", Printable(zip_.path()), Printable(name));
  return &zip_.entries()[found->second];
}

// `begin` gets what was read: of a deflated array, all of it.
Result<NpyHeader> NpzReader::HeaderOf(const ZipEntry& entry, std::string* begin) const {
  if (entry.is_deflated) {
    TRY_ASSIGN(*begin, zip_.ReadAll(entry, limit_));
  } else {
    begin->resize(std::min(entry.bytes, kMaxNpyHeaderBytes));
    TRY(zip_.ReadPacked(entry, 0, begin->size(), begin->data()));
  }
  Result<NpyHeader> header = ParseNpyHeader(*begin);
  if (header.ok() && header->data_bytes != entry.bytes - header->header_bytes) {
    header = DataLoss("expected {} bytes of data, got {}", header->data_bytes,
                      entry.bytes - header->header_bytes);
  }
  if (header.ok()) return header;
  return header.status().Annotate(
      Format("{}: '{}'", Printable(zip_.path()), Printable(entry.name)));
}

Result<NpyHeader> NpzReader::ReadHeader(std::string_view name) const {
  TRY_ASSIGN(const ZipEntry* entry, Find(name));
  std::string begin;
  return HeaderOf(*entry, &begin);
}

Result<Tensor> NpzReader::Read(std::string_view name, Allocator* allocator) const {
  TRY_ASSIGN(const ZipEntry* entry, Find(name));
  std::string begin;
  TRY_ASSIGN(const NpyHeader header, HeaderOf(*entry, &begin));
  const auto read = [&](char* out) -> Status {
    if (entry->is_deflated) {
      std::memcpy(out, begin.data() + header.header_bytes, header.data_bytes);
      return OkStatus();
    }
    TRY(zip_.ReadPacked(*entry, header.header_bytes, header.data_bytes, out));
    const uint32_t crc = Crc32(std::string_view(begin).substr(0, header.header_bytes));
    if (Crc32({out, header.data_bytes}, crc) == entry->crc) return OkStatus();
    return DataLoss("{}: '{}': checksum does not match", Printable(zip_.path()),
                    Printable(entry->name));
  };
  return ReadNpyData(header, read, allocator);
}

Status WriteNpz(const std::string& path, std::span<const NamedTensor> tensors) {
  std::set<std::string_view> names;
  for (const NamedTensor& named : tensors) {
    if (!names.insert(named.name).second)
      return InvalidArgument("two tensors have the name '{}'", Printable(named.name));
  }
  TRY_ASSIGN(ZipWriter zip, ZipWriter::Create(path));
  for (const NamedTensor& named : tensors) {
    Result<std::string> header = NpyHeaderOf(named.tensor);
    if (!header.ok()) return header.status().Annotate(Format("tensor '{}'", Printable(named.name)));
    // The checksum comes before the data.
    uint64_t bytes = header->size();
    uint32_t crc = Crc32(*header);
    TRY(WriteNpyData(named.tensor, [&](std::string_view piece) {
      bytes += piece.size();
      crc = Crc32(piece, crc);
      return OkStatus();
    }));
    TRY(zip.Begin(named.name + std::string(kEnd), bytes, crc));
    TRY(zip.Append(*header));
    TRY(WriteNpyData(named.tensor, [&](std::string_view piece) { return zip.Append(piece); }));
  }
  return zip.Finish();
}

}  // namespace penstock::io
