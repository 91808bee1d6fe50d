#include "penstock/graph/attr_value.h"

#include <cstring>

#include "penstock/core/resource.h"

namespace penstock {
namespace {

constexpr std::string_view kKindNames[] = {
    "nothing",      "string",       "int",         "float",       "bool",
    "type",         "shape",        "tensor",      "func",        "list",
    "list(string)", "list(int)",    "list(float)", "list(bool)",  "list(type)",
    "list(shape)",  "list(tensor)", "list(func)",  "placeholder", "unknown"};
static_assert(std::size(kKindNames) == std::variant_size_v<AttrValue::Value>);

struct Printer {
  std::string operator()(std::monostate) const { return "<none>"; }
  std::string operator()(const std::string& v) const { return "\"" + Printable(v) + "\""; }
  std::string operator()(int64_t v) const { return std::to_string(v); }
  std::string operator()(float v) const { return FormatArg(v).text(); }
  std::string operator()(bool v) const { return v ? "true" : "false"; }
  std::string operator()(DType v) const { return std::string(penstock::ToString(v)); }
  std::string operator()(const Shape& v) const { return v.ToString(); }
  std::string operator()(const Tensor& v) const { return v.ToString(8); }
  std::string operator()(const FunctionName& v) const { return Printable(v.name); }
  std::string operator()(AttrValue::EmptyList) const { return "[]"; }
  std::string operator()(const AttrValue::Placeholder& v) const { return "$" + Printable(v.name); }
  std::string operator()(const AttrValue::Opaque&) const { return "<unknown>"; }
  template <class V>
  std::string operator()(const std::vector<V>& list) const {
    std::string out = "[";
    for (size_t i = 0; i < list.size() && i < 16; ++i) {
      if (i > 0) out += ", ";
      out += (*this)(static_cast<const V&>(list[i]));
    }
    return out + (list.size() > 16 ? ", ...]" : "]");
  }
};

bool Same(const Shape& a, const Shape& b) { return a == b; }
bool Same(const Tensor& a, const Tensor& b) { return SameContent(a, b); }
bool Same(const FunctionName& a, const FunctionName& b) {
  return a.name == b.name && a.attrs == b.attrs;
}
bool Same(std::monostate, std::monostate) { return true; }
bool Same(AttrValue::EmptyList, AttrValue::EmptyList) { return true; }
bool Same(const AttrValue::Placeholder& a, const AttrValue::Placeholder& b) {
  return a.name == b.name;
}
bool Same(const AttrValue::Opaque& a, const AttrValue::Opaque& b) { return a.wire == b.wire; }
bool Same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }
template <class V>
bool Same(const V& a, const V& b) {
  return a == b;
}
template <class V>
bool Same(const std::vector<V>& a, const std::vector<V>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Same(static_cast<const V&>(a[i]), static_cast<const V&>(b[i]))) return false;
  }
  return true;
}

}  // namespace

bool SameContent(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.shape() == b.shape())) return false;
  if (!a.initialized()) return true;
  switch (a.dtype()) {
    case DType::kString:
      for (int64_t i = 0; i < a.num_elements(); ++i) {
        if (a.data<std::string>()[i] != b.data<std::string>()[i]) return false;
      }
      return true;
    case DType::kResource:
    case DType::kVariant:
      return a.raw() == b.raw();
    default:
      return a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
  }
}

AttrValue::AttrValue() = default;
AttrValue::AttrValue(const AttrValue& other) = default;
AttrValue::AttrValue(AttrValue&& other) noexcept = default;
AttrValue& AttrValue::operator=(const AttrValue& other) = default;
AttrValue& AttrValue::operator=(AttrValue&& other) noexcept = default;
AttrValue::~AttrValue() = default;

std::string_view AttrValue::KindName() const { return kKindNames[value_.index()]; }

std::string AttrValue::ToString() const { return std::visit(Printer{}, value_); }

bool AttrValue::operator==(const AttrValue& other) const {
  if (value_.index() != other.value_.index()) return false;
  return std::visit(
      [&](const auto& mine) {
        return Same(mine, std::get<std::remove_cvref_t<decltype(mine)>>(other.value_));
      },
      value_);
}

const AttrValue* FindAttr(const AttrMap& attrs, std::string_view name) {
  for (const auto& [key, value] : attrs) {
    if (key == name) return &value;
  }
  return nullptr;
}

void SetAttr(AttrMap& attrs, std::string_view name, AttrValue value) {
  for (auto& [key, old] : attrs) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  attrs.emplace_back(std::string(name), std::move(value));
}

}  // namespace penstock
