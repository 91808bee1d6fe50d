#include "penstock/io/safetensors.h"

#include <algorithm>
#include <array>
#include <set>

#include "penstock/core/checked.h"
#include "penstock/io/block_writer.h"
#include "penstock/io/json_scanner.h"
#include "penstock/io/little_endian.h"

namespace penstock::io {
namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // that of the safetensors library
constexpr std::string_view kMetadata = "__metadata__";
constexpr uint64_t kAlignment = 8;

struct DTypeName {
  std::string_view name;
  DType dtype;
};
constexpr DTypeName kDTypes[] = {
    {"BOOL", DType::kBool},     {"U8", DType::kUint8},      {"I8", DType::kInt8},
    {"I16", DType::kInt16},     {"U16", DType::kUint16},    {"F16", DType::kHalf},
    {"BF16", DType::kBfloat16}, {"I32", DType::kInt32},     {"U32", DType::kUint32},
    {"F32", DType::kFloat},     {"F64", DType::kDouble},    {"I64", DType::kInt64},
    {"U64", DType::kUint64},    {"C64", DType::kComplex64},
};

Result<std::string_view> NameOf(DType dtype) {
  const auto found = std::ranges::find(kDTypes, dtype, &DTypeName::dtype);
  if (found == std::end(kDTypes))
    return Unimplemented("safetensors has no values of dtype {}", dtype);
  return found->name;
}

// {"key": "value", ...}
Status ScanMetadata(JsonScanner& scanner, std::map<std::string, std::string>* metadata) {
  TRY(scanner.Take('{'));
  if (scanner.TakeIf('}')) return OkStatus();
  do {
    TRY_ASSIGN(std::string key, scanner.TakeString());
    TRY(scanner.Take(':'));
    TRY_ASSIGN(std::string value, scanner.TakeString());
    metadata->insert_or_assign(std::move(key), std::move(value));
  } while (scanner.TakeIf(','));
  return scanner.Take('}');
}

// [n, ...]
Result<std::vector<int64_t>> ScanNumbers(JsonScanner& scanner, size_t limit) {
  std::vector<int64_t> numbers;
  TRY(scanner.Take('['));
  if (scanner.TakeIf(']')) return numbers;
  do {
    TRY_ASSIGN(const uint64_t number, scanner.TakeUnsigned());
    if (number > INT64_MAX) return DataLoss("the number {} is too large", number);
    if (numbers.size() == limit) return DataLoss("there are more than {} numbers", limit);
    numbers.push_back(static_cast<int64_t>(number));
  } while (scanner.TakeIf(','));
  TRY(scanner.Take(']'));
  return numbers;
}

// {"dtype": ..., "shape": [...], "data_offsets": [...]}, each once, in any order.
Result<SafetensorsEntry> ScanEntry(JsonScanner& scanner) {
  SafetensorsEntry entry;
  std::set<std::string> seen;
  TRY(scanner.Take('{'));
  do {
    TRY_ASSIGN(const std::string key, scanner.TakeString());
    TRY(scanner.Take(':'));
    if (!seen.insert(key).second) return DataLoss("'{}' stands twice", Printable(key));
    if (key == "dtype") {
      TRY_ASSIGN(entry.dtype_name, scanner.TakeString());
      const auto found = std::ranges::find(kDTypes, entry.dtype_name, &DTypeName::name);
      if (found != std::end(kDTypes)) entry.dtype = found->dtype;
    } else if (key == "shape") {
      TRY_ASSIGN(const std::vector<int64_t> dims, ScanNumbers(scanner, Shape::kMaxRank));
      TRY_ASSIGN(entry.shape, Shape::Make(dims));
    } else if (key == "data_offsets") {
      TRY_ASSIGN(const std::vector<int64_t> offsets, ScanNumbers(scanner, 2));
      if (offsets.size() != 2) return DataLoss("expected two offsets, got {}", offsets.size());
      entry.begin = static_cast<uint64_t>(offsets[0]);
      entry.end = static_cast<uint64_t>(offsets[1]);
    } else {
      return DataLoss("expected dtype, shape or data_offsets, got '{}'", Printable(key));
    }
  } while (scanner.TakeIf(','));
  TRY(scanner.Take('}'));
  if (seen.size() != 3) return DataLoss("expected dtype, shape and data_offsets");
  return entry;
}

Status CheckEntry(const SafetensorsEntry& entry, uint64_t data_bytes) {
  if (entry.begin > entry.end || entry.end > data_bytes) {
    return DataLoss("bytes {} to {} do not lie in {} bytes of data", entry.begin, entry.end,
                    data_bytes);
  }
  if (entry.dtype == DType::kInvalid) return OkStatus();
  const std::optional<int64_t> bytes =
      CheckedMul(entry.shape.num_elements(), static_cast<int64_t>(SizeOf(entry.dtype)));
  if (!bytes.has_value() || static_cast<uint64_t>(*bytes) != entry.end - entry.begin) {
    return DataLoss("{} {} cannot lie in {} bytes", entry.dtype_name, entry.shape,
                    entry.end - entry.begin);
  }
  return OkStatus();
}

// Each byte of the data belongs to one tensor.
Status CheckCover(const SafetensorsHeader& header, uint64_t data_bytes) {
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const auto& [name, entry] : header.entries) ranges.emplace_back(entry.begin, entry.end);
  std::ranges::sort(ranges);
  uint64_t end = 0;
  for (const auto& range : ranges) {
    if (range.first != end) {
      return DataLoss(
          "expected a tensor at offset {} of the data, got one at {}: there is a gap, "
          "or two overlap",
          end, range.first);
    }
    end = range.second;
  }
  if (end != data_bytes)
    return DataLoss("the tensors have {} bytes, the file has {}", end, data_bytes);
  return OkStatus();
}

