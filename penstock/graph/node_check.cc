#include "penstock/graph/node_check.h"

#include <algorithm>

namespace penstock {
namespace {

// More inputs than this on one node is an attack, not a program.
constexpr int64_t kMaxArguments = 1 << 22;

bool IsListArg(const ArgDef& arg) {
  return !arg.number_attr.empty() || !arg.type_list_attr.empty();
}

// The number of inputs that `arg` stands for as far as `attrs` say, or -1.
int64_t CountOf(const ArgDef& arg, const AttrMap& attrs) {
  if (!IsListArg(arg)) return 1;
  if (!arg.number_attr.empty()) {
    const AttrValue* value = FindAttr(attrs, arg.number_attr);
    const int64_t* count = value == nullptr ? nullptr : value->Get<int64_t>();
    return count == nullptr ? -1 : *count;
  }
  const AttrValue* value = FindAttr(attrs, arg.type_list_attr);
  if (value == nullptr) return -1;
  if (value->Get<AttrValue::EmptyList>()) return 0;
  const auto* types = value->Get<std::vector<DType>>();
  return types == nullptr ? -1 : static_cast<int64_t>(types->size());
}

// Sets the attributes that the inputs determine. Leaves alone what is given or cannot be told.
void InferFromInputs(const OpDef& def, const std::vector<DType>& input_types, AttrMap* attrs) {
  const int64_t total = static_cast<int64_t>(input_types.size());
  int64_t fixed = 0;
  int open = 0;
  for (const ArgDef& arg : def.inputs) {
    const int64_t count = CountOf(arg, *attrs);
    if (count >= 0) {
      fixed += std::min(count, total + 1);  // an absurd length counts as one too many
    } else {
      ++open;
    }
  }
  size_t at = 0;
  for (const ArgDef& arg : def.inputs) {
    int64_t count = CountOf(arg, *attrs);
    if (count < 0) {
      // What was given wrongly is for the check of the attribute to report.
      if (FindAttr(*attrs, arg.number_attr.empty() ? arg.type_list_attr : arg.number_attr) !=
          nullptr)
        return;
      // Arguments that share one length attribute split what is left evenly.
      if (fixed > total || (total - fixed) % open != 0) return;
      count = (total - fixed) / open;
      if (!arg.number_attr.empty()) {
        SetAttr(*attrs, arg.number_attr, count);
      } else {
        const size_t end = std::min(input_types.size(), at + static_cast<size_t>(count));
        SetAttr(*attrs, arg.type_list_attr,
                std::vector<DType>(input_types.begin() + at, input_types.begin() + end));
      }
      fixed += count;
      --open;
    }
    if (!arg.type_attr.empty() && count > 0 && at < input_types.size() &&
        FindAttr(*attrs, arg.type_attr) == nullptr) {
      SetAttr(*attrs, arg.type_attr, input_types[at]);
    }
    at += static_cast<size_t>(std::max<int64_t>(count, 0));
    if (at > input_types.size()) return;
  }
}

Status CheckAllowedType(const AttrDef& def, DType type) {
  if (type == DType::kInvalid) return InvalidArgument("attribute {} is no valid type", def.name);
  if (def.allowed_types.empty()) return OkStatus();
  if (std::find(def.allowed_types.begin(), def.allowed_types.end(), type) !=
      def.allowed_types.end())
    return OkStatus();
  return InvalidArgument("attribute {} must be one of {}, got {}", def.name,
                         ToString(def.allowed_types), type);
}

Status CheckAllowedString(const AttrDef& def, const std::string& text) {
  if (def.allowed_strings.empty()) return OkStatus();
  if (std::find(def.allowed_strings.begin(), def.allowed_strings.end(), text) !=
      def.allowed_strings.end()) {
    return OkStatus();
  }
  return InvalidArgument("attribute {} must be one of {}, got \"{}\"", def.name,
                         AttrValue(def.allowed_strings).ToString(), Printable(text));
}

Status CheckAttr(const AttrDef& def, const AttrValue& value) {
  if (value.Get<AttrValue::Placeholder>()) return OkStatus();  // inside a function body
  const bool is_list = def.kind.starts_with("list(");
  const bool kind_fits =
      value.KindName() == def.kind || (is_list && value.Get<AttrValue::EmptyList>());
  if (!kind_fits) {
    return InvalidArgument("attribute {} must be of kind {}, got {} {}", def.name, def.kind,
                           value.KindName(), value.ToString());
  }
  if (const auto* type = value.Get<DType>()) TRY(CheckAllowedType(def, *type));
  if (const auto* types = value.Get<std::vector<DType>>()) {
    for (const DType type : *types) TRY(CheckAllowedType(def, type));
  }
  if (const auto* text = value.Get<std::string>()) TRY(CheckAllowedString(def, *text));
  if (const auto* texts = value.Get<std::vector<std::string>>()) {
    for (const std::string& text : *texts) TRY(CheckAllowedString(def, text));
  }
  if (!def.minimum) return OkStatus();
  const int64_t size = std::visit(
      [](const auto& v) -> int64_t {
        using V = std::remove_cvref_t<decltype(v)>;
        if constexpr (std::is_same_v<V, int64_t>) {
          return v;
        } else if constexpr (requires { v.begin(); } && !std::is_same_v<V, std::string>) {
          return static_cast<int64_t>(v.size());
        } else {
          return 0;
        }
      },
      value.value());
  if (size >= *def.minimum) return OkStatus();
  return InvalidArgument("attribute {} must be at least {}{}, got {}", def.name, *def.minimum,
                         is_list ? " long" : "", size);
}

Status Expand(const std::vector<ArgDef>& args, const AttrMap& attrs, std::vector<DType>* types,
              std::vector<bool>* refs, std::vector<int>* counts) {
  for (const ArgDef& arg : args) {
    const int64_t count = CountOf(arg, attrs);
    if (count < 0 || count > kMaxArguments ||
        static_cast<int64_t>(types->size()) + count > kMaxArguments) {
      return InvalidArgument("argument {} stands for {} tensors", arg.name, count);
    }
    DType type = arg.dtype;
    const std::vector<DType>* list = nullptr;
    if (!arg.type_attr.empty()) {
      const AttrValue* value = FindAttr(attrs, arg.type_attr);
      if (value == nullptr || !value->Get<DType>())
        return InvalidArgument("attribute {} has no type", arg.type_attr);
      type = *value->Get<DType>();
    } else if (!arg.type_list_attr.empty()) {
      const AttrValue* value = FindAttr(attrs, arg.type_list_attr);
      list = value == nullptr ? nullptr : value->Get<std::vector<DType>>();
    }
    for (int64_t i = 0; i < count; ++i) {
      types->push_back(list != nullptr ? (*list)[static_cast<size_t>(i)] : type);
      refs->push_back(arg.is_ref);
    }
    counts->push_back(static_cast<int>(count));
  }
  return OkStatus();
}

}  // namespace

Status CompleteAttrs(const OpDef& def, const std::vector<DType>& input_types, AttrMap* attrs) {
  for (const auto& [name, value] : *attrs) {
    if (!name.empty() && name[0] != '_' && def.FindAttr(name) == nullptr) {
      return InvalidArgument("op {} has no attribute {}", def.name, Printable(name));
    }
  }
  InferFromInputs(def, input_types, attrs);
  for (const AttrDef& attr : def.attrs) {
    const AttrValue* value = FindAttr(*attrs, attr.name);
    if (value == nullptr) {
      if (!attr.default_value)
        return InvalidArgument("attribute {} of kind {} is missing", attr.name, attr.kind);
      SetAttr(*attrs, attr.name, *attr.default_value);
      continue;
    }
    TRY(CheckAttr(attr, *value));
  }
  return OkStatus();
}

Result<NodeTypes> ExpandTypes(const OpDef& def, const AttrMap& attrs) {
  NodeTypes types;
  TRY(Expand(def.inputs, attrs, &types.inputs, &types.input_is_ref, &types.input_counts));
  TRY(Expand(def.outputs, attrs, &types.outputs, &types.output_is_ref, &types.output_counts));
  return types;
}

}  // namespace penstock
