#include "penstock/graph/text_literal.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "penstock/core/resource.h"

namespace penstock {
namespace {

constexpr int kMaxDepth = 64;

bool IsWordChar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view("_.-+/>\\").find(c) != std::string_view::npos;
}

bool LooksLikeNumber(std::string_view word) {
  if (word == "nan" || word == "inf") return true;
  const size_t digit = word.find_first_not_of("+-.");
  if (digit == std::string_view::npos || digit > 2) return false;
  return (word[digit] >= '0' && word[digit] <= '9') || word.substr(digit) == "inf";
}

// The whole text as a number, or nothing.
template <class T>
std::optional<T> ParseNumber(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  T value;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// One element of a tensor of T.
template <class T>
std::optional<T> ToElement(const Literal& literal) {
  if constexpr (std::is_same_v<T, std::string>) {
    return literal.kind == Literal::kString ? std::optional<T>(literal.text) : std::nullopt;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (literal.kind == Literal::kBool) return literal.text == "true";
    if (literal.kind == Literal::kNumber && (literal.text == "0" || literal.text == "1")) {
      return literal.text == "1";
    }
    return std::nullopt;
  } else if constexpr (std::is_same_v<T, complex64> || std::is_same_v<T, complex128>) {
    using Real = typename T::value_type;
    const bool pair = literal.kind == Literal::kComplex;
    const auto real = ToElement<Real>(pair ? literal.items[0] : literal);
    const auto imaginary = pair ? ToElement<Real>(literal.items[1]) : Real(0);
    if (!real || !imaginary) return std::nullopt;
    return T(*real, *imaginary);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return literal.kind == Literal::kNumber ? ParseNumber<T>(literal.text) : std::nullopt;
  } else if constexpr (kIsFloat16<T>) {
    const auto value = ToElement<float>(literal);
    return value ? std::optional<T>(T(*value)) : std::nullopt;
  } else {  // quantised
    const auto value = ToElement<decltype(T::value)>(literal);
    return value ? std::optional<T>(T{*value}) : std::nullopt;
  }
}

// The literals that are no lists, in order.
class Flattened {
 public:
  explicit Flattened(const TextCursor& cursor) : cursor_(cursor) {}

  // The shape is that of the first element of each list; the others must agree.
  Status Add(const Literal& literal, size_t depth = 0) {
    if (literal.kind != Literal::kList) {
      if (depth != dims.size())
        return cursor_.Error(literal.at, "the lists of a tensor are of different depths");
      leaves.push_back(&literal);
      return OkStatus();
    }
    const auto size = static_cast<int64_t>(literal.items.size());
    if (depth == dims.size()) {
      if (!leaves.empty() || closed_)
        return cursor_.Error(literal.at, "the lists of a tensor are of different depths");
      dims.push_back(size);
    } else if (dims[depth] != size) {
      return cursor_.Error(
          literal.at,
          Format("the lists of a tensor are of different lengths: {} vs {}", dims[depth], size));
    }
    for (const Literal& item : literal.items) TRY(Add(item, depth + 1));
    closed_ = true;
    return OkStatus();
  }

  std::vector<int64_t> dims;
  std::vector<const Literal*> leaves;

 private:
  const TextCursor& cursor_;
  bool closed_ = false;  // the depth is known: a list has ended
};

DType GuessDType(const std::vector<const Literal*>& leaves) {
  auto any = [&](Literal::Kind kind) {
    return std::any_of(leaves.begin(), leaves.end(),
                       [&](const Literal* leaf) { return leaf->kind == kind; });
  };
  if (any(Literal::kString)) return DType::kString;
  if (any(Literal::kBool)) return DType::kBool;
  return any(Literal::kComplex) ? DType::kComplex64 : DType::kFloat;
}

// The kind of attribute that a literal looks like.
std::string GuessKind(const Literal& literal) {
  if (literal.dtype) return "tensor";
  switch (literal.kind) {
    case Literal::kNumber:
      return ParseNumber<int64_t>(literal.text) ? "int" : "float";
    case Literal::kBool:
      return "bool";
    case Literal::kString:
      return "string";
    case Literal::kComplex:
      return "tensor";
    case Literal::kType:
      return "type";
    case Literal::kUnknown:
      return "shape";
    case Literal::kFunction:
      return "func";
    case Literal::kList:
      break;
  }
  if (literal.items.empty()) return "list(int)";
  std::string kind = GuessKind(literal.items[0]);
  for (const Literal& item : literal.items) {
    const std::string other = GuessKind(item);
    if (item.kind == Literal::kUnknown) return "shape";
    if (item.kind == Literal::kList) return "tensor";
    if (other == "float" && kind == "int") kind = other;
  }
  return "list(" + kind + ")";
}

Status WrongKind(const TextCursor& cursor, const Literal& literal, std::string_view wanted) {
  return cursor.Error(literal.at, Format("expected {}", wanted));
}

Result<Shape> ToShape(const TextCursor& cursor, const Literal& literal) {
  if (literal.kind == Literal::kUnknown) return Shape::Unknown();
  if (literal.kind != Literal::kList) return WrongKind(cursor, literal, "a shape like [2,?]");
  std::vector<int64_t> dims;
  for (const Literal& item : literal.items) {
    const auto extent =
        item.kind == Literal::kUnknown ? std::optional<int64_t>(-1) : ToElement<int64_t>(item);
    if (!extent) return WrongKind(cursor, item, "an extent or ?");
    dims.push_back(*extent);
  }
  Result<Shape> shape = Shape::Make(dims);
  if (!shape.ok()) return cursor.Annotate(literal.at, shape.status());
  return shape;
}

// One value of a kind that is no list.
Result<AttrValue> ToSingle(const TextCursor& cursor, const Literal& literal, std::string_view kind,
                           std::optional<DType> tensor_dtype) {
  if (kind == "shape") {
    TRY_ASSIGN(Shape shape, ToShape(cursor, literal));
    return AttrValue(std::move(shape));
  }
  if (kind == "tensor") {
    TRY_ASSIGN(Tensor tensor,
               LiteralToTensor(cursor, literal, literal.dtype ? literal.dtype : tensor_dtype));
    return AttrValue(std::move(tensor));
  }
  if (literal.dtype)
    return WrongKind(cursor, literal, Format("a value of kind {}, not a tensor", kind));
  if (kind == "int") {
    if (const auto value = ToElement<int64_t>(literal)) return AttrValue(*value);
  } else if (kind == "float") {
    if (const auto value = ToElement<float>(literal)) return AttrValue(*value);
  } else if (kind == "bool") {
    if (literal.kind == Literal::kBool) return AttrValue(literal.text == "true");
  } else if (kind == "string") {
    if (literal.kind == Literal::kString) return AttrValue(literal.text);
  } else if (kind == "func") {
    if (literal.kind == Literal::kFunction) return AttrValue(FunctionName{literal.text, {}});
  } else if (kind == "type") {
    if (literal.kind == Literal::kType) return AttrValue(*ParseDType(literal.text));
  }
  return WrongKind(cursor, literal, Format("a value of kind {}", kind));
}

template <class V>
Result<AttrValue> ToList(const TextCursor& cursor, const Literal& literal,
                         std::string_view item_kind, std::optional<DType> tensor_dtype) {
  std::vector<V> values;
  for (const Literal& item : literal.items) {
    TRY_ASSIGN(const AttrValue value, ToSingle(cursor, item, item_kind, tensor_dtype));
    values.push_back(*value.Get<V>());
  }
  return AttrValue(std::move(values));
}

Result<Literal> TakeNested(TextCursor* cursor, int depth);

// After "[".
Result<Literal> TakeList(TextCursor* cursor, size_t at, int depth) {
  if (depth > kMaxDepth)
    return cursor->Error(at, Format("lists are nested more than {} deep", kMaxDepth));
  Literal list{.kind = Literal::kList, .at = at};
  if (cursor->Take(']')) return list;
  do {
    TRY_ASSIGN(Literal item, TakeNested(cursor, depth));
    list.items.push_back(std::move(item));
  } while (cursor->Take(','));
  TRY(cursor->Expect(']'));
  return list;
}

Result<Literal> TakeComplex(TextCursor* cursor, size_t at) {
  Literal number{.kind = Literal::kComplex, .at = at};
  for (const char end : {',', ')'}) {
    cursor->Peek();
    Literal part{.kind = Literal::kNumber, .at = cursor->at()};
    part.text = cursor->TakeWord();
    if (!LooksLikeNumber(part.text)) return cursor->Error(part.at, "expected a number");
    number.items.push_back(std::move(part));
    TRY(cursor->Expect(end));
  }
  return number;
}

Result<Literal> TakeNested(TextCursor* cursor, int depth) {
  const char next = cursor->Peek();
  const size_t at = cursor->at();
  if (cursor->Take('[')) return TakeList(cursor, at, depth + 1);
  if (cursor->Take('(')) return TakeComplex(cursor, at);
  if (cursor->Take('?')) return Literal{.kind = Literal::kUnknown, .at = at};
  if (next == '"') {
    std::optional<std::string> text = cursor->TakeString();
    if (!text) return cursor->Error(at, "the string does not end, or has a wrong escape");
    return Literal{.kind = Literal::kString, .at = at, .text = *std::move(text)};
  }
  if (cursor->Take('@')) {
    std::string name(cursor->TakeWord());
    if (name.empty()) return cursor->Error(at, "expected the name of a function after @");
    return Literal{.kind = Literal::kFunction, .at = at, .text = std::move(name)};
  }
  std::string word(cursor->TakeWord());
  if (word == "true" || word == "false")
    return Literal{.kind = Literal::kBool, .at = at, .text = std::move(word)};
  if (LooksLikeNumber(word))
    return Literal{.kind = Literal::kNumber, .at = at, .text = std::move(word)};
  const std::optional<DType> dtype = ParseDType(word);
  if (!dtype)
    return cursor->Error(
        at, word.empty() ? "expected a value" : "\"" + Printable(word) + "\" is no value");
  const char after = cursor->Peek();
  if (after == '[' || after == '(' || after == '"' || IsWordChar(after)) {
    if (depth > kMaxDepth)
      return cursor->Error(at, Format("values are nested more than {} deep", kMaxDepth));
    TRY_ASSIGN(Literal value, TakeNested(cursor, depth + 1));
    if (value.dtype || value.kind == Literal::kType)
      return cursor->Error(value.at, "expected a value after a dtype");
    value.dtype = dtype;
    return value;
  }
  return Literal{.kind = Literal::kType, .at = at, .text = std::move(word)};
}

}  // namespace

void TextCursor::Skip() {
  for (;;) {
    at_ = std::min(text_.size(), text_.find_first_not_of(" \t\r\n", at_));
    if (at_ == text_.size() || text_[at_] != '#') return;
    at_ = std::min(text_.size(), text_.find('\n', at_));
  }
}

bool TextCursor::AtEnd() {
  Skip();
  return at_ == text_.size();
}

char TextCursor::Peek() { return AtEnd() ? '\0' : text_[at_]; }

bool TextCursor::Take(char c) {
  if (AtEnd() || text_[at_] != c) return false;
  ++at_;
  return true;
}

Status TextCursor::Expect(char c) {
  if (Take(c)) return OkStatus();
  return Error(at_, Format("expected '{}'", std::string_view(&c, 1)));
}

std::string_view TextCursor::TakeWord() {
  Skip();
  const size_t begin = at_;
  while (at_ < text_.size() && IsWordChar(text_[at_])) ++at_;
  return text_.substr(begin, at_ - begin);
}

std::optional<std::string> TextCursor::TakeString() {
  if (!Take('"')) return std::nullopt;
  std::string out;
  for (; at_ < text_.size(); ++at_) {
    char c = text_[at_];
    if (c == '"') {
      ++at_;
      return out;
    }
    if (c == '\\') {
      if (++at_ == text_.size()) break;
      c = text_[at_];
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c == 'x') {
        uint8_t byte = 0;
        const std::string_view digits = text_.substr(at_ + 1, 2);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (error != std::errc() || end != digits.data() + 2) return std::nullopt;
        c = static_cast<char>(byte);
        at_ += 2;
      }
    }
    out.push_back(c);
  }
  return std::nullopt;
}

