#include "penstock/ops/text/icu.h"

#include <utility>

#ifdef PENSTOCK_ICU

#include <unicode/ucnv.h>
#include <unicode/uscript.h>
#include <unicode/ustring.h>

#include <vector>

namespace penstock::ops {
namespace {

constexpr UChar32 kReplacement = 0xFFFD;

Status IcuError(std::string_view what, UErrorCode code) {
  return Internal("ICU: {}: {}", what, u_errorName(code));
}

// ICU measures in int32; a letter may become three.
Status CheckLength(size_t bytes) {
  constexpr size_t kMost = 256 << 20;
  if (bytes <= kMost) return OkStatus();
  return ResourceExhausted("expected a string of at most {} bytes, got {}", kMost, bytes);
}

}  // namespace

Result<std::string> ChangeCaseOfUtf8(std::string_view text, bool upper) {
  TRY(CheckLength(text.size()));
  std::vector<UChar> wide(text.size() + 1);
  UErrorCode error = U_ZERO_ERROR;
  int32_t length = 0;
  u_strFromUTF8WithSub(wide.data(), static_cast<int32_t>(wide.size()), &length, text.data(),
                       static_cast<int32_t>(text.size()), kReplacement, nullptr, &error);
  if (U_FAILURE(error)) return IcuError("cannot read UTF-8", error);
  std::vector<UChar> changed(wide.size() + 16);
  const auto change = [&] {
    error = U_ZERO_ERROR;
    return (upper ? u_strToUpper : u_strToLower)(
        changed.data(), static_cast<int32_t>(changed.size()), wide.data(), length, "", &error);
  };
  int32_t new_length = change();
  if (error == U_BUFFER_OVERFLOW_ERROR) {
    changed.resize(static_cast<size_t>(new_length) + 1);
    new_length = change();
  }
  if (U_FAILURE(error)) return IcuError("cannot change the case", error);
  std::string out(static_cast<size_t>(new_length) * 3 + 1, '\0');
  int32_t bytes = 0;
  u_strToUTF8WithSub(out.data(), static_cast<int32_t>(out.size()), &bytes, changed.data(),
                     new_length, kReplacement, nullptr, &error);
  if (U_FAILURE(error)) return IcuError("cannot write UTF-8", error);
  out.resize(static_cast<size_t>(bytes));
  return out;
}

Result<int32_t> ScriptOf(int32_t code) {
  UErrorCode error = U_ZERO_ERROR;
  const UScriptCode script = uscript_getScript(code, &error);
  return U_SUCCESS(error) ? script : -1;
}

Result<IcuDecoder> IcuDecoder::Open(const std::string& name) {
  UErrorCode error = U_ZERO_ERROR;
  UConverter* converter = ucnv_open(name.c_str(), &error);
  if (U_FAILURE(error)) return InvalidArgument("there is no encoding {}", Printable(name));
  IcuDecoder decoder(converter);
  ucnv_setToUCallBack(converter, UCNV_TO_U_CALLBACK_STOP, nullptr, nullptr, nullptr, &error);
  if (U_FAILURE(error)) return IcuError("cannot set a callback", error);
  return decoder;
}

IcuDecoder::~IcuDecoder() {
  if (converter_ != nullptr) ucnv_close(static_cast<UConverter*>(converter_));
}

void IcuDecoder::Decode(std::string_view text, uint32_t* code, size_t* bytes, bool* malformed) {
  auto* converter = static_cast<UConverter*>(converter_);
  UErrorCode error = U_ZERO_ERROR;
  const char* at = text.data();
  const UChar32 found = ucnv_getNextUChar(converter, &at, text.data() + text.size(), &error);
  *malformed = U_FAILURE(error);
  *code = static_cast<uint32_t>(*malformed ? kReplacement : found);
  *bytes = std::max<size_t>(static_cast<size_t>(at - text.data()), 1);
  if (*malformed) ucnv_resetToUnicode(converter);
}

}  // namespace penstock::ops

#else

namespace penstock::ops {
namespace {

Status NoIcu(std::string_view what) {
  return Unimplemented("{} needs ICU, which this build does not have (libicu-dev)", what);
}

}  // namespace

Result<std::string> ChangeCaseOfUtf8(std::string_view, bool) {
  return NoIcu("changing the case of UTF-8");
}
Result<int32_t> ScriptOf(int32_t) { return NoIcu("telling scripts apart"); }
Result<IcuDecoder> IcuDecoder::Open(const std::string& name) {
  return NoIcu(Format("the encoding {}", Printable(name)));
}
IcuDecoder::~IcuDecoder() = default;
void IcuDecoder::Decode(std::string_view, uint32_t*, size_t*, bool*) {}

}  // namespace penstock::ops

#endif

namespace penstock::ops {

IcuDecoder::IcuDecoder(IcuDecoder&& other) noexcept
    : converter_(std::exchange(other.converter_, nullptr)) {}

}  // namespace penstock::ops
