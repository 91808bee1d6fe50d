#include "penstock/graph/node_def.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "penstock/graph/wire.h"
#include "penstock/proto/attr_value.pb.h"
#include "penstock/proto/node_def.pb.h"

namespace penstock {
namespace {

using List = tf::AttrValue::ListValue;

constexpr int kMaxFunctionDepth = 32;  // of functions as attributes of functions as attributes

// True when a message says more than the value made of it.
bool SaysMore(const tf::TensorShapeProto& shape) {
  if (HasUnknownFields(shape)) return true;
  return std::any_of(shape.dim().begin(), shape.dim().end(),
                     [](const auto& dim) { return !dim.name().empty() || HasUnknownFields(dim); });
}

bool SaysMore(const tf::TensorProto& tensor) {
  return HasUnknownFields(tensor) || tensor.version_number() != 0 ||
         tensor.resource_handle_val_size() > 0 || SaysMore(tensor.tensor_shape());
}

bool SaysMore(const tf::AttrValue& value);

bool SaysMore(const tf::NameAttrList& function) {
  return HasUnknownFields(function) ||
         std::any_of(function.attr().begin(), function.attr().end(),
                     [](const auto& entry) { return SaysMore(entry.second); });
}

bool SaysMore(const List& list) {
  auto says_more = [](const auto& message) { return SaysMore(message); };
  return HasUnknownFields(list) ||
         std::any_of(list.shape().begin(), list.shape().end(), says_more) ||
         std::any_of(list.tensor().begin(), list.tensor().end(), says_more) ||
         std::any_of(list.func().begin(), list.func().end(), says_more);
}

bool SaysMore(const tf::AttrValue& value) {
  if (HasUnknownFields(value)) return true;
  switch (value.value_case()) {
    case tf::AttrValue::kShape:
      return SaysMore(value.shape());
    case tf::AttrValue::kTensor:
      return SaysMore(value.tensor());
    case tf::AttrValue::kList:
      return SaysMore(value.list());
    case tf::AttrValue::kFunc:
      return SaysMore(value.func());
    default:
      return false;
  }
}

// Reads one attribute, functions inside functions included.
class Reader {
 public:
  Reader(UnknownValues unknown, ImportBudget* budget) : unknown_(unknown), budget_(budget) {}

  // On Unimplemented the message is kept where that is asked for.
  Result<AttrValue> ReadOrKeep(const tf::AttrValue& proto, bool keep_all) {
    Result<AttrValue> value = Read(proto);
    if (value.ok()) return value;
    const bool keeps = keep_all || (unknown_ == UnknownValues::kKeep &&
                                    value.status().code() == Code::kUnimplemented);
    if (!keeps) return value;
    TRY_ASSIGN(std::string wire, ToWire(proto));
    return AttrValue(AttrValue::Opaque{std::move(wire)});
  }

  Status ReadMap(const AttrMessages& proto, AttrMap* attrs, AttrMessages* rest) {
    std::vector<const AttrMessages::value_type*> sorted;
    sorted.reserve(proto.size());
    for (const auto& entry : proto) sorted.push_back(&entry);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* a, const auto* b) { return a->first < b->first; });
    attrs->reserve(sorted.size());
    for (const auto* entry : sorted) {
      const auto& [name, message] = *entry;
      Result<AttrValue> value = ReadOrKeep(message, name.starts_with('_'));
      if (!value.ok()) return value.status().Annotate(Format("attribute {}", Printable(name)));
      const bool is_whole = value->Get<AttrValue::Opaque>() != nullptr;
      if (rest != nullptr && !is_whole && SaysMore(message)) (*rest)[name] = message;
      attrs->emplace_back(name, *std::move(value));
    }
    return OkStatus();
  }

 private:
  Result<AttrValue> Read(const tf::AttrValue& proto) {
    switch (proto.value_case()) {
      case tf::AttrValue::kS:
        return AttrValue(proto.s());
      case tf::AttrValue::kI:
        return AttrValue(static_cast<int64_t>(proto.i()));
      case tf::AttrValue::kF:
        return AttrValue(proto.f());
      case tf::AttrValue::kB:
        return AttrValue(proto.b());
      case tf::AttrValue::kType:
        return ReadItem(proto.type());
      case tf::AttrValue::kShape:
        return ReadItem(proto.shape());
      case tf::AttrValue::kTensor:
        return ReadItem(proto.tensor());
      case tf::AttrValue::kFunc:
        return ReadItem(proto.func());
      case tf::AttrValue::kPlaceholder:
        return AttrValue(AttrValue::Placeholder{proto.placeholder()});
      case tf::AttrValue::kList:
        return ReadList(proto.list());
      case tf::AttrValue::VALUE_NOT_SET:
        break;
    }
    if (!HasUnknownFields(proto)) return AttrValue();
    return Unimplemented("the value is of a kind that this version does not know");
  }