std::string TextCursor::Where(size_t at) const {
  const std::string_view before = text_.substr(0, at);
  const size_t line_start =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return Format("line {}, column {}", std::count(before.begin(), before.end(), '\n') + 1,
                at - line_start + 1);
}

Status TextCursor::Error(size_t at, std::string_view message) const {
  return InvalidArgument("{}: {}", Where(at), message);
}

Status TextCursor::Annotate(size_t at, const Status& status) const {
  return status.Annotate(Where(at));
}

Result<Literal> TakeLiteral(TextCursor* cursor) { return TakeNested(cursor, 0); }

Result<Tensor> LiteralToTensor(const TextCursor& cursor, const Literal& literal,
                               std::optional<DType> dtype) {
  Flattened flat(cursor);
  TRY(flat.Add(literal));
  const DType type = dtype ? *dtype : literal.dtype.value_or(GuessDType(flat.leaves));
  TRY_ASSIGN(const Shape shape, Shape::Make(flat.dims));
  TRY_ASSIGN(Tensor tensor, Tensor::Make(HostAllocator(), type, shape));
  auto fill = [&]<class T>(T*) -> Status {
    T* out = tensor.mutable_data<T>();
    for (const Literal* leaf : flat.leaves) {
      std::optional<T> element = ToElement<T>(*leaf);
      if (!element) return WrongKind(cursor, *leaf, Format("an element of dtype {}", type));
      *out++ = *std::move(element);
    }
    return OkStatus();
  };
  switch (type) {
#define PENSTOCK_FILL(type, value, name)                                                   \
  case DType::value:                                                                       \
    if constexpr (!std::is_same_v<type, ResourceHandle> && !std::is_same_v<type, Variant>) \
      TRY(fill(static_cast<type*>(nullptr)));                                              \
    else                                                                                   \
      return WrongKind(cursor, literal, "a dtype that can be written");                    \
    break;
    PENSTOCK_DTYPES(PENSTOCK_FILL)
#undef PENSTOCK_FILL
    case DType::kInvalid:
      return WrongKind(cursor, literal, "a dtype");
  }
  return tensor;
}

