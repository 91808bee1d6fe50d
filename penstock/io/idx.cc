#include "penstock/io/idx.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "penstock/core/checked.h"
#include "penstock/io/open_any.h"

namespace penstock::io {
namespace {

constexpr int kMaxRank = 8;
constexpr size_t kMagicBytes = 4;

DType TypeOf(uint8_t code) {
  switch (code) {
    case 0x08:
      return DType::kUint8;
    case 0x09:
      return DType::kInt8;
    case 0x0b:
      return DType::kInt16;
    case 0x0c:
      return DType::kInt32;
    case 0x0d:
      return DType::kFloat;
    case 0x0e:
      return DType::kDouble;
    default:
      return DType::kInvalid;
  }
}

uint32_t BigEndian(const char* bytes) {
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

struct Header {
  DType dtype = DType::kInvalid;
  Shape shape;
  int64_t bytes = 0;
};

Status Damaged(const InputStream& stream, std::string_view what) {
  return DataLoss("{}: {}, at offset {}", Printable(stream.path()), what, stream.offset());
}

Result<Header> ReadHeader(InputStream& stream) {
  std::string bytes;
  TRY_ASSIGN(const size_t magic, stream.Read(kMagicBytes, &bytes));
  if (magic < kMagicBytes) return Damaged(stream, "an IDX file is cut within its header");
  Header header;
  header.dtype = TypeOf(static_cast<uint8_t>(bytes[2]));
  const int rank = static_cast<uint8_t>(bytes[3]);
  if (bytes[0] != 0 || bytes[1] != 0 || header.dtype == DType::kInvalid || rank > kMaxRank)
    return Damaged(stream, "not an IDX file: the first bytes are wrong");
  bytes.clear();
  TRY_ASSIGN(const size_t got, stream.Read(4 * static_cast<size_t>(rank), &bytes));
  if (got < 4 * static_cast<size_t>(rank))
    return Damaged(stream, "an IDX file is cut within its header");
  std::vector<int64_t> dims;
  for (int i = 0; i < rank; ++i) dims.push_back(BigEndian(bytes.data() + 4 * i));
  Result<Shape> shape = Shape::Make(dims);
  const std::optional<int64_t> size =
      shape.ok() ? CheckedMul(shape->num_elements(), static_cast<int64_t>(SizeOf(header.dtype)))
                 : std::nullopt;
  if (!size) return Damaged(stream, "the extents of an IDX file are too large");
  header.shape = *std::move(shape);
  header.bytes = *size;
  return header;
}

// Turns big-endian elements of `size` bytes into the machine's.
void SwapBytes(char* data, size_t bytes, size_t size) {
  if (std::endian::native == std::endian::big) return;
  for (size_t at = 0; size > 1 && at < bytes; at += size) std::reverse(data + at, data + at + size);
}

}  // namespace

Result<Tensor> ReadIdx(const std::string& path, int64_t limit) {
  TRY_ASSIGN(InputStream stream, OpenAny(path));
  TRY_ASSIGN(const Header header, ReadHeader(stream));
  if (header.bytes > limit)
    return ResourceExhausted("{}: the array has {} bytes, the limit is {}", Printable(path),
                             header.bytes, limit);
  std::string data;
  TRY_ASSIGN(const size_t got, stream.Read(static_cast<size_t>(header.bytes), &data));
  if (got < static_cast<size_t>(header.bytes))
    return Damaged(stream, Format("the data of shape {} are cut: expected {} bytes, got {}",
                                  header.shape, header.bytes, got));
  TRY_ASSIGN(const uint64_t more, stream.Skip(1));
  if (more > 0) return Damaged(stream, "an IDX file goes on after its data");
  TRY_ASSIGN(Tensor tensor, Tensor::Make(HostAllocator(), header.dtype, header.shape));
  if (!data.empty()) std::memcpy(tensor.mutable_raw(), data.data(), data.size());
  SwapBytes(static_cast<char*>(tensor.mutable_raw()), data.size(), SizeOf(header.dtype));
  return tensor;
}

}  // namespace penstock::io
