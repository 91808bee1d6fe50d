#include "penstock/graph/op_def_proto.h"

#include <algorithm>
#include <optional>

#include "penstock/graph/node_def.h"
#include "penstock/graph/wire.h"
#include "penstock/proto/op_def.pb.h"

namespace penstock {
namespace {

ArgDef ArgFromProto(const tf::OpDef::ArgDef& proto) {
  ArgDef arg;
  arg.name = proto.name();
  arg.dtype = DTypeFromNumber(proto.type()).value_or(DType::kInvalid);
  arg.type_attr = proto.type_attr();
  arg.number_attr = proto.number_attr();
  arg.type_list_attr = proto.type_list_attr();
  arg.is_ref = proto.is_ref();
  return arg;
}

void ArgToProto(const ArgDef& arg, tf::OpDef::ArgDef* proto) {
  proto->set_name(arg.name);
  proto->set_type(static_cast<tf::DataType>(arg.dtype));
  proto->set_type_attr(arg.type_attr);
  proto->set_number_attr(arg.number_attr);
  proto->set_type_list_attr(arg.type_list_attr);
  proto->set_is_ref(arg.is_ref);
}

Result<AttrDef> AttrDefFromProto(const tf::OpDef::AttrDef& proto) {
  AttrDef attr;
  attr.name = proto.name();
  attr.kind = proto.type();
  if (proto.has_default_value()) {
    ImportBudget budget{ImportLimits()};
    TRY_ASSIGN(attr.default_value,
               AttrFromProto(proto.default_value(), UnknownValues::kKeep, &budget));
  }
  if (proto.has_minimum()) attr.minimum = proto.minimum();
  const auto& allowed = proto.allowed_values().list();
  attr.allowed_strings.assign(allowed.s().begin(), allowed.s().end());
  for (const int number : allowed.type()) {
    if (const auto type = DTypeFromNumber(number)) attr.allowed_types.push_back(*type);
  }
  // An empty list would allow everything.
  if (allowed.type_size() > 0 && attr.allowed_types.empty())
    attr.allowed_types.push_back(DType::kInvalid);
  return attr;
}

Status AttrDefToProto(const AttrDef& attr, tf::OpDef::AttrDef* proto) {
  proto->set_name(attr.name);
  proto->set_type(attr.kind);
  if (attr.default_value) TRY(AttrToProto(*attr.default_value, proto->mutable_default_value()));
  if (attr.minimum) {
    proto->set_has_minimum(true);
    proto->set_minimum(*attr.minimum);
  }
  if (!attr.allowed_types.empty()) {
    TRY(AttrToProto(attr.allowed_types, proto->mutable_allowed_values()));
  }
  if (!attr.allowed_strings.empty()) {
    TRY(AttrToProto(attr.allowed_strings, proto->mutable_allowed_values()));
  }
  return OkStatus();
}

std::string TypeOf(const ArgDef& arg) {
  std::string out = arg.is_ref ? "a reference to " : "";
  if (!arg.number_attr.empty()) out += arg.number_attr + " * ";
  if (!arg.type_list_attr.empty()) return out + "types " + arg.type_list_attr;
  return out + (arg.type_attr.empty() ? std::string(ToString(arg.dtype)) : arg.type_attr);
}

bool IsEmptyList(const AttrValue& value) {
  if (value.Get<AttrValue::EmptyList>()) return true;
  return std::visit(
      [](const auto& v) {
        using V = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<V, std::string> || !requires { v.begin(); }) {
          return false;
        } else {
          return v.empty();
        }
      },
      value.value());
}

bool SameDefault(const std::optional<AttrValue>& a, const std::optional<AttrValue>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return *a == *b || (IsEmptyList(*a) && IsEmptyList(*b));
}

// Collects the sentences.
class Comparison {
 public:
  explicit Comparison(std::vector<std::string>* out) : out_(*out) {}

  template <class V>
  void Equal(const std::string& what, const V& ours, const V& theirs) {
    if (!(ours == theirs)) Differs(what, ours, theirs);
  }

  void Arguments(std::string_view side, const std::vector<ArgDef>& ours,
                 const std::vector<ArgDef>& theirs) {
    Equal(Format("number of {}s", side), ours.size(), theirs.size());
    for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
      Equal(Format("{} {}", side, i), ours[i].name, theirs[i].name);
      Equal(Format("type of {} {}", side, ours[i].name), TypeOf(ours[i]), TypeOf(theirs[i]));
    }
  }

