#include "penstock/ops/text/unicode.h"

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "penstock/ops/index_rows.h"
#include "penstock/ops/text/icu.h"
#include "penstock/ops/text/utf8.h"

namespace penstock::ops {
namespace {

// The encodings that need no ICU, by the names that ICU gives them.
constexpr std::pair<std::string_view, Encoding> kEncodings[] = {
    {"UTF8", Encoding::kUtf8},       {"UTF16BE", Encoding::kUtf16Be},
    {"UTF16LE", Encoding::kUtf16Le}, {"UTF32BE", Encoding::kUtf32Be},
    {"UTF32LE", Encoding::kUtf32Le}, {"ISO88591", Encoding::kLatin1},
    {"LATIN1", Encoding::kLatin1},   {"USASCII", Encoding::kAscii},
    {"ASCII", Encoding::kAscii},
};

// As ICU compares names: without dashes, underscores and spaces, in any case.
std::string PlainName(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == ' ') continue;
    plain.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c);
  }
  return plain;
}

Encoding OutputEncoding(std::string_view name) {
  return name == "UTF-8"       ? Encoding::kUtf8
         : name == "UTF-16-BE" ? Encoding::kUtf16Be
                               : Encoding::kUtf32Be;
}

Status CheckReplacement(int64_t code) {
  if (code >= 0 && code <= kMaxCodePoint) return OkStatus();
  return InvalidArgument("replacement_char must be a code point in [0, {}], got {}", kMaxCodePoint,
                         code);
}

// Reads strings as the attributes of a node say.
class Reader {
 public:
  static Result<Reader> Make(const UnicodeReading& how) {
    Reader reader(how);
    const std::string plain = PlainName(how.input_encoding);
    for (const auto& [name, encoding] : kEncodings)
      if (plain == name) reader.encoding_ = encoding;
    if (!reader.encoding_.has_value()) {
      TRY_ASSIGN(IcuDecoder icu, IcuDecoder::Open(how.input_encoding));
      reader.icu_.emplace(std::move(icu));
    }
    return reader;
  }

  // Calls put(code, offset) for each code point of `text`.
  template <class Put>
  Status Read(std::string_view text, Put&& put) {
    for (size_t at = 0; at < text.size();) {
      const Decoded found = Next(text.substr(at));
      const bool control = how_.replace_control_characters && found.code <= 0x1F;
      if (!found.malformed && !control) {
        put(found.code, at);
      } else if (how_.errors == "strict" && found.malformed) {
        return InvalidArgument("Invalid formatting on input string: {} at byte {}", Printable(text),
                               at);
      } else if (how_.errors == "replace" || (control && how_.errors == "strict")) {
        put(static_cast<uint32_t>(how_.replacement_char), at);
      }
      at += found.bytes;
    }
    return OkStatus();
  }

 private:
  explicit Reader(const UnicodeReading& how) : how_(how) {}
  Decoded Next(std::string_view text) {
    if (encoding_.has_value()) return DecodeOne(*encoding_, text);
    Decoded found;
    icu_->Decode(text, &found.code, &found.bytes, &found.malformed);
    return found;
  }

  const UnicodeReading& how_;
  std::optional<Encoding> encoding_;
  std::optional<IcuDecoder> icu_;
};

// The outputs of both decoding ops; `offsets` for the one that has them.
Status Decode(CpuContext& context, const UnicodeReading& how, const Tensor& input,
              DType splits_type, bool offsets) {
  TRY_ASSIGN(Reader reader, Reader::Make(how));
  std::vector<int32_t> codes;
  std::vector<int64_t> starts;
  std::vector<int64_t> splits = {0};
  for (const std::string& text : input.values<std::string>()) {
    TRY(reader.Read(text, [&](uint32_t code, size_t at) {
      codes.push_back(static_cast<int32_t>(code));
      if (offsets) starts.push_back(static_cast<int64_t>(at));
    }));
    splits.push_back(static_cast<int64_t>(codes.size()));
  }
  const Shape per_code{static_cast<int64_t>(codes.size())};
  TRY(context.AllocateOutput(0, splits_type, Shape{static_cast<int64_t>(splits.size())}));
  if (splits_type == DType::kInt64) {
    std::copy(splits.begin(), splits.end(), context.output(0).mutable_data<int64_t>());
  } else if (splits.back() <= std::numeric_limits<int32_t>::max()) {
    std::copy(splits.begin(), splits.end(), context.output(0).mutable_data<int32_t>());
  } else {
    return InvalidArgument("there are too many code points for splits of int32: {}", splits.back());
  }
  TRY(context.AllocateOutput(1, DType::kInt32, per_code));
  std::copy(codes.begin(), codes.end(), context.output(1).mutable_data<int32_t>());
  if (!offsets) return OkStatus();
  TRY(context.AllocateOutput(2, DType::kInt64, per_code));
  std::copy(starts.begin(), starts.end(), context.output(2).mutable_data<int64_t>());
  return OkStatus();
}