Result<AttrValue> LiteralToAttr(const TextCursor& cursor, const Literal& literal,
                                std::string_view kind, std::optional<DType> tensor_dtype) {
  if (kind.empty()) return LiteralToAttr(cursor, literal, GuessKind(literal), tensor_dtype);
  if (!kind.starts_with("list(")) return ToSingle(cursor, literal, kind, tensor_dtype);
  if (literal.kind != Literal::kList || literal.dtype)
    return WrongKind(cursor, literal, Format("a value of kind {}", kind));
  if (literal.items.empty()) return AttrValue(AttrValue::EmptyList{});
  const std::string_view item = kind.substr(5, kind.size() - 6);
  if (item == "string") return ToList<std::string>(cursor, literal, item, tensor_dtype);
  if (item == "int") return ToList<int64_t>(cursor, literal, item, tensor_dtype);
  if (item == "float") return ToList<float>(cursor, literal, item, tensor_dtype);
  if (item == "bool") return ToList<bool>(cursor, literal, item, tensor_dtype);
  if (item == "type") return ToList<DType>(cursor, literal, item, tensor_dtype);
  if (item == "shape") return ToList<Shape>(cursor, literal, item, tensor_dtype);
  if (item == "tensor") return ToList<Tensor>(cursor, literal, item, tensor_dtype);
  if (item == "func") return ToList<FunctionName>(cursor, literal, item, tensor_dtype);
  return WrongKind(cursor, literal, "an attribute of a known kind");
}

}  // namespace penstock
