#include "penstock/core/dtype.h"

#include "penstock/core/resource.h"

namespace penstock {
namespace {

struct Row {
  std::string_view name = "invalid";
  size_t size = 0;
};

constexpr auto kRows = [] {
  struct {
    Row rows[kNumDTypes];
  } table;
#define PENSTOCK_ROW(type, value, text) \
  table.rows[static_cast<int>(DType::value)] = {text, sizeof(type)};
  PENSTOCK_DTYPES(PENSTOCK_ROW)
#undef PENSTOCK_ROW
  return table;
}();

const Row& RowOf(DType dtype) {
  const int index = static_cast<int>(dtype);
  return kRows.rows[index < kNumDTypes ? index : 0];
}

}  // namespace

std::string_view ToString(DType dtype) { return RowOf(dtype).name; }

size_t SizeOf(DType dtype) { return RowOf(dtype).size; }

std::optional<DType> ParseDType(std::string_view name) {
  std::string lower;
  if (name.starts_with("DT_")) {
    for (const char c : name.substr(3))
      lower.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c));
    name = lower;
  }
  if (name == "float32") return DType::kFloat;
  if (name == "float64") return DType::kDouble;
  if (name == "float16") return DType::kHalf;
  for (int i = 1; i < kNumDTypes; ++i) {
    if (kRows.rows[i].name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

bool IsInteger(DType dtype) {
  switch (dtype) {
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kUint8:
    case DType::kUint16:
    case DType::kUint32:
    case DType::kUint64:
      return true;
    default:
      return false;
  }
}

std::string ToString(const std::vector<DType>& dtypes) {
  std::string out = "[";
  for (const DType dtype : dtypes) {
    if (out.size() > 1) out += ", ";
    out += ToString(dtype);
  }
  return out + "]";
}

}  // namespace penstock