// The header of tensors that lie in this order.
Result<std::string> HeaderText(const std::vector<const NamedTensor*>& order,
                               const std::map<std::string, std::string>& metadata) {
  std::string json;
  for (const auto& [key, value] : metadata)
    json += (json.empty() ? "" : ",") + JsonString(key) + ":" + JsonString(value);
  if (!metadata.empty()) json = JsonString(kMetadata) + ":{" + json + "}";
  std::set<std::string_view> names;
  uint64_t end = 0;
  for (const NamedTensor* named : order) {
    if (!names.insert(named->name).second)
      return InvalidArgument("two tensors have the name '{}'", Printable(named->name));
    TRY_ASSIGN(const std::string_view dtype, NameOf(named->tensor.dtype()));
    std::string dims;
    for (const int64_t dim : named->tensor.shape().dims())
      dims += (dims.empty() ? "" : ",") + std::to_string(dim);
    const uint64_t begin = end;
    end += named->tensor.bytes();
    json += (json.empty() ? "" : ",") + JsonString(named->name) +
            Format(":{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}", dtype, dims,
                   begin, end);
  }
  json = "{" + json + "}";
  json.resize((json.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');
  return json;
}

}  // namespace

Result<SafetensorsHeader> ParseSafetensorsHeader(std::string_view json, uint64_t data_bytes) {
  SafetensorsHeader header;
  JsonScanner scanner(json);
  TRY(scanner.Take('{'));
  if (!scanner.TakeIf('}')) {
    do {
      TRY_ASSIGN(const std::string name, scanner.TakeString());
      TRY(scanner.Take(':'));
      if (name == kMetadata) {
        TRY(ScanMetadata(scanner, &header.metadata));
        continue;
      }
      Result<SafetensorsEntry> entry = ScanEntry(scanner);
      Status status = entry.ok() ? CheckEntry(*entry, data_bytes) : entry.status();
      if (status.ok() && !header.entries.emplace(name, *std::move(entry)).second)
        status = DataLoss("it stands twice");
      if (!status.ok()) return DataLoss("tensor '{}': {}", Printable(name), status.message());
    } while (scanner.TakeIf(','));
    TRY(scanner.Take('}'));
  }
  TRY(scanner.TakeEnd());
  TRY(CheckCover(header, data_bytes));
  return header;
}

Result<SafetensorsReader> SafetensorsReader::Open(const std::string& path) {
  TRY_ASSIGN(BlockReader file, BlockReader::Open(path));
  char length[8];
  if (file.size() < sizeof length)
    return DataLoss("{}: {} bytes are too few for safetensors", Printable(path), file.size());
  TRY(file.ReadAt(0, sizeof length, length));
  const uint64_t header_bytes = LoadLittleEndian<uint64_t>(length);
  if (header_bytes > kMaxHeaderBytes || header_bytes > file.size() - sizeof length) {
    return DataLoss("{}: no safetensors, or cut: a header of {} bytes does not fit in {}",
                    Printable(path), header_bytes, file.size());
  }
  std::string json(header_bytes, '\0');
  TRY(file.ReadAt(sizeof length, header_bytes, json.data()));
  SafetensorsReader reader(std::move(file));
  reader.data_offset_ = sizeof length + header_bytes;
  Result<SafetensorsHeader> header =
      ParseSafetensorsHeader(json, reader.file_.size() - reader.data_offset_);
  if (!header.ok()) return header.status().Annotate(Printable(path));
  reader.header_ = *std::move(header);
  return reader;
}

std::vector<std::string> SafetensorsReader::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : header_.entries) names.push_back(name);
  return names;
}

