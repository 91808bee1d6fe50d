#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/core/check.h"
#include "penstock/graph/graph.h"
#include "penstock/graph/registry.h"

// A few ops for the tests of this room, which knows none: definitions as TensorFlow's, shape rules
// where a test needs one.

namespace penstock::testing_ops {

// "T" a type attribute, "N*T" a list of N of them, "Ts..." a type list, "float" a dtype; a leading
// '&' makes a reference.
inline ArgDef Arg(std::string name, std::string type) {
  ArgDef arg;
  arg.name = std::move(name);
  if (type.starts_with('&')) {
    arg.is_ref = true;
    type.erase(0, 1);
  }
  if (const size_t star = type.find('*'); star != std::string::npos) {
    arg.number_attr = type.substr(0, star);
    type.erase(0, star + 1);
  }
  if (type.ends_with("...")) {
    arg.type_list_attr = type.substr(0, type.size() - 3);
  } else if (const auto dtype = ParseDType(type)) {
    arg.dtype = *dtype;
  } else {
    arg.type_attr = type;
  }
  return arg;
}

inline AttrDef Attr(std::string name, std::string kind) {
  return {std::move(name), std::move(kind), {}, {}, {}, {}};
}
inline AttrDef Attr(std::string name, std::string kind, AttrValue value) {
  return {std::move(name), std::move(kind), std::move(value), {}, {}, {}};
}
inline AttrDef Count(std::string name) { return {std::move(name), "int", {}, 1, {}, {}}; }
inline AttrDef OneOf(std::string name, std::vector<DType> types) {
  return {std::move(name), "type", {}, {}, std::move(types), {}};
}

inline OpInfo Op(std::string name, std::vector<ArgDef> inputs, std::vector<ArgDef> outputs,
                 std::vector<AttrDef> attrs = {}) {
  OpInfo info;
  info.def.name = std::move(name);
  info.def.inputs = std::move(inputs);
  info.def.outputs = std::move(outputs);
  info.def.attrs = std::move(attrs);
  return info;
}

inline OpInfo ConstOp() {
  OpInfo info =
      Op("Const", {}, {Arg("output", "dtype")}, {Attr("value", "tensor"), Attr("dtype", "type")});
  info.decode = [](const AttrMap& attrs, const NodeTypes& types) -> Result<DecodedOp> {
    const Tensor& value = *FindAttr(attrs, "value")->Get<Tensor>();
    if (value.dtype() != types.outputs[0]) {
      return InvalidArgument("the value of a Const must be {}, got {}", types.outputs[0],
                             value.dtype());
    }
    return DecodedOp(std::make_shared<const Tensor>(value));
  };
  info.infer = [](const void* op, std::span<const Known>, std::span<Shape> outputs) {
    outputs[0] = static_cast<const Tensor*>(op)->shape();
    return OkStatus();
  };
  return info;
}

inline OpInfo PlaceholderOp() {
  OpInfo info = Op("Placeholder", {}, {Arg("output", "dtype")},
                   {Attr("dtype", "type"), Attr("shape", "shape", Shape::Unknown())});
  info.decode = [](const AttrMap& attrs, const NodeTypes&) -> Result<DecodedOp> {
    return DecodedOp(std::make_shared<const Shape>(*FindAttr(attrs, "shape")->Get<Shape>()));
  };
  info.infer = [](const void* op, std::span<const Known>, std::span<Shape> outputs) {
    outputs[0] = *static_cast<const Shape*>(op);
    return OkStatus();
  };
  return info;
}

inline OpInfo Broadcasting(std::string name) {
  OpInfo info = Op(
      std::move(name), {Arg("x", "T"), Arg("y", "T")}, {Arg("z", "T")},
      {OneOf("T", {DType::kFloat, DType::kDouble, DType::kInt32, DType::kInt64, DType::kString})});
  info.infer = [](const void*, std::span<const Known> inputs, std::span<Shape> outputs) -> Status {
    TRY_ASSIGN(outputs[0], BroadcastShapes(*inputs[0].shape, *inputs[1].shape));
    return OkStatus();
  };
  return info;
}

inline OpInfo SameShape(OpInfo info) {
  info.infer = [](const void*, std::span<const Known> inputs, std::span<Shape> outputs) {
    outputs[0] = *inputs[0].shape;
    return OkStatus();
  };
  return info;
}

inline OpInfo MatMulOp() {
  OpInfo info = Op("MatMul", {Arg("a", "T"), Arg("b", "T")}, {Arg("product", "T")},
                   {Attr("transpose_a", "bool", false), Attr("transpose_b", "bool", false),
                    OneOf("T", {DType::kFloat, DType::kDouble})});
  info.infer = [](const void*, std::span<const Known> inputs, std::span<Shape> outputs) -> Status {
    TRY(CheckRank(*inputs[0].shape, 2, "a"));
    TRY(CheckRank(*inputs[1].shape, 2, "b"));
    outputs[0] = Shape::UnknownOfRank(2);
    return OkStatus();
  };
  return info;
}

inline const std::vector<OpInfo>& TinyOpList() {
  static const auto* const ops = new std::vector<OpInfo>{
      ConstOp(),
      PlaceholderOp(),
      MatMulOp(),
      Broadcasting("Add"),
      Broadcasting("Mul"),
      Op("NoOp", {}, {}),
      SameShape(Op("Identity", {Arg("input", "T")}, {Arg("output", "T")}, {Attr("T", "type")})),
      SameShape(Op("Relu", {Arg("features", "T")}, {Arg("activations", "T")},
                   {OneOf("T", {DType::kFloat})})),
      Op("AddN", {Arg("inputs", "N*T")}, {Arg("sum", "T")}, {Count("N"), Attr("T", "type")}),
      Op("Split", {Arg("split_dim", "int32"), Arg("value", "T")}, {Arg("output", "num_split*T")},
         {Count("num_split"), Attr("T", "type")}),
      Op("IdentityN", {Arg("input", "T...")}, {Arg("output", "T...")}, {Attr("T", "list(type)")}),
      Op("VariableV2", {}, {Arg("ref", "&dtype")},
         {Attr("shape", "shape"), Attr("dtype", "type"), Attr("container", "string", ""),
          Attr("shared_name", "string", "")}),
      Op("Assign", {Arg("ref", "&T"), Arg("value", "T")}, {Arg("output_ref", "&T")},
         {Attr("T", "type"), Attr("validate_shape", "bool", true),
          Attr("use_locking", "bool", true)}),
      Op("Switch", {Arg("data", "T"), Arg("pred", "bool")},
         {Arg("output_false", "T"), Arg("output_true", "T")}, {Attr("T", "type")}),
      Op("Merge", {Arg("inputs", "N*T")}, {Arg("output", "T"), Arg("value_index", "int32")},
         {Attr("T", "type"), Count("N")}),
      Op("Enter", {Arg("data", "T")}, {Arg("output", "T")},
         {Attr("T", "type"), Attr("frame_name", "string"), Attr("is_constant", "bool", false),
          Attr("parallel_iterations", "int", int64_t{10})}),
      Op("Exit", {Arg("data", "T")}, {Arg("output", "T")}, {Attr("T", "type")}),
      SameShape(Op("NextIteration", {Arg("data", "T")}, {Arg("output", "T")}, {Attr("T", "type")})),
      Op("LoopCond", {Arg("input", "bool")}, {Arg("output", "bool")}),
      Op("PartitionedCall", {Arg("args", "Tin...")}, {Arg("output", "Tout...")},
         {Attr("Tin", "list(type)"), Attr("Tout", "list(type)"), Attr("f", "func"),
          Attr("config", "string", "")}),
      // Every kind of attribute, all of them with defaults.
      Op("Attributes", {}, {},
         {Attr("s", "string", "s"), Attr("i", "int", int64_t{1}), Attr("f", "float", 1.0f),
          Attr("b", "bool", true), Attr("type", "type", DType::kFloat),
          Attr("shape", "shape", Shape{1}), Attr("tensor", "tensor", Tensor::Scalar(1.0f)),
          Attr("func", "func", FunctionName{"f", {}}),
          Attr("ss", "list(string)", AttrValue::EmptyList{}),
          Attr("is", "list(int)", AttrValue::EmptyList{}),
          Attr("fs", "list(float)", AttrValue::EmptyList{}),
          Attr("bs", "list(bool)", AttrValue::EmptyList{}),
          Attr("types", "list(type)", AttrValue::EmptyList{}),
          Attr("shapes", "list(shape)", AttrValue::EmptyList{}),
          Attr("tensors", "list(tensor)", AttrValue::EmptyList{}),
          Attr("funcs", "list(func)", AttrValue::EmptyList{})}),
  };
  return *ops;
}

inline const OpRegistry& TinyOps() {
  static const OpRegistry* const registry = [] {
    auto* made = new OpRegistry;
    for (const OpInfo& info : TinyOpList()) {
      const Status status = made->Add(info);
      CHECK(status.ok()) << status.ToString();
    }
    return made;
  }();
  return *registry;
}

}  // namespace penstock::testing_ops
