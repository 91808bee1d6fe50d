#include "penstock/graph/op.h"

namespace penstock::op_internal {
namespace {

void DescribeType(const ArgSpec& arg, OpDef& def) {
  if (def.FindAttr(arg.type_attr) != nullptr) return;
  AttrDef& attr = def.attrs.emplace_back();
  attr.name = arg.type_attr;
  attr.kind = "type";
  attr.allowed_types.assign(arg.allowed.begin(), arg.allowed.end());
  if (arg.default_type != DType::kInvalid) attr.default_value = AttrValue(arg.default_type);
}

void DescribeList(std::string_view name, std::string_view kind, int minimum, OpDef& def) {
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
    if (kind != "type" && kind != "list(type)") {
      attr->allowed_strings.emplace_back(one);
    } else if (const std::optional<DType> dtype = ParseDType(one)) {
      // A type that no argument has, or a list: the signature cannot list what it may be.
      attr->allowed_types.push_back(*dtype);
    }
    allowed = bar == std::string_view::npos ? std::string_view() : allowed.substr(bar + 1);
  }
}

template <class V>
AttrValue ValueOf(const V& value) {
  if constexpr (requires { value.empty(); } && !std::is_same_v<V, std::string>) {
    if (value.empty()) return AttrValue(AttrValue::EmptyList{});
  }
  return AttrValue(value);
}

// A type that is deduced from the inputs.
template <class V>
bool IsDeduced(const V& value) {
  if constexpr (std::is_same_v<V, DType>) {
    return value == DType::kInvalid;
  } else {
    return false;
  }
}

}  // namespace

void DescribeArgs(std::span<const ArgSpec> args, OpDef& def) {
  for (const ArgSpec& spec : args) {
    ArgDef& arg = (spec.is_input ? def.inputs : def.outputs).emplace_back();
    arg.name = spec.name;
    arg.dtype = spec.dtype;
    arg.is_ref = spec.is_ref;
    arg.type_attr = spec.type_attr;
    arg.number_attr = spec.number_attr;
    arg.type_list_attr = spec.type_list_attr;
    if (!spec.type_attr.empty()) DescribeType(spec, def);
    if (!spec.number_attr.empty()) DescribeList(spec.number_attr, "int", spec.minimum, def);
    if (!spec.type_list_attr.empty())
      DescribeList(spec.type_list_attr, "list(type)", spec.minimum, def);
  }
}

bool IsPure(const OpDef& def) {
  auto is_ref = [](const ArgDef& arg) { return arg.is_ref; };
  return !def.is_stateful && std::none_of(def.inputs.begin(), def.inputs.end(), is_ref) &&
         std::none_of(def.outputs.begin(), def.outputs.end(), is_ref);
}

template <class V>
void DescribeField(std::string_view name, const V& value, bool required, int64_t minimum,
                   std::string_view allowed, OpDef& def) {
  std::optional<AttrValue> default_value;
  if (!required && !IsDeduced(value)) default_value = ValueOf(value);
  AddAttr(def, name, kKindOf<V>, std::move(default_value), minimum, allowed);
}

template <class V>
void DecodeField(std::string_view name, const AttrMap& attrs, V& value, Status& status) {
  const AttrValue* attr = FindAttr(attrs, name);
  if (attr == nullptr || attr->Get<AttrValue::EmptyList>() != nullptr) return;
  if (const V* typed = attr->Get<V>()) {
    value = *typed;
  } else if (status.ok()) {
    status = InvalidArgument("attribute {} must be of kind {}, got {}", name, kKindOf<V>,
                             attr->KindName());
  }
}

template <class V>
void EncodeField(std::string_view name, const V& value, AttrMap& attrs) {
  if (!IsDeduced(value)) attrs.emplace_back(std::string(name), ValueOf(value));
}

#define PENSTOCK_FIELD(V)                                                                  \
  template void DescribeField(std::string_view, const V&, bool, int64_t, std::string_view, \
                              OpDef&);                                                     \
  template void DecodeField(std::string_view, const AttrMap&, V&, Status&);                \
  template void EncodeField(std::string_view, const V&, AttrMap&);
PENSTOCK_FIELD(std::string)
PENSTOCK_FIELD(int64_t)
PENSTOCK_FIELD(float)
PENSTOCK_FIELD(bool)
PENSTOCK_FIELD(DType)
PENSTOCK_FIELD(Shape)
PENSTOCK_FIELD(Tensor)
PENSTOCK_FIELD(FunctionName)
PENSTOCK_FIELD(std::vector<std::string>)
PENSTOCK_FIELD(std::vector<int64_t>)
PENSTOCK_FIELD(std::vector<float>)
PENSTOCK_FIELD(std::vector<bool>)
PENSTOCK_FIELD(std::vector<DType>)
PENSTOCK_FIELD(std::vector<Shape>)
PENSTOCK_FIELD(std::vector<Tensor>)
PENSTOCK_FIELD(std::vector<FunctionName>)
#undef PENSTOCK_FIELD

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
