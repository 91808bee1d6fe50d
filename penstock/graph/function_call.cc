#include "penstock/graph/function_call.h"

#include "penstock/graph/node_check.h"

namespace penstock {
namespace {

// Marks a call that was written as an op.
constexpr std::string_view kWasOp = "_called_as_op";

}  // namespace

Result<const FunctionDef*> FindFunction(const FunctionLibrary& library, std::string_view name) {
  const auto found = library.functions.find(std::string(name));
  if (found == library.functions.end())
    return NotFound("function {} is not in the library", Printable(name));
  return found->second.get();
}

Status CompleteFunctionAttrs(const OpDef& signature, AttrMap* attrs) {
  for (const AttrDef& attr : signature.attrs) {
    if (!attr.default_value && FindAttr(*attrs, attr.name) == nullptr)
      return InvalidArgument("attribute {} of kind {} is missing", attr.name, attr.kind);
  }
  return CompleteAttrs(signature, {}, attrs);
}

Result<NodeTypes> FunctionTypes(const FunctionDef& function, const AttrMap& attrs) {
  AttrMap complete = attrs;
  TRY(CompleteFunctionAttrs(function.signature, &complete));
  return ExpandTypes(function.signature, complete);
}

Result<bool> TurnIntoCall(const FunctionLibrary& library, const std::vector<DType>& input_types,
                          NodeSpec* spec) {
  const auto found = library.functions.find(spec->op);
  if (found == library.functions.end()) return false;
  const OpDef& signature = found->second->signature;
  AttrMap attrs = std::move(spec->attrs);
  spec->attrs.clear();
  TRY(CompleteAttrs(signature, input_types, &attrs));
  TRY_ASSIGN(const NodeTypes types, ExpandTypes(signature, attrs));
  FunctionName function{spec->op, {}};
  for (auto& [name, value] : attrs) {
    (name.starts_with('_') ? spec->attrs : function.attrs).emplace_back(name, std::move(value));
  }
  auto list = [](const std::vector<DType>& dtypes) {
    return dtypes.empty() ? AttrValue(AttrValue::EmptyList{}) : AttrValue(dtypes);
  };
  SetAttr(spec->attrs, "Tin", list(types.inputs));
  SetAttr(spec->attrs, "Tout", list(types.outputs));
  SetAttr(spec->attrs, "f", std::move(function));
  SetAttr(spec->attrs, kWasOp, true);
  if (spec->name.empty()) spec->name = spec->op;
  spec->op = signature.is_stateful ? "StatefulPartitionedCall" : "PartitionedCall";
  return true;
}

void TurnIntoOp(std::string* op, AttrMap* attrs) {
  const AttrValue* f = FindAttr(*attrs, "f");
  const FunctionName* function = f == nullptr ? nullptr : f->Get<FunctionName>();
  if (function == nullptr || FindAttr(*attrs, kWasOp) == nullptr) return;
  AttrMap written = function->attrs;
  *op = function->name;
  for (auto& [name, value] : *attrs) {
    if (name.starts_with('_') && name != kWasOp) written.emplace_back(name, std::move(value));
  }
  *attrs = std::move(written);
}

std::vector<const FunctionName*> CalledFunctions(const AttrMap& attrs) {
  std::vector<const FunctionName*> functions;
  for (const auto& [name, value] : attrs) {
    if (name.starts_with('_')) continue;
    if (const auto* function = value.Get<FunctionName>()) functions.push_back(function);
    if (const auto* list = value.Get<std::vector<FunctionName>>()) {
      for (const FunctionName& function : *list) functions.push_back(&function);
    }
  }
  return functions;
}

}  // namespace penstock
