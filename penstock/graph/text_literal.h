#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/core/status.h"
#include "penstock/graph/attr_value.h"

namespace penstock {

// Values in the text language of graphs (graph/text_graph.h):
//
//   literal = number | "true" | "false" | "nan" | "inf" | "-inf"
//           | '"' text '"'                 with \n \t \" \\ and \x41
//           | "(" number "," number ")"    a complex number
//           | dtype                        float, int32, ...
//           | dtype value                  a tensor: float[1,2], int64 7
//           | "?"                          an unknown extent, or a shape of unknown rank
//           | "@" function
//           | "[" [ literal { "," literal } ] "]"
//
// What a literal means depends on the kind of the attribute it is for.

// A place in a text.
class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  // All of these skip blanks and comments ("# ..." to the end of the line) first.
  bool AtEnd();
  // The next character, or 0.
  char Peek();
  // Goes past `c` if it is next.
  bool Take(char c);
  Status Expect(char c);
  // The longest run of letters, digits and _ . - + / > \, possibly empty. Names, numbers and words
  // look alike.
  std::string_view TakeWord();
  // Past a quoted string; nothing when it does not end or an escape is wrong.
  std::optional<std::string> TakeString();

  size_t at() const { return at_; }
  void set_at(size_t at) { at_ = at; }
  // InvalidArgument "line 3, column 7: ...".
  Status Error(size_t at, std::string_view message) const;
  Status Annotate(size_t at, const Status& status) const;

 private:
  void Skip();
  std::string Where(size_t at) const;

  std::string_view text_;
  size_t at_ = 0;
};

struct Literal {
  enum Kind { kNumber, kBool, kString, kComplex, kType, kUnknown, kFunction, kList };
  Kind kind = kNumber;
  size_t at = 0;                              // where it begins, for messages
  std::string text = {};                      // of a number, string, type or function
  std::vector<Literal> items = {};            // of a list, or the two parts of a complex number
  std::optional<DType> dtype = std::nullopt;  // written before the value
};

Result<Literal> TakeLiteral(TextCursor* cursor);
// As a tensor of `dtype`; without one of the dtype written with it, else string, bool or float as
// the elements look.
Result<Tensor> LiteralToTensor(const TextCursor& cursor, const Literal& literal,
                               std::optional<DType> dtype);
// As an attribute of that kind ("int", "list(shape)", ...); an empty kind takes it as it looks.
Result<AttrValue> LiteralToAttr(const TextCursor& cursor, const Literal& literal,
                                std::string_view kind, std::optional<DType> tensor_dtype);

}  // namespace penstock
