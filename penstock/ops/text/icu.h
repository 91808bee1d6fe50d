#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "penstock/core/status.h"

// What needs the tables of Unicode: ICU, an optional part of the build (libicu-dev). Without it
// each answers Unimplemented and names the package.

namespace penstock::ops {

// All letters of UTF-8 text in the other case, by the rules of no language in particular. Malformed
// bytes become U+FFFD.
Result<std::string> ChangeCaseOfUtf8(std::string_view text, bool upper);

// ICU's number of the script that a code point belongs to (UScriptCode); -1 when it is none.
Result<int32_t> ScriptOf(int32_t code);

// Converts text of an encoding that only ICU knows, by its name.
class IcuDecoder {
 public:
  // InvalidArgument when there is no such encoding.
  static Result<IcuDecoder> Open(const std::string& name);
  IcuDecoder(IcuDecoder&& other) noexcept;
  IcuDecoder& operator=(IcuDecoder&&) = delete;
  ~IcuDecoder();

  // The code point at the beginning of `text`, as DecodeOne gives it. REQUIRES: not empty.
  void Decode(std::string_view text, uint32_t* code, size_t* bytes, bool* malformed);

 private:
  explicit IcuDecoder(void* converter) : converter_(converter) {}
  void* converter_;
};

}  // namespace penstock::ops
