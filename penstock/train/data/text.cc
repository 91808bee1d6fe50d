#include "penstock/train/data/text.h"

#include <algorithm>
#include <utility>

#include "penstock/io/open_any.h"
#include "penstock/train/data/memory.h"
#include "penstock/train/data/rows.h"

namespace penstock {
namespace {

using data::Cursor;
using data::Element;
using data::Pass;
using data::Stage;
using data::StagePtr;

class LinesCursor final : public Cursor {
 public:
  LinesCursor(io::InputStream stream, Pass pass)
      : stream_(std::move(stream)), pass_(std::move(pass)) {}
  Result<bool> Next(Element* element) override {
    const uint64_t before = stream_.offset();
    std::string line;
    TRY_ASSIGN(const bool more, stream_.ReadLine(&line));
    pass_.counters->bytes += static_cast<int64_t>(stream_.offset() - before);
    if (more) *element = {Tensor::Scalar(std::move(line))};
    return more;
  }

 private:
  io::InputStream stream_;
  const Pass pass_;
};

class Lines final : public Stage {
 public:
  explicit Lines(std::string path) : path_(std::move(path)) {}
  Result<std::unique_ptr<Cursor>> Open(const Pass& pass) const override {
    TRY_ASSIGN(io::InputStream stream, io::OpenAny(path_));
    return std::unique_ptr<Cursor>(new LinesCursor(std::move(stream), pass));
  }
  std::string Describe() const override { return path_; }

 private:
  const std::string path_;
};

// Windows of one vector of tokens. Window w has `rows` rows of `length` tokens: row r begins at w *
// stride + r * row_stride.
class Windows final : public Stage, public data::Indexed {
 public:
  Windows(std::vector<int32_t> tokens, int64_t count, int64_t length, int64_t stride, Shape shape,
          int64_t row_stride)
      : tokens_(std::move(tokens)),
        count_(count),
        length_(length),
        stride_(stride),
        shape_(std::move(shape)),
        row_stride_(row_stride) {}

  // Whoever opens it holds it.
  Result<std::unique_ptr<Cursor>> Open(const Pass&) const override { return data::ReadRows(this); }
  std::optional<int64_t> Size() const override { return count_; }
  std::string Describe() const override {
    return Format("tokens[{}] in windows of {}", tokens_.size(), shape_);
  }
  const data::Indexed* indexed() const override { return this; }
  int64_t num_rows() const override { return count_; }
  Result<Element> Row(int64_t row) const override {
    TRY_ASSIGN(Element rows, Rows({&row, 1}));
    for (Tensor& tensor : rows) tensor = tensor.Reshaped(shape_);
    return rows;
  }
  Result<Element> Rows(std::span<const int64_t> rows) const override {
    TRY_ASSIGN(Tensor inputs,
               data::MakeRows(static_cast<int64_t>(rows.size()), DType::kInt32, shape_));
    TRY_ASSIGN(Tensor targets,
               data::MakeRows(static_cast<int64_t>(rows.size()), DType::kInt32, shape_));
    const int64_t lines = shape_.num_elements() / length_;
    int64_t to = 0;
    for (const int64_t row : rows) {
      for (int64_t line = 0; line < lines; ++line, to += length_) {
        const int32_t* from = tokens_.data() + row * stride_ + line * row_stride_;
        std::copy_n(from, length_, inputs.mutable_data<int32_t>() + to);
        std::copy_n(from + 1, length_, targets.mutable_data<int32_t>() + to);
      }
    }
    return Element{std::move(inputs), std::move(targets)};
  }

