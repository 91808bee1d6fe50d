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

namespace {

// Calls f with the field's value, whatever its type.
template <class F>
void WithValue(const FieldSpec& field, void* op, F f) {
  void* const value = field.address(op);
  auto is = [&]<class V>(std::type_identity<V>) {
    if (field.kind == kKindOf<V>) f(*static_cast<V*>(value));
  };
  auto any = [&]<class... Vs>(std::type_identity<Vs>... kinds) { (is(kinds), ...); };
  any(std::type_identity<std::string>(), std::type_identity<int64_t>(), std::type_identity<float>(),
      std::type_identity<bool>(), std::type_identity<DType>(), std::type_identity<Shape>(),
      std::type_identity<Tensor>(), std::type_identity<FunctionName>(),
      std::type_identity<std::vector<std::string>>(), std::type_identity<std::vector<int64_t>>(),
      std::type_identity<std::vector<float>>(), std::type_identity<std::vector<bool>>(),
      std::type_identity<std::vector<DType>>(), std::type_identity<std::vector<Shape>>(),
      std::type_identity<std::vector<Tensor>>(), std::type_identity<std::vector<FunctionName>>());
}

void DescribeFields(const OpSpec& spec, OpDef& def) {
  const std::unique_ptr<DecodedBase> defaults(spec.decoded());
  for (const FieldSpec& field : spec.fields) {
    WithValue(field, defaults->op_address, [&](const auto& value) {
      std::optional<AttrValue> default_value;
      if (!field.required && !IsDeduced(value)) default_value = ValueOf(value);
      AddAttr(def, field.name, field.kind, std::move(default_value), field.minimum, field.allowed);
    });
  }
}

Status DecodeField(const FieldSpec& field, const AttrMap& attrs, void* op) {
  const AttrValue* attr = FindAttr(attrs, field.name);
  if (attr == nullptr || attr->Get<AttrValue::EmptyList>() != nullptr) return OkStatus();
  bool decoded = false;
  WithValue(field, op, [&]<class V>(V& value) {
    if (const V* typed = attr->Get<V>()) {
      value = *typed;
      decoded = true;
    }
  });
  if (decoded) return OkStatus();
  return InvalidArgument("attribute {} must be of kind {}, got {}", field.name, field.kind,
                         attr->KindName());
}

// Where each argument begins.
void AddUp(std::span<const int> counts, std::span<int> at) {
  for (size_t i = 0; i + 1 < at.size(); ++i) at[i + 1] = at[i] + counts[i];
}

Result<DecodedOp> Decode(const OpSpec& spec, const AttrMap& attrs, const NodeTypes& types) {
  std::shared_ptr<DecodedBase> decoded(spec.decoded());
  for (const FieldSpec& field : spec.fields) TRY(DecodeField(field, attrs, decoded->op_address));
  AddUp(types.input_counts, decoded->input_at);
  AddUp(types.output_counts, decoded->output_at);
  if (spec.check != nullptr) TRY(spec.check(decoded->op_address));
  return DecodedOp(std::move(decoded));
}

}  // namespace

DecodedBase::~DecodedBase() = default;

AttrMap EncodeFields(std::span<const FieldSpec> fields, const void* op) {
  AttrMap attrs;
  for (const FieldSpec& field : fields) {
    WithValue(field, const_cast<void*>(op), [&](const auto& value) {
      if (!IsDeduced(value)) attrs.emplace_back(std::string(field.name), ValueOf(value));
    });
  }
  return attrs;
}

OpInfo MakeOpInfo(const OpSpec& spec) {
  OpInfo info;
  info.def.name = spec.name;
  DescribeArgs(spec.args, info.def);
  DescribeFields(spec, info.def);
  info.def.is_stateful = spec.is_stateful;
  info.def.is_commutative = spec.is_commutative;
  info.def.is_aggregate = spec.is_aggregate;
  info.def.allows_uninitialized_input = spec.allows_uninitialized;
  info.traits = {.elementwise = spec.elementwise,
                 .aliases_input = spec.aliases_input,
                 .keeps_inputs = spec.keeps_inputs,
                 .in_place = spec.in_place,
                 .pure = IsPure(info.def),
                 .cost = spec.cost,
                 .no_op = spec.no_op,
                 .cheap = spec.cheap,
                 .async = spec.async,
                 .placeable = false,
                 .reads_value = {spec.reads_value.begin(), spec.reads_value.end()}};
  info.decode = [&spec](const AttrMap& attrs, const NodeTypes& types) {
    return Decode(spec, attrs, types);
  };
  if (spec.infer != nullptr) info.infer = spec.infer;
  if (spec.gradient != nullptr) info.gradient = spec.gradient;
  info.no_gradient = spec.no_gradient;
  return info;
}

Handle InferParam<const Handle&>::Make(const Known* first, int) {
  return {first->handle_shape == nullptr ? Shape::Unknown() : *first->handle_shape};
}

Status StoreShapes(Result<Shape>&& shape, std::span<Shape> out) {
  if (!shape.ok()) return shape.status();
  std::fill(out.begin(), out.end(), *shape);
  return OkStatus();
}

Status StoreShapes(const Status& status, std::span<Shape> shapes, std::span<Shape> out) {
  TRY(status);
  std::move(shapes.begin(), shapes.begin() + std::min(shapes.size(), out.size()), out.begin());
  return OkStatus();
}

Status InferBroadcast(std::span<const Known> inputs, std::span<Shape> outputs) {
  Shape shape = inputs.empty() ? Shape() : *inputs[0].shape;
  for (size_t i = 1; i < inputs.size(); ++i) {
    TRY_ASSIGN(shape, BroadcastShapes(shape, *inputs[i].shape));
  }
  std::fill(outputs.begin(), outputs.end(), shape);
  return OkStatus();
}

Status InferSame(std::span<const Known> inputs, std::span<Shape> outputs) {
  Shape shape = inputs.empty() ? Shape() : *inputs[0].shape;
  for (size_t i = 1; i < inputs.size(); ++i) {
    TRY_ASSIGN(shape, MergeShapes(shape, *inputs[i].shape));
  }
  std::fill(outputs.begin(), outputs.end(), shape);
  return OkStatus();
}

}  // namespace penstock::op_internal
