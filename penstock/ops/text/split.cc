#include "penstock/ops/text/split.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "penstock/ops/index_rows.h"

namespace penstock::ops {
namespace {

// Tokens of all n-grams together; their widths are attributes.
constexpr int64_t kMaxTokens = int64_t{1} << 30;
constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
using Pieces = std::vector<std::string_view>;

Result<SplitOutputs> InferSplit(const Shape& input, const Shape& separator, std::string_view name) {
  TRY(CheckVector(input, "input"));
  TRY(CheckScalar(separator, name));
  return SplitOutputs{Shape{Shape::kUnknownDim, 2}, Shape{Shape::kUnknownDim}, Shape{2}};
}

// Writes the pieces of each string as a sparse matrix.
template <class Split>
Status SplitAll(CpuContext& context, const Tensor& input, Split&& split) {
  Pieces pieces;
  std::vector<int64_t> ends;  // of the pieces of each string
  int64_t widest = 0;
  for (const std::string& text : input.values<std::string>()) {
    const size_t before = pieces.size();
    split(text, pieces);
    widest = std::max(widest, static_cast<int64_t>(pieces.size() - before));
    ends.push_back(static_cast<int64_t>(pieces.size()));
  }
  const auto count = static_cast<int64_t>(pieces.size());
  TRY(context.AllocateOutput(0, DType::kInt64, Shape{count, 2}));
  TRY(context.AllocateOutput(1, DType::kString, Shape{count}));
  TRY(context.AllocateOutput(2, DType::kInt64, Shape{2}));
  int64_t* indices = context.output(0).mutable_data<int64_t>();
  int64_t at = 0;
  for (size_t row = 0; row < ends.size(); ++row) {
    for (int64_t column = 0; at < ends[row]; ++at, ++column) {
      *indices++ = static_cast<int64_t>(row);
      *indices++ = column;
    }
  }
  std::string* values = context.output(1).mutable_data<std::string>();
  for (int64_t i = 0; i < count; ++i) values[i] = pieces[i];
  context.output(2).mutable_data<int64_t>()[0] = input.num_elements();
  context.output(2).mutable_data<int64_t>()[1] = widest;
  return OkStatus();
}

void SplitAtAny(std::string_view text, std::string_view delimiters, bool skip_empty,
                Pieces& pieces) {
  if (text.empty()) return;
  if (delimiters.empty()) {
    for (size_t i = 0; i < text.size(); ++i) pieces.push_back(text.substr(i, 1));
    return;
  }
  while (true) {
    const size_t at = text.find_first_of(delimiters);
    const std::string_view piece = text.substr(0, at);
    if (!skip_empty || !piece.empty()) pieces.push_back(piece);
    if (at == std::string_view::npos) return;
    text.remove_prefix(at + 1);
  }
}

void SplitAtWhiteSpace(std::string_view text, int64_t most, Pieces& pieces) {
  const auto skip = [&text](size_t n) { text.remove_prefix(std::min(n, text.size())); };
  skip(text.find_first_not_of(kWhiteSpace));
  for (int64_t splits = 0; !text.empty();) {
    const std::string_view piece = text.substr(0, text.find_first_of(kWhiteSpace));
    pieces.push_back(piece);
    skip(piece.size());
    skip(text.find_first_not_of(kWhiteSpace));
    if (++splits == most) {
      // The rest is a piece, though it may be empty.
      pieces.push_back(text);
      return;
    }
  }
}

void SplitAtText(std::string_view text, std::string_view separator, int64_t most, Pieces& pieces) {
  for (int64_t splits = 0; splits != most; ++splits) {
    const size_t at = text.find(separator);
    if (at == std::string_view::npos) break;
    pieces.push_back(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  pieces.push_back(text);
}

}  // namespace

Result<SplitOutputs> StringSplit::InferShape(const Shape& input, const Shape& delimiter) const {
  return InferSplit(input, delimiter, "delimiter");
}

Status StringSplit::ComputeCpu(CpuContext& context, const Tensor& input,
                               const Tensor& delimiter) const {
  const std::string& delimiters = delimiter.scalar<std::string>();
  return SplitAll(context, input, [&](const std::string& text, Pieces& pieces) {
    SplitAtAny(text, delimiters, skip_empty, pieces);
  });
}

Result<SplitOutputs> StringSplitV2::InferShape(const Shape& input, const Shape& sep) const {
  return InferSplit(input, sep, "sep");
}

Status StringSplitV2::ComputeCpu(CpuContext& context, const Tensor& input,
                                 const Tensor& sep) const {
  const std::string& separator = sep.scalar<std::string>();
  const int64_t most = maxsplit < 0 ? -1 : maxsplit;
  return SplitAll(context, input, [&](const std::string& text, Pieces& pieces) {
    if (most == 0) {
      pieces.push_back(text);
    } else if (separator.empty()) {
      SplitAtWhiteSpace(text, most, pieces);
    } else {
      SplitAtText(text, separator, most, pieces);
    }
  });
}

Status StringNGrams::CheckAttrs() const {
  for (const int64_t width : ngram_widths)
    if (width < 1 || width > kMaxTokens)
      return InvalidArgument("ngram_widths must be in [1, {}], got {}", kMaxTokens, width);
  return OkStatus();
}

Result<std::array<Shape, 2>> StringNGrams::InferShape(const Shape& data,
                                                      const Shape& data_splits) const {
  TRY(CheckVector(data, "data"));
  TRY(CheckVector(data_splits, "data_splits"));
  return std::array<Shape, 2>{Shape{Shape::kUnknownDim}, data_splits};
}

// More pads than make every n-gram but one of pads alone are of no use.
int64_t StringNGrams::PadOf(int64_t width) const {
  return pad_width < 0 ? width - 1 : std::min(pad_width, width - 1);
}

Status StringNGrams::ComputeCpu(CpuContext& context, const Tensor& data,
                                const Tensor& data_splits) const {
  TRY_ASSIGN(const Tensor wide, WidenIndices(context, data_splits));
  const std::span<const int64_t> splits = wide.values<int64_t>();
  const int64_t num_tokens = data.num_elements();
  if (!splits.empty()) {
    if (splits.front() != 0)
      return InvalidArgument("data_splits must begin with 0, got {}", splits.front());
    for (size_t i = 1; i < splits.size(); ++i) {
      if (splits[i] < splits[i - 1] || splits[i] > num_tokens)
        return InvalidArgument("data_splits must be sorted and at most {}, got {} after {}",
                               num_tokens, splits[i], splits[i - 1]);
    }
    if (splits.back() != num_tokens)
      return InvalidArgument("data_splits must end with the number of tokens, {}, got {}",
                             num_tokens, splits.back());
  }
  // One n-gram: tokens [first, first + width) of a row that has `pads` pads on both sides.
  struct Gram {
    int64_t row, first, width, pads;
  };
  std::vector<Gram> grams;
  TRY(context.AllocateOutput(1, data_splits.dtype(), data_splits.shape()));
  const auto set_split = [&](size_t i) -> Status {
    const auto end = static_cast<int64_t>(grams.size());
    if (data_splits.dtype() == DType::kInt64) {
      context.output(1).mutable_data<int64_t>()[i] = end;
    } else if (end <= std::numeric_limits<int32_t>::max()) {
      context.output(1).mutable_data<int32_t>()[i] = static_cast<int32_t>(end);
    } else {
      return InvalidArgument("there are too many n-grams for splits of int32: {}", end);
    }
    return OkStatus();
  };
  int64_t budget = kMaxTokens;
  const auto add = [&](size_t row, int64_t count, int64_t width, int64_t pads) -> Status {
    const std::optional<int64_t> tokens = CheckedMul(count, width);
    if (!tokens.has_value() || *tokens > budget)
      return ResourceExhausted("{} n-grams of width {} are more than {} tokens in all", count,
                               width, kMaxTokens);
    budget -= *tokens;
    for (int64_t i = 0; i < count; ++i)
      grams.push_back({static_cast<int64_t>(row), i, width, pads});
    return OkStatus();
  };
  if (!splits.empty()) TRY(set_split(0));
  for (size_t row = 0; row + 1 < splits.size(); ++row) {
    const int64_t length = splits[row + 1] - splits[row];
    const size_t before = grams.size();
    for (const int64_t width : ngram_widths) {
      const int64_t pads = PadOf(width);
      const int64_t count = length + 2 * pads - width + 1;
      if (count > 0) TRY(add(row, count, width, pads));
    }
    // No width took all of a short row: then all of it, with its pads, is one. With as many pads as
    // a width takes there is no short row.
    if (preserve_short_sequences && grams.size() == before && length > 0 && pad_width >= 0 &&
        !ngram_widths.empty())
      TRY(add(row, 1, length + 2 * pad_width, pad_width));
    TRY(set_split(row + 1));
  }
  TRY(context.AllocateOutput(0, DType::kString, Shape{static_cast<int64_t>(grams.size())}));
  std::string* to = context.output(0).mutable_data<std::string>();
  for (const Gram& gram : grams) {
    const int64_t begin = splits[gram.row], end = splits[gram.row + 1];
    for (int64_t i = gram.first; i < gram.first + gram.width; ++i) {
      if (i > gram.first) *to += separator;
      const int64_t token = begin + i - gram.pads;
      *to += token < begin ? left_pad : token < end ? data.data<std::string>()[token] : right_pad;
    }
    ++to;
  }
  return OkStatus();
}

void RegisterTextSplit(Registrar& registrar) {
  registrar.AddAll<StringSplit, StringSplitV2, StringNGrams>();
}

}  // namespace penstock::ops
