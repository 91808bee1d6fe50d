#include "penstock/ops/text/bytes.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "penstock/io/compression.h"

namespace penstock::ops {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr uint8_t kNoDigit = 64;

constexpr std::array<uint8_t, 256> MakeDigits() {
  std::array<uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  for (size_t i = 0; i < kAlphabet.size(); ++i)
    digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<uint8_t>(i);
  return digits;
}
constexpr std::array<uint8_t, 256> kDigits = MakeDigits();

uint32_t ByteAt(std::string_view text, size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

void Encode(std::string_view bytes, bool pad, std::string* text) {
  text->reserve((bytes.size() + 2) / 3 * 4);
  for (size_t at = 0; at < bytes.size(); at += 3) {
    const uint32_t group =
        ByteAt(bytes, at) << 16 | ByteAt(bytes, at + 1) << 8 | ByteAt(bytes, at + 2);
    const size_t digits = std::min<size_t>(bytes.size() - at, 3) + 1;
    for (size_t i = 0; i < digits; ++i) text->push_back(kAlphabet[group >> (18 - 6 * i) & 63]);
    if (pad) text->append(4 - digits, '=');
  }
}

// False when it is no base64.
bool Decode(std::string_view text, std::string* bytes) {
  // Pads count only where they fill the last group.
  if (!text.empty() && text.size() % 4 == 0) {
    if (text.ends_with('=')) text.remove_suffix(1);
    if (text.ends_with('=')) text.remove_suffix(1);
  }
  if (text.size() % 4 == 1) return false;
  bytes->reserve(text.size() / 4 * 3 + 2);
  for (size_t at = 0; at < text.size(); at += 4) {
    const std::string_view group = text.substr(at, 4);
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; ++i) {
      const uint8_t digit = i < group.size() ? kDigits[static_cast<unsigned char>(group[i])] : 0;
      if (digit == kNoDigit) return false;
      bits = bits << 6 | digit;
    }
    for (size_t i = 0; i + 1 < group.size(); ++i)
      bytes->push_back(static_cast<char>(bits >> (16 - 8 * i) & 0xFF));
  }
  return true;
}

// Turns the bytes of each number around; those of a complex are two.
void SwapBytes(char* bytes, int64_t count, DType dtype) {
  const size_t parts = IsComplex(dtype) ? 2 : 1;
  const size_t size = SizeOf(dtype) / parts;
  if (size == 1) return;
  for (int64_t i = 0; i < count * static_cast<int64_t>(parts); ++i, bytes += size)
    std::reverse(bytes, bytes + size);
}

}  // namespace

Status EncodeBase64::ComputeCpu(CpuContext& context, const Tensor& input, Tensor& output) const {
  const std::string* from = input.data<std::string>();
  std::string* to = output.mutable_data<std::string>();
  context.parallel()(input.num_elements(), kCost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) Encode(from[i], pad, &to[i]);
  });
  return OkStatus();
}

Status DecodeBase64::ComputeCpu(CpuContext&, const Tensor& input, Tensor& output) const {
  std::string* to = output.mutable_data<std::string>();
  for (const std::string& text : input.values<std::string>()) {
    if (!Decode(text, to++))
      return InvalidArgument("expected base64 of the web's alphabet, got {}", Printable(text));
  }
  return OkStatus();
}

Result<Shape> DecodeRaw::InferShape(const Known& bytes) const {
  Shape out = *bytes.shape;
  if (!out.has_rank()) return out;
  int64_t width = Shape::kUnknownDim;
  if (bytes.value != nullptr) {
    width = 0;
    const auto size = static_cast<int64_t>(SizeOf(out_type));
    const auto values = bytes.value->values<std::string>();
    for (const std::string& text : values) {
      if (text.size() != values[0].size())
        return InvalidArgument("every string must have as many bytes, got {} and {}",
                               values[0].size(), text.size());
    }
    if (!values.empty()) width = static_cast<int64_t>(values[0].size());
    if (width % size != 0)
      return InvalidArgument("the number of bytes must be a multiple of {} for {}, got {}", size,
                             out_type, width);
    width /= size;
  }
  out.Append(width);
  return Shape::Make(out.dims());
}

Status DecodeRaw::ComputeCpu(CpuContext&, const Tensor& bytes, Tensor& output) const {
  char* to = static_cast<char*>(output.mutable_raw());
  for (const std::string& text : bytes.values<std::string>()) {
    std::memcpy(to, text.data(), text.size());
    to += text.size();
  }
  to = static_cast<char*>(output.mutable_raw());
  if (output.dtype() == DType::kBool) {
    // A bool is 0 or 1, whatever came.
    for (int64_t i = 0; i < output.num_elements(); ++i) to[i] = to[i] != 0;
  }
  if (!little_endian) SwapBytes(to, output.num_elements(), output.dtype());
  return OkStatus();
}

Result<Shape> DecodePaddedRaw::InferShape(const Shape& input_bytes,
                                          const Integers& fixed_length) const {
  TRY(CheckScalar(fixed_length.shape(), "fixed_length"));
  Shape out = input_bytes;
  int64_t width = Shape::kUnknownDim;
  if (fixed_length.known()) {
    const auto size = static_cast<int64_t>(SizeOf(out_type));
    if (fixed_length[0] <= 0 || fixed_length[0] % size != 0)
      return InvalidArgument("fixed_length must be a positive multiple of {} for {}, got {}", size,
                             out_type, fixed_length[0]);
    width = fixed_length[0] / size;
  }
  if (!out.has_rank()) return out;
  out.Append(width);
  return Shape::Make(out.dims());
}

Status DecodePaddedRaw::ComputeCpu(CpuContext&, const Tensor& input_bytes,
                                   const Integers& fixed_length, Tensor& output) const {
  const auto width = static_cast<size_t>(fixed_length[0]);
  char* to = static_cast<char*>(output.mutable_raw());
  for (const std::string& text : input_bytes.values<std::string>()) {
    const size_t n = std::min(text.size(), width);
    std::memcpy(to, text.data(), n);
    std::memset(to + n, 0, width - n);
    to += width;
  }
  if (!little_endian)
    SwapBytes(static_cast<char*>(output.mutable_raw()), output.num_elements(), output.dtype());
  return OkStatus();
}

Status DecodeCompressed::CheckAttrs() const {
  if (io::ParseCompression(compression_type).has_value()) return OkStatus();
  return InvalidArgument("Only ZLIB, GZIP or NONE are supported compressions, got {}",
                         Printable(compression_type));
}

Status DecodeCompressed::ComputeCpu(CpuContext&, const Tensor& input, Tensor& output) const {
  const io::Compression compression = *io::ParseCompression(compression_type);
  std::string* to = output.mutable_data<std::string>();
  for (const std::string& bytes : input.values<std::string>()) {
    TRY_ASSIGN(*to++, io::Uncompress(compression, bytes));
  }
  return OkStatus();
}

void RegisterTextBytes(Registrar& registrar) {
  registrar.AddAll<EncodeBase64, DecodeBase64, DecodeRaw, DecodePaddedRaw, DecodeCompressed>();
}

}  // namespace penstock::ops
