#include "penstock/ops/text/numbers.h"

#include <charconv>
#include <cstdlib>
#include <type_traits>

#include "penstock/ops/dtype_switch.h"

namespace penstock::ops {
namespace {

constexpr std::string_view kWhiteSpace = " \t\n\v\f\r";
using Parsed = Types<float, double, int32_t, int64_t, uint32_t, uint64_t>;

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kWhiteSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kWhiteSpace) + 1 - begin);
}

// Infinity or zero, where std::from_chars only says that it is one of them. Rare.
template <class T>
T OutOfRangeValue(std::string_view text) {
  const std::string terminated(text);
  if constexpr (std::is_same_v<T, float>) {
    return std::strtof(terminated.c_str(), nullptr);
  } else {
    return std::strtod(terminated.c_str(), nullptr);
  }
}

template <class T>
bool ParseFloating(std::string_view text, T* value) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) return false;
  std::chars_format format = std::chars_format::general;
  std::string_view digits = text;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    format = std::chars_format::hex;
    digits.remove_prefix(2);
    // "0xinf" is nothing.
    if (digits.empty() ||
        std::string_view("0123456789abcdefABCDEF.").find(digits[0]) == std::string_view::npos)
      return false;
  }
  const char* const end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, *value, format);
  if (at != end || digits.empty()) return false;
  if (error == std::errc::result_out_of_range) *value = OutOfRangeValue<T>(text);
  if (error != std::errc() && error != std::errc::result_out_of_range) return false;
  if (negative) *value = -*value;
  return true;
}

template <class T>
bool ParseInteger(std::string_view text, T* value) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, *value);
  return error == std::errc() && at == end && !text.empty();
}

}  // namespace

template <class T>
bool ParseNumber(std::string_view text, T* value) {
  text = Trimmed(text);
  if constexpr (std::is_floating_point_v<T>) {
    return ParseFloating(text, value);
  } else {
    return ParseInteger(text, value);
  }
}
template bool ParseNumber(std::string_view, float*);
template bool ParseNumber(std::string_view, double*);
template bool ParseNumber(std::string_view, int32_t*);
template bool ParseNumber(std::string_view, int64_t*);
template bool ParseNumber(std::string_view, uint32_t*);
template bool ParseNumber(std::string_view, uint64_t*);

Status StringToNumber::ComputeCpu(CpuContext&, const Tensor& input, Tensor& output) const {
  return ForDType(output.dtype(), Parsed(), [&]<class T>() -> Status {
    T* to = output.mutable_data<T>();
    for (const std::string& text : input.values<std::string>()) {
      if (!ParseNumber(text, to++))
        return InvalidArgument("StringToNumberOp could not correctly convert string: {}",
                               Printable(text));
    }
    return OkStatus();
  });
}

void RegisterTextNumbers(Registrar& registrar) { registrar.Add<StringToNumber>(); }

}  // namespace penstock::ops