Shape SplitsOf(const Shape& input) {
  const std::optional<int64_t> rows = input.CheckedNumElements();
  return {rows.has_value() ? *rows + 1 : Shape::kUnknownDim};
}

}  // namespace

Status UnicodeReading::CheckAttrs() const { return CheckReplacement(replacement_char); }

Status UnicodeTranscode::ComputeCpu(CpuContext&, const Tensor& input, Tensor& output) const {
  TRY_ASSIGN(Reader reader, Reader::Make(*this));
  const Encoding encoding = OutputEncoding(output_encoding);
  std::string* to = output.mutable_data<std::string>();
  for (const std::string& text : input.values<std::string>()) {
    to->reserve(text.size());
    TRY(reader.Read(text, [&](uint32_t code, size_t) {
      AppendEncoded(encoding, IsEncodable(code) ? code : kReplacementChar, to);
    }));
    ++to;
  }
  return OkStatus();
}

Result<std::array<Shape, 2>> UnicodeDecode::InferShape(const Shape& input) const {
  return std::array<Shape, 2>{SplitsOf(input), Shape{Shape::kUnknownDim}};
}
Status UnicodeDecode::ComputeCpu(CpuContext& context, const Tensor& input) const {
  return Decode(context, *this, input, splits_type, false);
}

Result<std::array<Shape, 3>> UnicodeDecodeWithOffsets::InferShape(const Shape& input) const {
  const Shape per_code{Shape::kUnknownDim};
  return std::array<Shape, 3>{SplitsOf(input), per_code, per_code};
}
Status UnicodeDecodeWithOffsets::ComputeCpu(CpuContext& context, const Tensor& input) const {
  return Decode(context, *this, input, splits_type, true);
}

Status UnicodeEncode::CheckAttrs() const { return CheckReplacement(replacement_char); }

Result<Shape> UnicodeEncode::InferShape(const Shape& input_values,
                                        const Shape& input_splits) const {
  TRY(CheckVector(input_values, "input_values"));
  TRY(CheckVector(input_splits, "input_splits"));
  if (!input_splits.has_rank() || input_splits.dim(0) == Shape::kUnknownDim)
    return Shape{Shape::kUnknownDim};
  if (input_splits.dim(0) == 0) return InvalidArgument("input_splits must not be empty");
  return Shape{input_splits.dim(0) - 1};
}

Status UnicodeEncode::ComputeCpu(CpuContext& context, const Tensor& input_values,
                                 const Tensor& input_splits, Tensor& output) const {
  TRY_ASSIGN(const Tensor wide, WidenIndices(context, input_splits));
  const std::span<const int64_t> splits = wide.values<int64_t>();
  const int64_t count = input_values.num_elements();
  if (splits.front() != 0 || splits.back() != count)
    return InvalidArgument("input_splits must go from 0 to {}, got {} to {}", count, splits.front(),
                           splits.back());
  const Encoding encoding = OutputEncoding(output_encoding);
  const auto replacement = static_cast<uint32_t>(replacement_char);
  for (size_t row = 0; row + 1 < splits.size(); ++row) {
    if (splits[row + 1] < splits[row] || splits[row + 1] > count)
      return InvalidArgument("input_splits must be sorted and at most {}, got {} after {}", count,
                             splits[row + 1], splits[row]);
    std::string& to = output.mutable_data<std::string>()[row];
    for (int64_t i = splits[row]; i < splits[row + 1]; ++i) {
      const auto code = static_cast<uint32_t>(input_values.data<int32_t>()[i]);
      if (IsEncodable(code)) {
        AppendEncoded(encoding, code, &to);
      } else if (errors == "strict") {
        return InvalidArgument("Code point is out of range for Unicode, or a noncharacter: {}",
                               input_values.data<int32_t>()[i]);
      } else if (errors == "replace") {
        AppendEncoded(encoding, IsEncodable(replacement) ? replacement : kReplacementChar, &to);
      }
    }
  }
  return OkStatus();
}

Status UnicodeScript::ComputeCpu(CpuContext&, const Tensor& input, Tensor& output) const {
  for (int64_t i = 0; i < input.num_elements(); ++i) {
    TRY_ASSIGN(output.mutable_data<int32_t>()[i], ScriptOf(input.data<int32_t>()[i]));
  }
  return OkStatus();
}

void RegisterUnicode(Registrar& registrar) {
  registrar.AddAll<UnicodeTranscode, UnicodeDecode, UnicodeDecodeWithOffsets, UnicodeEncode,
                   UnicodeScript>();
}

}  // namespace penstock::ops
