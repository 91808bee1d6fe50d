#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace penstock {

// One argument of Format, already turned into text. Types take part by being a number, a string, or
// by having `std::string ToString() const`.
class FormatArg {
 public:
  FormatArg(std::string_view text) : text_(text) {}
  FormatArg(const std::string& text) : text_(text) {}
  FormatArg(const char* text) : text_(text) {}
  FormatArg(bool value) : text_(value ? "true" : "false") {}
  FormatArg(double value);
  FormatArg(float value) : FormatArg(static_cast<double>(value)) {}
  template <std::integral I>
  requires(!std::same_as<I, bool>) FormatArg(I value) : text_(std::to_string(value)) {}
  template <class E>
  requires std::is_enum_v<E> && requires(E e) { ToString(e); }
  FormatArg(E value) : text_(ToString(value)) {}
  template <class V>
  requires requires(const V& v) {
    { v.ToString() } -> std::convertible_to<std::string>;
  }
  FormatArg(const V& value) : text_(value.ToString()) {}

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Replaces each "{}" of `pattern` by the next argument. A surplus on either side is kept visible,
// never an error.
std::string FormatText(std::string_view pattern, std::initializer_list<FormatArg> args);

template <class... Args>
std::string Format(std::string_view pattern, const Args&... args) {
  return FormatText(pattern, {FormatArg(args)...});
}

// Cuts `text` to `limit` bytes and escapes what a terminal or a log should not see: names in
// messages come from files and peers.
std::string Printable(std::string_view text, size_t limit = 200);

}  // namespace penstock