Result<Tensor> SafetensorsReader::Read(std::string_view name, Allocator* allocator) const {
  const auto found = header_.entries.find(name);
  if (found == header_.entries.end())
    return NotFound("{}: there is no tensor '{}'", Printable(file_.path()), Printable(name));
  const SafetensorsEntry& entry = found->second;
  if (entry.dtype == DType::kInvalid) {
    return Unimplemented("{}: tensor '{}': values of {} cannot be read", Printable(file_.path()),
                         Printable(name), Printable(entry.dtype_name));
  }
  TRY_ASSIGN(Tensor tensor, Tensor::Make(allocator, entry.dtype, entry.shape));
  auto* const bytes = static_cast<char*>(tensor.mutable_raw());
  TRY(file_.ReadAt(data_offset_ + entry.begin, entry.end - entry.begin, bytes));
  if (entry.dtype == DType::kBool)  // any other byte is no bool to the compiler
    std::transform(bytes, bytes + tensor.bytes(), bytes, [](char c) { return c != 0 ? 1 : 0; });
  return tensor;
}

Status WriteSafetensors(const std::string& path, std::span<const NamedTensor> tensors,
                        const std::map<std::string, std::string>& metadata) {
  std::vector<const NamedTensor*> order;
  for (const NamedTensor& named : tensors) {
    if (named.name == kMetadata)
      return InvalidArgument("a tensor cannot be called '{}'", kMetadata);
    if (!named.tensor.initialized())
      return FailedPrecondition("tensor '{}' has no value", Printable(named.name));
    order.push_back(&named);
  }
  // Larger elements first: so all are aligned.
  std::ranges::sort(order, [](const NamedTensor* a, const NamedTensor* b) {
    const size_t a_size = SizeOf(a->tensor.dtype()), b_size = SizeOf(b->tensor.dtype());
    return a_size != b_size ? a_size > b_size : a->name < b->name;
  });
  TRY_ASSIGN(const std::string json, HeaderText(order, metadata));
  const uint64_t header_bytes = json.size();
  TRY_ASSIGN(BlockWriter file, BlockWriter::Create(path));
  TRY(file.Append({reinterpret_cast<const char*>(&header_bytes), sizeof header_bytes}));
  TRY(file.Append(json));
  for (const NamedTensor* named : order)
    TRY(file.Append({static_cast<const char*>(named->tensor.raw()), named->tensor.bytes()}));
  TRY(file.Finish());
  return file.Commit();
}

}  // namespace penstock::io
