#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/graph/attr_value.h"

namespace penstock {

// An input or output of an op. Exactly one of: a fixed dtype, `type_attr`, `type_list_attr`; with
// `number_attr` a list of that many of the same type.
struct ArgDef {
  std::string name;
  DType dtype = DType::kInvalid;
  std::string type_attr;
  std::string number_attr;
  std::string type_list_attr;
  bool is_ref = false;
};

struct AttrDef {
  std::string name;
  std::string kind;  // "int", "type", "list(shape)", ... as AttrValue::KindName
  std::optional<AttrValue> default_value;
  std::optional<int64_t> minimum;            // of an int, or of a list's length
  std::vector<DType> allowed_types;          // empty: any
  std::vector<std::string> allowed_strings;  // empty: any
};

// What an op looks like from outside: TensorFlow's OpDef as plain data.
struct OpDef {
  std::string name;
  std::vector<ArgDef> inputs;
  std::vector<ArgDef> outputs;
  std::vector<AttrDef> attrs;
  bool is_stateful = false;
  bool is_commutative = false;
  bool is_aggregate = false;
  bool allows_uninitialized_input = false;

  const AttrDef* FindAttr(std::string_view attr_name) const {
    for (const AttrDef& attr : attrs) {
      if (attr.name == attr_name) return &attr;
    }
    return nullptr;
  }
};

}  // namespace penstock
