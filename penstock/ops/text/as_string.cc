#include "penstock/ops/text/as_string.h"

#include <cinttypes>
#include <cstdio>
#include <type_traits>

#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/text/summarize.h"

namespace penstock::ops {
namespace {

// Of one number. printf takes more, but not sensibly.
constexpr int64_t kMaxWidth = 1 << 20;

// printf's format for one element: "%-8.3f".
std::string FormatOf(const AsString& op, std::string_view conversion) {
  std::string format = "%" + op.fill;
  if (op.width > -1) format += std::to_string(op.width);
  if (op.precision > -1) format += "." + std::to_string(op.precision);
  return format.append(conversion);
}

template <class... Args>
Status Print(std::string& to, const char* format, Args... args) {
  char buffer[64];
  const int length = std::snprintf(buffer, sizeof buffer, format, args...);
  if (length < 0) return InvalidArgument("the format {} cannot be printed", format);
  if (static_cast<size_t>(length) < sizeof buffer) {
    to.assign(buffer, static_cast<size_t>(length));
    return OkStatus();
  }
  to.resize(static_cast<size_t>(length));
  std::snprintf(to.data(), to.size() + 1, format, args...);
  return OkStatus();
}

// How printf takes a T: the conversion's letters, and the value as passed.
template <class T>
constexpr bool kIsComplexType = std::is_same_v<T, complex64> || std::is_same_v<T, complex128>;
template <class T>
auto Passed(T value) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>) {
    return static_cast<double>(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(value);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<int64_t>(value);
  } else {
    return static_cast<uint64_t>(value);
  }
}

}  // namespace

Status AsString::CheckAttrs() const {
  if (scientific && shortest) return InvalidArgument("scientific and shortest exclude each other");
  if (fill.size() > 1 ||
      (!fill.empty() && std::string_view(" +-0#").find(fill[0]) == std::string_view::npos))
    return InvalidArgument("fill must be one of ' ', '+', '-', '0', '#', got {}", Printable(fill));
  if (width > kMaxWidth || precision > kMaxWidth)
    return InvalidArgument("width and precision must be at most {}, got {} and {}", kMaxWidth,
                           width, precision);
  return OkStatus();
}

Status AsString::ComputeCpu(CpuContext&, const Tensor& input, Tensor& output) const {
  const DType dtype = input.dtype();
  const bool is_real = IsFloating(dtype) || IsComplex(dtype);
  if (!is_real && dtype != DType::kString && (scientific || shortest || precision > -1))
    return InvalidArgument("scientific, shortest and precision are of floating types, got {}",
                           dtype);
  std::string* to = output.mutable_data<std::string>();
  const int64_t n = input.num_elements();
  if (dtype == DType::kBool) {
    for (int64_t i = 0; i < n; ++i) to[i] = input.data<bool>()[i] ? "true" : "false";
    return OkStatus();
  }
  if (dtype == DType::kString) {
    // printf has no fill of zeros for strings, and would cut at a zero byte.
    const bool left = fill == "-";
    for (int64_t i = 0; i < n; ++i) {
      const std::string& text = input.data<std::string>()[i];
      const auto length = static_cast<int64_t>(text.size());
      const std::string padding(width > length ? static_cast<size_t>(width - length) : 0, ' ');
      to[i] = left ? text + padding : padding + text;
    }
    return OkStatus();
  }
  const std::string real = FormatOf(*this, scientific ? "e" : shortest ? "g" : "f");
  const std::string pair = "(" + real + "," + real + ")";
  const std::string integer = FormatOf(*this, PRId64);
  const std::string natural = FormatOf(*this, PRIu64);
  return ForDType(dtype, PlainNumbers(), [&]<class T>() {
    const T* from = input.data<T>();
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (kIsComplexType<T>) {
        TRY(Print(to[i], pair.c_str(), static_cast<double>(from[i].real()),
                  static_cast<double>(from[i].imag())));
      } else {
        const auto passed = Passed(from[i]);
        using P = decltype(passed);
        const std::string& format = std::is_same_v<P, const double>    ? real
                                    : std::is_same_v<P, const int64_t> ? integer
                                                                       : natural;
        TRY(Print(to[i], format.c_str(), passed));
      }
    }
    return OkStatus();
  });
}

Result<Shape> StringFormat::InferShape(std::span<const Known> inputs) const {
  if (placeholder.empty()) return Shape();
  size_t found = 0;
  for (size_t at = pattern.find(placeholder); at != std::string::npos;
       at = pattern.find(placeholder, at + placeholder.size()))
    ++found;
  if (found != inputs.size())
    return InvalidArgument("num placeholders in template and num inputs must match: {} vs. {}",
                           found, inputs.size());
  return Shape();
}

Status StringFormat::ComputeCpu(CpuContext&, std::span<Tensor* const> inputs,
                                Tensor& output) const {
  std::string& to = *output.mutable_data<std::string>();
  size_t at = 0;
  for (const Tensor* input : inputs) {
    const size_t next = pattern.find(placeholder, at);
    if (next == std::string::npos) break;
    to.append(pattern, at, next - at);
    AppendSummary(*input, summarize, &to);
    at = next + placeholder.size();
  }
  to.append(pattern, at, std::string::npos);
  return OkStatus();
}

void RegisterAsString(Registrar& registrar) { registrar.AddAll<AsString, StringFormat>(); }

}  // namespace penstock::ops
