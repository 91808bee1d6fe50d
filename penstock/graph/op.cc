#include "penstock/graph/op.h"

namespace penstock::op_internal {

AttrDef& TypeAttr(OpDef& def, std::string_view name, std::vector<DType> allowed) {
  for (AttrDef& attr : def.attrs) {
    if (attr.name == name) return attr;
  }
  AttrDef& attr = def.attrs.emplace_back();
  attr.name = name;
  attr.kind = "type";
  attr.allowed_types = std::move(allowed);
  return attr;
}

void DescribeList(OpDef& def, std::string_view name, std::string_view kind, int minimum) {
  if (def.FindAttr(name) != nullptr) return;
  AttrDef& attr = def.attrs.emplace_back();
  attr.name = name;
  attr.kind = kind;
  attr.minimum = minimum;
}

void AddAttr(OpDef& def, std::string_view name, std::string_view kind,
             std::optional<AttrValue> default_value, int64_t minimum, std::string_view allowed) {
  // A field may hold the value of a type or length that the signature has already named.
  AttrDef* attr = const_cast<AttrDef*>(def.FindAttr(name));
  if (attr == nullptr) {
    attr = &def.attrs.emplace_back();
    attr->name = name;
    attr->kind = kind;
  }
  if (default_value && !attr->default_value) attr->default_value = std::move(default_value);
  if (minimum != INT64_MIN) attr->minimum = minimum;
  while (!allowed.empty()) {
    const size_t bar = allowed.find('|');
    const std::string_view one = allowed.substr(0, bar);
    if (kind != "type") {
      attr->allowed_strings.emplace_back(one);
    } else if (const std::optional<DType> dtype = ParseDType(one)) {
      // A type that no argument has: the signature cannot list what it may be.
      attr->allowed_types.push_back(*dtype);
    }
    allowed = bar == std::string_view::npos ? std::string_view() : allowed.substr(bar + 1);
  }
}

Status InferBroadcast(std::span<const Known> inputs, std::span<Shape> outputs) {
  Shape shape = inputs.empty() ? Shape() : *inputs[0].shape;
  for (size_t i = 1; i < inputs.size(); ++i) {
    TRY_ASSIGN(shape, BroadcastShapes(shape, *inputs[i].shape));
  }
  StoreShapes(std::move(shape), outputs);
  return OkStatus();
}

Status InferSame(std::span<const Known> inputs, std::span<Shape> outputs) {
  Shape shape = inputs.empty() ? Shape() : *inputs[0].shape;
  for (size_t i = 1; i < inputs.size(); ++i) {
    TRY_ASSIGN(shape, MergeShapes(shape, *inputs[i].shape));
  }
  StoreShapes(std::move(shape), outputs);
  return OkStatus();
}

}  // namespace penstock::op_internal