 private:
  const std::vector<int32_t> tokens_;
  const int64_t count_, length_, stride_;
  const Shape shape_;
  const int64_t row_stride_;
};

template <class Each>
void ForEachWord(std::string_view text, Each each) {
  constexpr std::string_view kBlanks = " \t\r\n\f\v";
  for (size_t at = text.find_first_not_of(kBlanks); at != std::string_view::npos;) {
    const size_t end = std::min(text.find_first_of(kBlanks, at), text.size());
    each(text.substr(at, end - at));
    at = text.find_first_not_of(kBlanks, end);
  }
}

}  // namespace

Dataset<Array<std::string>> TextLines(std::string path) {
  return Dataset<Array<std::string>>(std::make_shared<Lines>(std::move(path)));
}

std::string ReadText(const std::string& path, int64_t limit) {
  io::InputStream stream = OrThrow(io::OpenAny(path));
  std::string text;
  const size_t got = OrThrow(stream.Read(static_cast<size_t>(limit) + 1, &text));
  if (got > static_cast<size_t>(limit))
    throw Error(ResourceExhausted("{}: the text is longer than {} bytes", Printable(path), limit));
  return text;
}

Vocabulary Vocabulary::Characters(std::string_view text) {
  bool there[256] = {};
  for (const char c : text) there[static_cast<uint8_t>(c)] = true;
  Vocabulary vocabulary;
  for (int c = 0; c < 256; ++c) {
    if (!there[c]) continue;
    const std::string token(1, static_cast<char>(c));
    vocabulary.ids_.emplace(token, static_cast<int32_t>(vocabulary.tokens_.size()));
    vocabulary.tokens_.push_back(token);
  }
  return vocabulary;
}

Vocabulary Vocabulary::Words(std::string_view text, int64_t size) {
  if (size < 1 || size > INT32_MAX)
    throw Error(InvalidArgument("a vocabulary must have 1 to 2^31 - 1 words, got {}", size));
  std::unordered_map<std::string, int64_t> counts;
  ForEachWord(text, [&](std::string_view word) { ++counts[std::string(word)]; });
  Vocabulary vocabulary;
  vocabulary.words_ = true;
  vocabulary.tokens_ = {"<unk>"};
  counts.erase("<unk>");
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  for (const auto& [word, count] : sorted) {
    if (vocabulary.size() == size) break;
    vocabulary.tokens_.push_back(word);
  }
  for (size_t i = 0; i < vocabulary.tokens_.size(); ++i)
    vocabulary.ids_.emplace(vocabulary.tokens_[i], static_cast<int32_t>(i));
  return vocabulary;
}

int32_t Vocabulary::Id(std::string_view token) const {
  const auto at = ids_.find(std::string(token));
  if (at != ids_.end()) return at->second;
  if (!words_) throw Error(NotFound("{} is not in the vocabulary", Printable(token)));
  return 0;
}

std::vector<int32_t> Vocabulary::Encode(std::string_view text) const {
  std::vector<int32_t> ids;
  if (words_) {
    ForEachWord(text, [&](std::string_view word) { ids.push_back(Id(word)); });
  } else {
    for (size_t i = 0; i < text.size(); ++i) ids.push_back(Id(text.substr(i, 1)));
  }
  return ids;
}

std::string Vocabulary::Decode(const std::vector<int32_t>& ids) const {
  std::string text;
  for (const int32_t id : ids) {
    if (words_ && !text.empty()) text += ' ';
    text += token(id);
  }
  return text;
}

Dataset<TokenWindow> TokenWindows(std::vector<int32_t> tokens, int64_t length, int64_t stride) {
  const auto total = static_cast<int64_t>(tokens.size());
  if (stride == 0) stride = length;
  if (length < 1 || stride < 1 || length >= total)
    throw Error(
        InvalidArgument("windows must have 1 to {} tokens and a positive stride, got {} and {}",
                        total - 1, length, stride));
  const int64_t count = (total - 1 - length) / stride + 1;
  return Dataset<TokenWindow>(
      std::make_shared<Windows>(std::move(tokens), count, length, stride, Shape{length}, 0));
}

Dataset<TokenWindow> TokenStream(std::vector<int32_t> tokens, int64_t batch, int64_t length) {
  const auto total = static_cast<int64_t>(tokens.size());
  const int64_t row = batch < 1 ? 0 : (total - 1) / batch;
  if (batch < 1 || length < 1 || length > row)
    throw Error(InvalidArgument("{} tokens do not make {} rows of {}", total, batch, length));
  return Dataset<TokenWindow>(std::make_shared<Windows>(std::move(tokens), row / length, length,
                                                        length, Shape{batch, length}, row));
}

}  // namespace penstock
