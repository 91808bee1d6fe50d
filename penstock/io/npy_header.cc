#include "penstock/io/npy_header.h"

#include <charconv>
#include <string>

#include "penstock/core/shape.h"

namespace penstock::io {
namespace {

// As much of Python as the header of an array needs.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  void SkipSpace() {
    while (!text_.empty() && (text_[0] == ' ' || text_[0] == '\n')) text_.remove_prefix(1);
  }
  bool TakeIf(std::string_view token) {
    SkipSpace();
    if (!text_.starts_with(token)) return false;
    text_.remove_prefix(token.size());
    return true;
  }
  Status Take(std::string_view token) {
    return TakeIf(token) ? OkStatus()
                         : DataLoss("the header of an array: expected '{}', got '{}'", token,
                                    Printable(text_.substr(0, 10)));
  }
  Result<std::string_view> TakeString() {
    SkipSpace();
    const char quote = text_.empty() ? '\0' : text_[0];
    if (quote == '[') return Unimplemented("arrays of records cannot be read");
    const size_t end = text_.find(quote, 1);
    if ((quote != '\'' && quote != '"') || end == std::string_view::npos)
      return DataLoss("the header of an array: expected a string");
    const std::string_view string = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return string;
  }
  Result<int64_t> TakeNumber() {
    SkipSpace();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0)
      return DataLoss("the header of an array: expected a number, got '{}'",
                      Printable(text_.substr(0, 10)));
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    TakeIf("L");  // of Python 2
    return value;
  }
  bool done() {
    SkipSpace();
    return text_.empty();
  }

 private:
  std::string_view text_;
};

// (), (2,), (2, 3) or (2, 3,)
Result<std::vector<int64_t>> TakeTuple(Scanner& scanner) {
  std::vector<int64_t> numbers;
  TRY(scanner.Take("("));
  while (!scanner.TakeIf(")")) {
    if (numbers.size() == Shape::kMaxRank)
      return Unimplemented("arrays of more than {} dimensions cannot be read", Shape::kMaxRank);
    TRY_ASSIGN(const int64_t number, scanner.TakeNumber());
    numbers.push_back(number);
    if (!scanner.TakeIf(",")) {
      TRY(scanner.Take(")"));
      break;
    }
  }
  return numbers;
}

// "<f4"
Status TakeDescr(Scanner& scanner, NpyDict* dict) {
  TRY_ASSIGN(const std::string_view descr, scanner.TakeString());
  if (descr.find('O') != std::string_view::npos)
    return Unimplemented("arrays of objects are pickles, which are code: they are not read");
  const char* const end = descr.data() + descr.size();
  if (descr.size() < 3 || std::string_view("<>|=").find(descr[0]) == std::string_view::npos)
    return Unimplemented("arrays of '{}' cannot be read", Printable(descr));
  dict->order = descr[0];
  dict->kind = descr[1];
  const auto [stop, error] = std::from_chars(descr.data() + 2, end, dict->size);
  if (error != std::errc() || stop != end || dict->size > INT32_MAX)
    return Unimplemented("arrays of '{}' cannot be read", Printable(descr));
  return OkStatus();
}

}  // namespace

Result<NpyDict> ParseNpyDict(std::string_view text) {
  NpyDict dict;
  Scanner scanner(text);
  int seen = 0;
  TRY(scanner.Take("{"));
  while (!scanner.TakeIf("}")) {
    TRY_ASSIGN(const std::string_view key, scanner.TakeString());
    TRY(scanner.Take(":"));
    int field = 0;
    if (key == "descr") {
      field = 1;
      TRY(TakeDescr(scanner, &dict));
    } else if (key == "fortran_order") {
      field = 2;
      dict.fortran_order = scanner.TakeIf("True");
      if (!dict.fortran_order) TRY(scanner.Take("False"));
    } else if (key == "shape") {
      field = 4;
      TRY_ASSIGN(dict.shape, TakeTuple(scanner));
    }
    if (field == 0 || (seen & field) != 0)
      return DataLoss("the header of an array: '{}' is not expected there", Printable(key));
    seen |= field;
    if (!scanner.TakeIf(",")) {
      TRY(scanner.Take("}"));
      break;
    }
  }
  if (seen != 7 || !scanner.done())
    return DataLoss("the header of an array: expected descr, fortran_order and shape alone");
  return dict;
}

}  // namespace penstock::io
