#include "penstock/graph/function_def.h"

#include <limits>
#include <map>
#include <string_view>
#include <utility>

#include "penstock/graph/node_def.h"
#include "penstock/graph/op_def_proto.h"
#include "penstock/graph/wire.h"
#include "penstock/proto/function.pb.h"

namespace penstock {
namespace {

constexpr int64_t kAnySize = std::numeric_limits<int64_t>::max();

// What the fields of Function do not say.
Result<std::string> RestOf(const tf::FunctionDef& proto, const FunctionDef& function,
                           AttrMessages* attr_rest) {
  tf::FunctionDef rest;
  tf::OpDef signature;
  TRY(OpDefToProto(function.signature, &signature));
  TRY_ASSIGN(const std::string kept, ToWire(signature));
  TRY_ASSIGN(const std::string came, ToWire(proto.signature()));
  if (kept != came) *rest.mutable_signature() = proto.signature();
  rest.mutable_attr()->swap(*attr_rest);
  *rest.mutable_arg_attr() = proto.arg_attr();
  *rest.mutable_resource_arg_unique_id() = proto.resource_arg_unique_id();
  CopyUnknownFields(proto, &rest);
  return ToWire(rest);
}

Status WriteSignature(const FunctionDef& function, tf::OpDef* proto) {
  if (!proto->name().empty()) {
    // The message that came, unless the signature has been changed since.
    TRY_ASSIGN(const OpDef came, OpDefFromProto(*proto));
    if (CompareOpDefs(function.signature, came).empty() &&
        CompareOpDefs(came, function.signature).empty()) {
      return OkStatus();
    }
  }
  TRY(OpDefToProto(function.signature, proto));
  for (const auto& [name, node] : function.control_results) proto->add_control_output(name);
  return OkStatus();
}

Result<std::string> Encoded(const FunctionDef& function) {
  tf::FunctionDef proto;
  TRY(FunctionToProto(function, &proto));
  return ToWire(proto);
}

// Registered gradients and fields that we do not know; adds those of `proto` that `extra` does not
// have yet.
Status MergeExtra(const tf::FunctionDefLibrary& proto, std::string* extra) {
  tf::FunctionDefLibrary came;
  *came.mutable_registered_gradients() = proto.registered_gradients();
  for (const tf::GradientDef& gradient : proto.gradient()) {
    if (HasUnknownFields(gradient)) *came.add_gradient() = gradient;
  }
  CopyUnknownFields(proto, &came);
  TRY_ASSIGN(const std::string wire, ToWire(came));
  // The same library again, or one that begins with what was there.
  if (wire.starts_with(*extra)) {
    *extra = wire;
  } else if (!extra->starts_with(wire)) {
    *extra += wire;
  }
  return OkStatus();
}

}  // namespace

Result<FunctionDef> FunctionFromProto(const tf::FunctionDef& proto, ImportBudget* budget) {
  FunctionDef function;
  TRY_ASSIGN(function.signature, OpDefFromProto(proto.signature()));
  const std::string& name = function.signature.name;
  if (name.empty()) return InvalidArgument("a function of the library has no name");
  auto fail = [&](const Status& status) {
    return status.Annotate(Format("function {}", Printable(name)));
  };
  AttrMessages attr_rest;
  if (Status status =
          AttrsFromProto(proto.attr(), UnknownValues::kKeep, budget, &function.attrs, &attr_rest);
      !status.ok()) {
    return fail(status);
  }
  function.nodes.reserve(static_cast<size_t>(proto.node_def_size()));
  for (const tf::NodeDef& node_def : proto.node_def()) {
    FunctionNode node{node_def.name(), node_def.op(), node_def.device(), {}, {}, nullptr};
    node.inputs.assign(node_def.input().begin(), node_def.input().end());
    if (Status status =
            ReadNodeDef(node_def, UnknownValues::kKeep, budget, &node.attrs, &node.extra);
        !status.ok()) {
      return fail(status.Annotate(Format("node {}", Printable(node_def.name()))));
    }
    function.nodes.push_back(std::move(node));
  }
  function.results.insert(proto.ret().begin(), proto.ret().end());
  function.control_results.insert(proto.control_ret().begin(), proto.control_ret().end());
  TRY_ASSIGN(function.extra, RestOf(proto, function, &attr_rest));
  return function;
}

Status FunctionToProto(const FunctionDef& function, tf::FunctionDef* proto) {
  proto->Clear();
  TRY(FromWire(function.extra, kAnySize, proto));
  TRY(WriteSignature(function, proto->mutable_signature()));
  TRY(AttrsToProto(function.attrs, proto->mutable_attr()));
  for (const FunctionNode& node : function.nodes) {
    tf::NodeDef* node_def = proto->add_node_def();
    TRY(WriteNodeDef(node.attrs, node.extra, node_def));
    node_def->set_name(node.name);
    node_def->set_op(node.op);
    node_def->set_device(node.device);
    node_def->mutable_input()->Assign(node.inputs.begin(), node.inputs.end());
  }
  for (const auto& [name, source] : function.results) (*proto->mutable_ret())[name] = source;
  for (const auto& [name, node] : function.control_results)
    (*proto->mutable_control_ret())[name] = node;
  return OkStatus();
}

Status AddToLibrary(const tf::FunctionDefLibrary& proto, ImportBudget* budget,
                    FunctionLibrary* library) {
  for (const tf::FunctionDef& def : proto.function()) {
    TRY_ASSIGN(FunctionDef function, FunctionFromProto(def, budget));
    const std::string name = function.signature.name;
    const auto found = library->functions.find(name);
    if (found == library->functions.end()) {
      library->functions.emplace(name, std::make_shared<const FunctionDef>(std::move(function)));
      continue;
    }
    TRY_ASSIGN(const std::string old_wire, Encoded(*found->second));
    TRY_ASSIGN(const std::string new_wire, Encoded(function));
    if (old_wire != new_wire) {
      return InvalidArgument(
          "Cannot add function '{}' because a different function with the same name already "
          "exists.",
          Printable(name));
    }
  }
  for (const tf::GradientDef& gradient : proto.gradient()) {
    const auto [it, added] =
        library->gradients.emplace(gradient.function_name(), gradient.gradient_func());
    if (!added && it->second != gradient.gradient_func()) {
      return InvalidArgument(
          "Cannot assign gradient function '{}' to '{}' because it already has gradient function "
          "'{}'",
          Printable(gradient.gradient_func()), Printable(gradient.function_name()),
          Printable(it->second));
    }
  }
  return MergeExtra(proto, &library->extra);
}

Status LibraryToProto(const FunctionLibrary& library, tf::FunctionDefLibrary* proto) {
  tf::FunctionDefLibrary rest;
  TRY(FromWire(library.extra, kAnySize, &rest));
  google::protobuf::RepeatedPtrField<tf::GradientDef> kept;
  kept.Swap(rest.mutable_gradient());
  std::map<std::string_view, const tf::GradientDef*> kept_by_name;
  for (const tf::GradientDef& gradient : kept) kept_by_name[gradient.function_name()] = &gradient;
  proto->MergeFrom(rest);
  for (const auto& [name, function] : library.functions) {
    TRY(FunctionToProto(*function, proto->add_function()));
  }
  for (const auto& [function, gradient] : library.gradients) {
    tf::GradientDef* def = proto->add_gradient();
    if (const auto it = kept_by_name.find(function); it != kept_by_name.end()) *def = *it->second;
    def->set_function_name(function);
    def->set_gradient_func(gradient);
  }
  return OkStatus();
}

}  // namespace penstock