  Result<AttrValue> ReadList(const List& list) {
    const int kinds = (list.s_size() > 0) + (list.i_size() > 0) + (list.f_size() > 0) +
                      (list.b_size() > 0) + (list.type_size() > 0) + (list.shape_size() > 0) +
                      (list.tensor_size() > 0) + (list.func_size() > 0);
    if (kinds > 1) return InvalidArgument("a list holds values of {} kinds", kinds);
    if (list.s_size() > 0)
      return AttrValue(std::vector<std::string>(list.s().begin(), list.s().end()));
    if (list.i_size() > 0) return AttrValue(std::vector<int64_t>(list.i().begin(), list.i().end()));
    if (list.f_size() > 0) return AttrValue(std::vector<float>(list.f().begin(), list.f().end()));
    if (list.b_size() > 0) return AttrValue(std::vector<bool>(list.b().begin(), list.b().end()));
    if (list.shape_size() > 0) return ReadItems<Shape>(list.shape());
    if (list.tensor_size() > 0) return ReadItems<Tensor>(list.tensor());
    if (list.func_size() > 0) return ReadItems<FunctionName>(list.func());
    if (list.type_size() > 0) {
      std::vector<DType> types;
      for (const int number : list.type()) {
        TRY_ASSIGN(const DType type, ReadType(number));
        types.push_back(type);
      }
      return AttrValue(std::move(types));
    }
    return AttrValue(AttrValue::EmptyList{});
  }

  template <class V, class Messages>
  Result<AttrValue> ReadItems(const Messages& messages) {
    std::vector<V> values;
    values.reserve(static_cast<size_t>(messages.size()));
    for (const auto& message : messages) {
      TRY_ASSIGN(AttrValue value, ReadItem(message));
      values.push_back(*value.Get<V>());
    }
    return AttrValue(std::move(values));
  }

  static Result<DType> ReadType(int number) {
    if (number == tf::DT_INVALID) return DType::kInvalid;
    if (const auto type = DTypeFromNumber(number)) return *type;
    return Unimplemented("type {} is not supported", number);
  }

  static Result<AttrValue> ReadItem(tf::DataType number) {
    TRY_ASSIGN(const DType type, ReadType(number));
    return AttrValue(type);
  }
  static Result<AttrValue> ReadItem(const tf::TensorShapeProto& proto) {
    TRY_ASSIGN(Shape shape, ShapeFromProto(proto));
    return AttrValue(std::move(shape));
  }
  Result<AttrValue> ReadItem(const tf::TensorProto& proto) {
    TRY_ASSIGN(Tensor tensor, TensorFromProto(proto, budget_));
    return AttrValue(std::move(tensor));
  }
  Result<AttrValue> ReadItem(const tf::NameAttrList& proto) {
    FunctionName function{proto.name(), {}};
    if (depth_ >= kMaxFunctionDepth) {
      return InvalidArgument("functions are nested more than {} deep in an attribute",
                             kMaxFunctionDepth);
    }
    ++depth_;
    Status status = ReadMap(proto.attr(), &function.attrs, nullptr);
    --depth_;
    TRY(status);
    return AttrValue(std::move(function));
  }

  const UnknownValues unknown_;
  ImportBudget* const budget_;
  int depth_ = 0;
};

struct Writer {
  tf::AttrValue* proto;

  Status operator()(std::monostate) const { return OkStatus(); }
  Status operator()(const std::string& value) const { return proto->set_s(value), OkStatus(); }
  Status operator()(int64_t value) const { return proto->set_i(value), OkStatus(); }
  Status operator()(float value) const { return proto->set_f(value), OkStatus(); }
  Status operator()(bool value) const { return proto->set_b(value), OkStatus(); }
  Status operator()(DType value) const {
    return proto->set_type(static_cast<tf::DataType>(value)), OkStatus();
  }
  Status operator()(const Shape& value) const { return Write(value, proto->mutable_shape()); }
  Status operator()(const Tensor& value) const { return Write(value, proto->mutable_tensor()); }
  Status operator()(const FunctionName& value) const { return Write(value, proto->mutable_func()); }
  Status operator()(AttrValue::EmptyList) const { return proto->mutable_list(), OkStatus(); }
  Status operator()(const AttrValue::Placeholder& value) const {
    return proto->set_placeholder(value.name), OkStatus();
  }
  Status operator()(const AttrValue::Opaque& value) const {
    return FromWire(value.wire, std::numeric_limits<int64_t>::max(), proto);
  }
  template <class V>
  Status operator()(const std::vector<V>& values) const {
    List* list = proto->mutable_list();
    for (const auto& value : values) TRY(Append(value, list));
    return OkStatus();
  }

