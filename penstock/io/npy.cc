#include "penstock/io/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/io/block_reader.h"
#include "penstock/io/block_writer.h"
#include "penstock/io/little_endian.h"
#include "penstock/io/npy_header.h"
#include "penstock/io/utf8.h"

namespace penstock::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kAlignment = 64;

struct NumberType {
  char kind;
  uint64_t bytes;
  DType dtype;
};
constexpr NumberType kNumbers[] = {
    {'b', 1, DType::kBool},      {'i', 1, DType::kInt8},        {'i', 2, DType::kInt16},
    {'i', 4, DType::kInt32},     {'i', 8, DType::kInt64},       {'u', 1, DType::kUint8},
    {'u', 2, DType::kUint16},    {'u', 4, DType::kUint32},      {'u', 8, DType::kUint64},
    {'f', 2, DType::kHalf},      {'f', 4, DType::kFloat},       {'f', 8, DType::kDouble},
    {'c', 8, DType::kComplex64}, {'c', 16, DType::kComplex128},
};

// Turns each number of `width` bytes round.
void SwapBytes(char* bytes, uint64_t num_bytes, uint64_t width) {
  for (uint64_t at = 0; at + width <= num_bytes; at += width)
    std::reverse(bytes + at, bytes + at + width);
}

// From the first index fastest to the last.
void FromFortranOrder(const char* from, const Shape& shape, uint64_t element, char* to) {
  const int rank = shape.rank();
  std::vector<uint64_t> strides(static_cast<size_t>(rank));  // in `from`, in bytes
  uint64_t stride = element;
  for (int axis = 0; axis < rank; ++axis) {
    strides[static_cast<size_t>(axis)] = stride;
    stride *= static_cast<uint64_t>(shape.dim(axis));
  }
  std::vector<int64_t> index(static_cast<size_t>(rank), 0);
  uint64_t offset = 0;
  for (int64_t i = 0; i < shape.num_elements(); ++i, to += element) {
    std::memcpy(to, from + offset, element);
    for (int axis = rank - 1; axis >= 0; --axis) {
      const auto a = static_cast<size_t>(axis);
      offset += strides[a];
      if (++index[a] < shape.dim(axis)) break;
      offset -= strides[a] * static_cast<uint64_t>(index[a]);
      index[a] = 0;
    }
  }
}

// One element of kind "S" or "U", without the zeros at its end.
Status DecodeString(const NpyHeader& header, std::string_view bytes, std::string* out) {
  if (header.kind == 'S') {
    out->assign(bytes.substr(0, bytes.find_last_not_of('\0') + 1));
    return OkStatus();
  }
  std::vector<uint32_t> codes;
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    const auto code = LoadLittleEndian<uint32_t>(bytes.data() + at);
    codes.push_back(header.is_swapped ? __builtin_bswap32(code) : code);
  }
  while (!codes.empty() && codes.back() == 0) codes.pop_back();
  for (const uint32_t code : codes) {
    if (!AppendUtf8(code, out)) return DataLoss("{} is no character of Unicode", code);
  }
  return OkStatus();
}

}  // namespace

Result<NpyHeader> ParseNpyHeader(std::string_view begin) {
  if (!begin.starts_with(kMagic) || begin.size() < 10) return DataLoss("no array of NumPy");
  const auto major = static_cast<uint8_t>(begin[6]);
  if (major < 1 || major > 3)
    return Unimplemented("version {} of NumPy's format is not known", major);
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t at = 8 + length_bytes;
  if (begin.size() < at) return DataLoss("the header is cut");
  const uint64_t length = major == 1 ? LoadLittleEndian<uint16_t>(begin.data() + 8)
                                     : LoadLittleEndian<uint32_t>(begin.data() + 8);
  if (length > begin.size() - at)
    return DataLoss("the header has {} bytes, of which {} are there", length, begin.size() - at);
  TRY_ASSIGN(const NpyDict dict, ParseNpyDict(begin.substr(at, length)));
  NpyHeader header;
  header.header_bytes = at + length;
  header.fortran_order = dict.fortran_order;
  TRY_ASSIGN(header.shape, Shape::Make(dict.shape));
  header.kind = dict.kind;
  header.is_swapped = dict.order == '>';
  header.element_bytes = dict.size * (dict.kind == 'U' ? 4 : 1);
  if (dict.kind == 'S' || dict.kind == 'U') {
    header.dtype = DType::kString;
  } else {
    const auto* found = std::ranges::find_if(kNumbers, [&](const NumberType& number) {
      return number.kind == dict.kind && number.bytes == dict.size;
    });
    if (found == std::end(kNumbers)) {
      return Unimplemented("arrays of '{}{}' cannot be read", std::string(1, dict.kind), dict.size);
    }
    header.dtype = found->dtype;
  }
  const std::optional<int64_t> bytes =
      CheckedMul(header.shape.num_elements(), static_cast<int64_t>(header.element_bytes));
  if (!bytes.has_value()) return DataLoss("an array of shape {} is too large", header.shape);
  header.data_bytes = static_cast<uint64_t>(*bytes);
  return header;
}

