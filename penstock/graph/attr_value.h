#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "penstock/core/dtype.h"
#include "penstock/core/shape.h"
#include "penstock/core/tensor.h"

namespace penstock {

class AttrValue;

// A function by name, with the values of its attributes.
struct FunctionName {
  std::string name;
  std::vector<std::pair<std::string, AttrValue>> attrs;
};

// What an attribute of a node holds, one alternative for each kind that a GraphDef knows.
class AttrValue {
 public:
  // An empty list carries no element kind on the wire.
  struct EmptyList {};
  // "$T" inside a function body: the name of an attribute of the function.
  struct Placeholder {
    std::string name;
  };
  // A value this version does not understand, kept as it came.
  struct Opaque {
    std::string wire;
  };
  using Value =
      std::variant<std::monostate, std::string, int64_t, float, bool, DType, Shape, Tensor,
                   FunctionName, EmptyList, std::vector<std::string>, std::vector<int64_t>,
                   std::vector<float>, std::vector<bool>, std::vector<DType>, std::vector<Shape>,
                   std::vector<Tensor>, std::vector<FunctionName>, Placeholder, Opaque>;

  // Those that copy and destroy are defined in attr_value.cc: over so many alternatives they are
  // much code.
  AttrValue();
  AttrValue(const AttrValue& other);
  AttrValue(AttrValue&& other) noexcept;
  AttrValue& operator=(const AttrValue& other);
  AttrValue& operator=(AttrValue&& other) noexcept;
  ~AttrValue();
  template <class V>
  requires(!std::is_same_v<std::remove_cvref_t<V>, AttrValue> && std::is_constructible_v<Value, V>)
      AttrValue(V&& value)
      : value_(std::forward<V>(value)) {}
  AttrValue(int value) : value_(static_cast<int64_t>(value)) {}
  AttrValue(const char* value) : value_(std::string(value)) {}

  // The value as a V, or null when it is of another kind.
  template <class V>
  const V* Get() const {
    return std::get_if<V>(&value_);
  }
  const Value& value() const { return value_; }
  // As an OpDef spells it: "int", "list(type)", ...; "list" for an empty list.
  std::string_view KindName() const;
  // For messages and text graphs.
  std::string ToString() const;
  // Equal kind and value; tensors by content, bit for bit.
  bool operator==(const AttrValue& other) const;

 private:
  Value value_;
};

using AttrMap = std::vector<std::pair<std::string, AttrValue>>;  // small: searched linearly

// The attribute of that name, or null.
const AttrValue* FindAttr(const AttrMap& attrs, std::string_view name);
void SetAttr(AttrMap& attrs, std::string_view name, AttrValue value);
// Equal dtype, shape and bytes.
bool SameContent(const Tensor& a, const Tensor& b);

}  // namespace penstock