  void Attribute(const AttrDef& ours, const AttrDef& theirs) {
    const std::string what = "attribute " + ours.name;
    Equal("kind of " + what, ours.kind, theirs.kind);
    if (!SameDefault(ours.default_value, theirs.default_value)) {
      Differs("default of " + what, Text(ours.default_value), Text(theirs.default_value));
    }
    Equal("minimum of " + what, Text(ours.minimum), Text(theirs.minimum));
    Subset(what, ours.allowed_types, theirs.allowed_types);
    Subset(what, ours.allowed_strings, theirs.allowed_strings);
  }

 private:
  template <class V>
  void Differs(const std::string& what, const V& ours, const V& theirs) {
    out_.push_back(Format("{}: {} where TensorFlow has {}", what, ours, theirs));
  }

  static std::string Text(const std::optional<AttrValue>& value) {
    return value ? value->ToString() : "none";
  }
  static std::string Text(const std::optional<int64_t>& value) {
    return value ? std::to_string(*value) : "none";
  }

  // Nothing listed means that everything is allowed.
  template <class V>
  void Subset(const std::string& what, const std::vector<V>& ours, const std::vector<V>& theirs) {
    if (theirs.empty()) return;
    if (ours.empty()) out_.push_back(what + " allows anything, TensorFlow's does not");
    for (const V& value : ours) {
      if (std::find(theirs.begin(), theirs.end(), value) == theirs.end()) {
        out_.push_back(Format("{} allows {}, TensorFlow's does not", what, value));
      }
    }
  }

  std::vector<std::string>& out_;
};

}  // namespace

Result<OpDef> OpDefFromProto(const tf::OpDef& proto) {
  OpDef def;
  def.name = proto.name();
  for (const auto& arg : proto.input_arg()) def.inputs.push_back(ArgFromProto(arg));
  for (const auto& arg : proto.output_arg()) def.outputs.push_back(ArgFromProto(arg));
  for (const auto& attr : proto.attr()) {
    Result<AttrDef> read = AttrDefFromProto(attr);
    if (!read.ok()) {
      return read.status().Annotate(Format("op {}, default of attribute {}",
                                           Printable(proto.name()), Printable(attr.name())));
    }
    def.attrs.push_back(*std::move(read));
  }
  def.is_stateful = proto.is_stateful();
  def.is_commutative = proto.is_commutative();
  def.is_aggregate = proto.is_aggregate();
  def.allows_uninitialized_input = proto.allows_uninitialized_input();
  return def;
}

Status OpDefToProto(const OpDef& def, tf::OpDef* proto) {
  proto->Clear();
  proto->set_name(def.name);
  for (const ArgDef& arg : def.inputs) ArgToProto(arg, proto->add_input_arg());
  for (const ArgDef& arg : def.outputs) ArgToProto(arg, proto->add_output_arg());
  for (const AttrDef& attr : def.attrs) TRY(AttrDefToProto(attr, proto->add_attr()));
  proto->set_is_stateful(def.is_stateful);
  proto->set_is_commutative(def.is_commutative);
  proto->set_is_aggregate(def.is_aggregate);
  proto->set_allows_uninitialized_input(def.allows_uninitialized_input);
  return OkStatus();
}

Result<std::vector<OpDef>> ParseOpListText(std::string_view text) {
  tf::OpList list;
  TRY(FromText(text, &list));
  std::vector<OpDef> defs;
  for (const tf::OpDef& proto : list.op()) {
    TRY_ASSIGN(OpDef def, OpDefFromProto(proto));
    defs.push_back(std::move(def));
  }
  return defs;
}

std::vector<std::string> CompareOpDefs(const OpDef& ours, const OpDef& theirs) {
  std::vector<std::string> out;
  Comparison compare(&out);
  compare.Equal("name", ours.name, theirs.name);
  compare.Arguments("input", ours.inputs, theirs.inputs);
  compare.Arguments("output", ours.outputs, theirs.outputs);
  for (const AttrDef& attr : theirs.attrs) {
    if (ours.FindAttr(attr.name) == nullptr)
      out.push_back("attribute " + attr.name + " is missing");
  }
  for (const AttrDef& attr : ours.attrs) {
    const AttrDef* other = theirs.FindAttr(attr.name);
    if (other != nullptr) {
      compare.Attribute(attr, *other);
    } else {
      out.push_back("attribute " + attr.name + " is not TensorFlow's");
    }
  }
  compare.Equal("is_stateful", ours.is_stateful, theirs.is_stateful);
  compare.Equal("is_commutative", ours.is_commutative, theirs.is_commutative);
  compare.Equal("is_aggregate", ours.is_aggregate, theirs.is_aggregate);
  compare.Equal("allows_uninitialized_input", ours.allows_uninitialized_input,
                theirs.allows_uninitialized_input);
  return out;
}

}  // namespace penstock
