#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>

namespace penstock {

// One argument of Format, which it refers to: cheap to make where most are never read. Types take
// part by being a number, a string, or by having `std::string ToString() const`.
class FormatArg {
 public:
  FormatArg(std::string_view text) : text_(text) {}
  FormatArg(const std::string& text) : text_(text) {}
  FormatArg(const char* text) : text_(text) {}
  FormatArg(bool value) : text_(value ? "true" : "false") {}
  FormatArg(double value) : kind_(Kind::kReal), real_(value) {}
  FormatArg(float value) : FormatArg(static_cast<double>(value)) {}
  template <std::signed_integral I>
  FormatArg(I value) : kind_(Kind::kSigned), signed_(value) {}
  template <std::unsigned_integral I>
  requires(!std::same_as<I, bool>) FormatArg(I value) : kind_(Kind::kUnsigned), unsigned_(value) {}
  template <class E>
  requires std::is_enum_v<E> && requires(E e) { ToString(e); }
  FormatArg(const E& value) : kind_(Kind::kObject), object_{&value, &EnumText<E>} {}
  template <class V>
  requires requires(const V& v) {
    { v.ToString() } -> std::convertible_to<std::string>;
  }
  FormatArg(const V& value) : kind_(Kind::kObject), object_{&value, &ObjectText<V>} {}

  std::string text() const;

 private:
  enum class Kind : uint8_t { kText, kReal, kSigned, kUnsigned, kObject };
  struct Object {
    const void* value;
    std::string (*text)(const void* value);
  };

  template <class E>
  static std::string EnumText(const void* value) {
    return std::string(ToString(*static_cast<const E*>(value)));
  }
  template <class V>
  static std::string ObjectText(const void* value) {
    return static_cast<const V*>(value)->ToString();
  }

  Kind kind_ = Kind::kText;
  union {
    std::string_view text_;
    double real_;
    int64_t signed_;
    uint64_t unsigned_;
    Object object_;
  };
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