  static Status Append(const std::string& value, List* list) {
    return list->add_s(value), OkStatus();
  }
  static Status Append(int64_t value, List* list) { return list->add_i(value), OkStatus(); }
  static Status Append(float value, List* list) { return list->add_f(value), OkStatus(); }
  static Status Append(bool value, List* list) { return list->add_b(value), OkStatus(); }
  static Status Append(DType value, List* list) {
    return list->add_type(static_cast<tf::DataType>(value)), OkStatus();
  }
  static Status Append(const Shape& value, List* list) { return Write(value, list->add_shape()); }
  static Status Append(const Tensor& value, List* list) { return Write(value, list->add_tensor()); }
  static Status Append(const FunctionName& value, List* list) {
    return Write(value, list->add_func());
  }

  static Status Write(const Shape& shape, tf::TensorShapeProto* to) {
    return ShapeToProto(shape, to), OkStatus();
  }
  static Status Write(const Tensor& tensor, tf::TensorProto* to) {
    return TensorToProto(tensor, to);
  }
  static Status Write(const FunctionName& function, tf::NameAttrList* to) {
    to->set_name(function.name);
    return AttrsToProto(function.attrs, to->mutable_attr());
  }
};

ImportBudget Unlimited() {
  ImportLimits limits;
  limits.max_expanded_bytes = std::numeric_limits<int64_t>::max();
  return ImportBudget(limits);
}

}  // namespace

Result<AttrValue> AttrFromProto(const tf::AttrValue& proto, UnknownValues unknown,
                                ImportBudget* budget) {
  return Reader(unknown, budget).ReadOrKeep(proto, false);
}

Status AttrToProto(const AttrValue& value, tf::AttrValue* proto) {
  proto->Clear();
  return std::visit(Writer{proto}, value.value());
}

Status AttrsFromProto(const AttrMessages& proto, UnknownValues unknown, ImportBudget* budget,
                      AttrMap* attrs, AttrMessages* rest) {
  return Reader(unknown, budget).ReadMap(proto, attrs, rest);
}

Status AttrsToProto(const AttrMap& attrs, AttrMessages* proto) {
  AttrMessages rest;
  rest.swap(*proto);
  ImportBudget budget = Unlimited();
  for (const auto& [name, value] : attrs) {
    if (const auto kept = rest.find(name); kept != rest.end()) {
      const Result<AttrValue> meaning = AttrFromProto(kept->second, UnknownValues::kKeep, &budget);
      if (meaning.ok() && *meaning == value) {
        (*proto)[name].Swap(&kept->second);
        continue;
      }
    }
    if (Status status = AttrToProto(value, &(*proto)[name]); !status.ok()) {
      return status.Annotate(Format("attribute {}", Printable(name)));
    }
  }
  return OkStatus();
}

Status ReadNodeDef(const tf::NodeDef& proto, UnknownValues unknown, ImportBudget* budget,
                   AttrMap* attrs, std::shared_ptr<const std::string>* extra) {
  AttrMessages rest;
  TRY(AttrsFromProto(proto.attr(), unknown, budget, attrs, &rest));
  extra->reset();
  if (rest.empty() && !proto.has_experimental_debug_info() && !proto.has_experimental_type() &&
      !HasUnknownFields(proto)) {
    return OkStatus();
  }
  tf::NodeDef other;
  other.mutable_attr()->swap(rest);
  if (proto.has_experimental_debug_info()) {
    *other.mutable_experimental_debug_info() = proto.experimental_debug_info();
  }
  if (proto.has_experimental_type()) *other.mutable_experimental_type() = proto.experimental_type();
  CopyUnknownFields(proto, &other);
  TRY_ASSIGN(std::string wire, ToWire(other));
  *extra = std::make_shared<const std::string>(std::move(wire));
  return OkStatus();
}

Status WriteNodeDef(const AttrMap& attrs, const std::shared_ptr<const std::string>& extra,
                    tf::NodeDef* proto) {
  if (extra != nullptr) TRY(FromWire(*extra, std::numeric_limits<int64_t>::max(), proto));
  return AttrsToProto(attrs, proto->mutable_attr());
}

}  // namespace penstock