Result<Tensor> ReadNpyData(const NpyHeader& header, FunctionRef<Status(char* out)> read,
                           Allocator* allocator) {
  if (header.dtype == DType::kString && header.element_bytes == 0 &&
      header.shape.num_elements() > (1 << 20))
    return ResourceExhausted("{} empty strings", header.shape.num_elements());
  if (IsPlain(header.dtype) && !header.fortran_order) {
    TRY_ASSIGN(Tensor tensor, Tensor::Make(allocator, header.dtype, header.shape));
    auto* const bytes = static_cast<char*>(tensor.mutable_raw());
    TRY(read(bytes));
    const uint64_t width = header.element_bytes / (header.kind == 'c' ? 2 : 1);
    if (header.is_swapped) SwapBytes(bytes, header.data_bytes, width);
    if (header.dtype == DType::kBool)  // any other byte is no bool to the compiler
      std::transform(bytes, bytes + header.data_bytes, bytes,
                     [](char c) { return c != 0 ? 1 : 0; });
    return tensor;
  }
  std::string data(header.data_bytes, '\0');
  TRY(read(data.data()));
  if (header.fortran_order) {
    std::string ordered(data.size(), '\0');
    FromFortranOrder(data.data(), header.shape, header.element_bytes, ordered.data());
    data = std::move(ordered);
  }
  if (IsPlain(header.dtype)) {
    NpyHeader plain = header;
    plain.fortran_order = false;
    return ReadNpyData(
        plain,
        [&](char* out) {
          std::memcpy(out, data.data(), data.size());
          return OkStatus();
        },
        allocator);
  }
  TRY_ASSIGN(Tensor tensor, Tensor::Make(allocator, header.dtype, header.shape));
  const std::string_view all = data;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    TRY(DecodeString(
        header, all.substr(static_cast<uint64_t>(i) * header.element_bytes, header.element_bytes),
        tensor.mutable_data<std::string>() + i));
  }
  return tensor;
}

Result<std::string> NpyHeaderOf(const Tensor& tensor) {
  if (!tensor.initialized()) return FailedPrecondition("a tensor without a value cannot be saved");
  std::string descr;
  if (tensor.dtype() == DType::kString) {
    size_t longest = 1;
    for (const std::string& text : tensor.values<std::string>()) {
      if (text.ends_with('\0')) return Unimplemented("NumPy's strings cannot end in a zero byte");
      longest = std::max(longest, text.size());
    }
    descr = Format("|S{}", longest);
  } else {
    const auto* found = std::ranges::find(kNumbers, tensor.dtype(), &NumberType::dtype);
    if (found == std::end(kNumbers))
      return Unimplemented("NumPy has no values of dtype {}", tensor.dtype());
    descr =
        Format("{}{}{}", found->bytes == 1 ? "|" : "<", std::string(1, found->kind), found->bytes);
  }
  std::string dims;
  for (const int64_t dim : tensor.shape().dims()) dims += std::to_string(dim) + ", ";
  if (tensor.shape().rank() > 1) dims.resize(dims.size() - 2);
  if (tensor.shape().rank() == 1) dims.pop_back();
  std::string dict =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + dims + "), }";
  // Shapes of many dimensions need more than the 64 KB of version 1.
  const bool is_long = dict.size() > 60'000;
  const size_t before = is_long ? 12 : 10;
  dict.append(kAlignment - (before + dict.size() + 1) % kAlignment, ' ');
  dict.push_back('\n');
  std::string header(kMagic);
  header += is_long ? std::string("\2\0", 2) : std::string("\1\0", 2);
  const auto length = static_cast<uint32_t>(dict.size());
  header.append(reinterpret_cast<const char*>(&length), is_long ? 4 : 2);
  return header + dict;
}

Status WriteNpyData(const Tensor& tensor, FunctionRef<Status(std::string_view)> write) {
  if (tensor.dtype() != DType::kString)
    return write({static_cast<const char*>(tensor.raw()), tensor.bytes()});
  size_t longest = 1;
  for (const std::string& text : tensor.values<std::string>())
    longest = std::max(longest, text.size());
  for (const std::string& text : tensor.values<std::string>()) {
    std::string padded = text;
    padded.resize(longest, '\0');
    TRY(write(padded));
  }
  return OkStatus();
}

Result<Tensor> ReadNpy(const std::string& path, Allocator* allocator) {
  TRY_ASSIGN(const BlockReader file, BlockReader::Open(path));
  std::string begin(std::min(file.size(), kMaxNpyHeaderBytes), '\0');
  TRY(file.ReadAt(0, begin.size(), begin.data()));
  const Result<NpyHeader> header = ParseNpyHeader(begin);
  if (!header.ok()) return header.status().Annotate(Printable(path));
  if (header->data_bytes != file.size() - header->header_bytes) {
    return DataLoss("{}: expected {} bytes of data, got {}", Printable(path), header->data_bytes,
                    file.size() - header->header_bytes);
  }
  return ReadNpyData(
      *header,
      [&](char* out) { return file.ReadAt(header->header_bytes, header->data_bytes, out); },
      allocator);
}

Status WriteNpy(const std::string& path, const Tensor& tensor) {
  TRY_ASSIGN(const std::string header, NpyHeaderOf(tensor));
  TRY_ASSIGN(BlockWriter file, BlockWriter::Create(path));
  TRY(file.Append(header));
  TRY(WriteNpyData(tensor, [&](std::string_view bytes) { return file.Append(bytes); }));
  TRY(file.Finish());
  return file.Commit();
}

}  // namespace penstock::io
