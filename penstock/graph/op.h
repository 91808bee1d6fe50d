#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/graph/attr_value.h"
#include "penstock/graph/infer.h"
#include "penstock/graph/registry.h"
#include "penstock/graph/scope.h"

// One op is one plain struct: its fields are its attributes, its members are its rules. This file
// reads such a struct and makes its OpDef, its NodeDef decoding and its shape and gradient
// functions. docs/ARCHITECTURE.md shows one whole.

namespace penstock {

template <size_t N>
struct FixedString {
  char text[N] = {};
  constexpr FixedString(const char (&from)[N]) { std::copy_n(from, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

// A type attribute and the types it may take; none listed: any.
template <FixedString Name, class... Ts>
struct TypeVar {};
// The same with a default.
template <FixedString Name, class Default, class... Ts>
struct TypeVarOr {};
// A list of tensors of one type whose length is the attribute `Number`.
template <FixedString Number, class T, int Minimum = 1>
struct List {};
// A list of tensors whose types are the attribute `Name`.
template <FixedString Name, int Minimum = 1>
struct TypeList {};
// A mutable variable.
template <class T>
struct Ref {};

template <FixedString Name, class T>
struct In {
  static constexpr bool kIsInput = true;
  static constexpr std::string_view kName = Name.view();
  using Type = T;
};
template <FixedString Name, class T>
struct Out {
  static constexpr bool kIsInput = false;
  static constexpr std::string_view kName = Name.view();
  using Type = T;
};
template <class... Args>
struct Signature {};

// An attribute: its name and the field that holds it. The field's initial value is the default,
// unless `required`.
template <class Op, class V>
struct Field {
  std::string_view name;
  V Op::*member;
  bool required = false;
  int64_t minimum = INT64_MIN;
  std::string_view allowed = {};  // strings, separated by '|'

  constexpr Field(std::string_view n, V Op::*m) : name(n), member(m) {}
  constexpr Field Required() const {
    Field copy = *this;
    copy.required = true;
    return copy;
  }
  constexpr Field Min(int64_t least) const {
    Field copy = *this;
    copy.minimum = least;
    return copy;
  }
  constexpr Field OneOf(std::string_view strings) const {
    Field copy = *this;
    copy.allowed = strings;
    return copy;
  }
};

namespace op_internal {

// ---- reading a Signature ----
//
// Templates only turn types into plain data; functions in op.cc, compiled once, do the rest. There
// are hundreds of ops.

// An argument of a signature as data.
struct ArgSpec {
  std::string_view name;
  bool is_input = false;
  bool is_ref = false;
  DType dtype = DType::kInvalid;  // a fixed type
  std::string_view type_attr;     // or an attribute, and what it may be
  std::span<const DType> allowed;
  DType default_type = DType::kInvalid;
  std::string_view number_attr;  // of a list
  std::string_view type_list_attr;
  int minimum = 0;
};

template <class T>
struct TypeOf {  // a fixed C++ type
  static constexpr void Set(ArgSpec& arg) { arg.dtype = kDTypeOf<T>; }
};
template <FixedString Name, class... Ts>
struct TypeOf<TypeVar<Name, Ts...>> {
  static constexpr std::array<DType, sizeof...(Ts)> kAllowed{kDTypeOf<Ts>...};
  static constexpr void Set(ArgSpec& arg) {
    arg.type_attr = Name.view();
    arg.allowed = kAllowed;
  }
};
template <FixedString Name, class Default, class... Ts>
struct TypeOf<TypeVarOr<Name, Default, Ts...>> {
  static constexpr void Set(ArgSpec& arg) {
    TypeOf<TypeVar<Name, Ts...>>::Set(arg);
    arg.default_type = kDTypeOf<Default>;
  }
};
template <FixedString Number, class T, int Minimum>
struct TypeOf<List<Number, T, Minimum>> {
  static constexpr void Set(ArgSpec& arg) {
    TypeOf<T>::Set(arg);
    arg.number_attr = Number.view();
    arg.minimum = Minimum;
  }
};
template <FixedString Name, int Minimum>
struct TypeOf<TypeList<Name, Minimum>> {
  static constexpr void Set(ArgSpec& arg) {
    arg.type_list_attr = Name.view();
    arg.minimum = Minimum;
  }
};
template <class T>
struct TypeOf<Ref<T>> {
  static constexpr void Set(ArgSpec& arg) {
    TypeOf<T>::Set(arg);
    arg.is_ref = true;
  }
};
template <class Arg>
constexpr ArgSpec SpecOf() {
  ArgSpec spec;
  spec.name = Arg::kName;
  spec.is_input = Arg::kIsInput;
  TypeOf<typename Arg::Type>::Set(spec);
  return spec;
}
void DescribeArgs(std::span<const ArgSpec> args, OpDef& def);
// Neither stateful nor over references.
bool IsPure(const OpDef& def);

template <class T>
inline constexpr bool kIsList = false;
template <FixedString Number, class T, int Minimum>
inline constexpr bool kIsList<List<Number, T, Minimum>> = true;
template <FixedString Name, int Minimum>
inline constexpr bool kIsList<TypeList<Name, Minimum>> = true;

template <class Sig>
struct SignatureOf;
template <class... Args>
struct SignatureOf<Signature<Args...>> {
  static constexpr int kInputs = (0 + ... + (Args::kIsInput ? 1 : 0));
  static constexpr int kOutputs = static_cast<int>(sizeof...(Args)) - kInputs;
  static constexpr bool kHasList = (false || ... || kIsList<typename Args::Type>);

  static constexpr std::array<ArgSpec, sizeof...(Args)> kArgs{SpecOf<Args>()...};
};

// ---- attributes ----

template <class V>
inline constexpr std::string_view kKindOf = "";
template <>
inline constexpr std::string_view kKindOf<std::string> = "string";
template <>
inline constexpr std::string_view kKindOf<int64_t> = "int";
template <>
inline constexpr std::string_view kKindOf<float> = "float";
template <>
inline constexpr std::string_view kKindOf<bool> = "bool";
template <>
inline constexpr std::string_view kKindOf<DType> = "type";
template <>
inline constexpr std::string_view kKindOf<Shape> = "shape";
template <>
inline constexpr std::string_view kKindOf<Tensor> = "tensor";
template <>
inline constexpr std::string_view kKindOf<FunctionName> = "func";
template <>
inline constexpr std::string_view kKindOf<std::vector<std::string>> = "list(string)";
template <>
inline constexpr std::string_view kKindOf<std::vector<int64_t>> = "list(int)";
template <>
inline constexpr std::string_view kKindOf<std::vector<float>> = "list(float)";
template <>
inline constexpr std::string_view kKindOf<std::vector<bool>> = "list(bool)";
template <>
inline constexpr std::string_view kKindOf<std::vector<DType>> = "list(type)";
template <>
inline constexpr std::string_view kKindOf<std::vector<Shape>> = "list(shape)";
template <>
inline constexpr std::string_view kKindOf<std::vector<Tensor>> = "list(tensor)";
template <>
inline constexpr std::string_view kKindOf<std::vector<FunctionName>> = "list(func)";

// One attribute of any op, by the kind of its value; defined in op.cc for all kinds.
template <class V>
void DescribeField(std::string_view name, const V& value, bool required, int64_t minimum,
                   std::string_view allowed, OpDef& def);
template <class V>
void DecodeField(std::string_view name, const AttrMap& attrs, V& value, Status& status);
template <class V>
void EncodeField(std::string_view name, const V& value, AttrMap& attrs);

template <class Op>
constexpr auto AttrsOf() {
  if constexpr (requires { Op::kAttrs; }) {
    return Op::kAttrs;
  } else {
    return std::tuple<>();
  }
}

// The attributes of a struct's values, for the typed call: fields that differ from nothing are all
// written.
template <class Op>
AttrMap Encode(const Op& op) {
  AttrMap attrs;
  std::apply([&](const auto&... field) { (EncodeField(field.name, op.*field.member, attrs), ...); },
             AttrsOf<Op>());
  return attrs;
}

template <class Op>
void DescribeAttrs(OpDef& def) {
  const Op defaults{};
  std::apply(
      [&](const auto&... field) {
        (DescribeField(field.name, defaults.*field.member, field.required, field.minimum,
                       field.allowed, def),
         ...);
      },
      AttrsOf<Op>());
}

// ---- decoding ----

template <class Op>
struct Decoded {
  using Sig = SignatureOf<typename Op::Sig>;
  Op op;
  std::array<int, Sig::kInputs> input_counts;
  std::array<int, Sig::kOutputs> output_counts;
};

template <class Op>
Result<DecodedOp> Decode(const AttrMap& attrs, const NodeTypes& types) {
  auto decoded = std::make_shared<Decoded<Op>>();
  Status status;
  std::apply(
      [&](const auto&... field) {
        (DecodeField(field.name, attrs, decoded->op.*field.member, status), ...);
      },
      AttrsOf<Op>());
  TRY(status);
  std::copy_n(types.input_counts.begin(), decoded->input_counts.size(),
              decoded->input_counts.begin());
  std::copy_n(types.output_counts.begin(), decoded->output_counts.size(),
              decoded->output_counts.begin());
  if constexpr (requires(const Op& op) { op.CheckAttrs(); }) TRY(decoded->op.CheckAttrs());
  return DecodedOp(std::move(decoded));
}

// ---- shapes ----

// What one parameter of InferShape is made of.
template <class P>
struct InferParam;
template <>
struct InferParam<const Shape&> {
  static const Shape& Make(std::span<const Known> args) { return *args[0].shape; }
};
template <>
struct InferParam<const Known&> {
  static const Known& Make(std::span<const Known> args) { return args[0]; }
};
template <>
struct InferParam<const Integers&> {
  static Integers Make(std::span<const Known> args) { return Integers(args[0]); }
};
template <>
struct InferParam<const Handle&> {
  static Handle Make(std::span<const Known> args) {
    return {args[0].handle_shape == nullptr ? Shape::Unknown() : *args[0].handle_shape};
  }
};
template <>
struct InferParam<std::span<const Known>> {
  static std::span<const Known> Make(std::span<const Known> args) { return args; }
};

inline void StoreShapes(Shape&& shape, std::span<Shape> out) {
  std::fill(out.begin(), out.end(), shape);
}
template <class Shapes>
void StoreShapes(Shapes&& shapes, std::span<Shape> out) {
  std::copy_n(shapes.begin(), std::min<size_t>(shapes.size(), out.size()), out.begin());
}

template <class Op, class R, class... Params, size_t... I>
Status CallInfer(R (Op::*infer)(Params...) const, const Decoded<Op>& decoded,
                 [[maybe_unused]] std::span<const Known> inputs, std::span<Shape> outputs,
                 std::index_sequence<I...>) {
  std::array<size_t, sizeof...(Params) + 1> at{};
  for (size_t i = 0; i < sizeof...(Params); ++i)
    at[i + 1] = at[i] + static_cast<size_t>(decoded.input_counts[i]);
  auto result = (decoded.op.*infer)(InferParam<Params>::Make(
      inputs.subspan(at[I], static_cast<size_t>(decoded.input_counts[I])))...);
  if (!result.ok()) return result.status();
  StoreShapes(*std::move(result), outputs);
  return OkStatus();
}
template <class Op, class R, class... Params>
Status CallInfer(R (Op::*infer)(Params...) const, const Decoded<Op>& decoded,
                 std::span<const Known> inputs, std::span<Shape> outputs) {
  static_assert(sizeof...(Params) == Decoded<Op>::Sig::kInputs,
                "InferShape takes one parameter for each input");
  return CallInfer(infer, decoded, inputs, outputs, std::make_index_sequence<sizeof...(Params)>());
}

template <class Op, class R, class... Params>
std::vector<bool> ReadsValues(R (Op::*)(Params...) const) {
  return {(std::is_same_v<Params, const Known&> || std::is_same_v<Params, const Integers&>)...};
}

// An op is element-wise when it has a member named Eval, of whatever kind: beside another Eval its
// name is ambiguous.
struct AnotherEval {
  int Eval;
};
template <class Op>
struct WithAnotherEval : Op, AnotherEval {};
template <class Op>
inline constexpr bool kIsElementwise = !requires {
  &WithAnotherEval<Op>::Eval;
};

Status InferBroadcast(std::span<const Known> inputs, std::span<Shape> outputs);
Status InferSame(std::span<const Known> inputs, std::span<Shape> outputs);
template <class Op>
inline constexpr bool kHasSameShapes = requires {
  Op::kSameShapes;
};

template <class Op>
Status Infer(const void* op, std::span<const Known> inputs, std::span<Shape> outputs) {
  const auto& decoded = *static_cast<const Decoded<Op>*>(op);
  if constexpr (requires { &Op::InferShape; }) {
    return CallInfer(&Op::InferShape, decoded, inputs, outputs);
  } else if constexpr (kHasSameShapes<Op>) {
    return InferSame(inputs, outputs);
  } else {
    return InferBroadcast(inputs, outputs);
  }
}

// ---- gradients ----

template <class Op>
Status Gradient(const void* op, Gradients& g) {
  const Op& self = static_cast<const Decoded<Op>*>(op)->op;
  if constexpr (requires { self.Gradient(g); }) {
    self.Gradient(g);
  } else if constexpr (requires(Expr e) { Op::Gradient(e, e, e); }) {
    g.Set(0, Op::Gradient(g.input(0), g.output(0), g.dy()));
  } else {
    const std::array<Expr, 2> d = Op::Gradient(g.input(0), g.input(1), g.output(0), g.dy());
    for (const int i : {0, 1}) {
      if (!d[i].valid()) continue;
      if constexpr (kHasSameShapes<Op>) {
        g.Set(i, d[i]);
      } else {
        g.SetUnbroadcast(i, d[i], 1 - i);
      }
    }
  }
  return g.scope().status();
}

}  // namespace op_internal

// Everything that the rooms from graph/ to session/ know of an op, read off its struct. A struct
// has:
//   kName, Sig                        always
//   kAttrs                            a tuple of Fields, when it has attributes besides the types
//   in Sig InferShape(...) const             a parameter for each input: const Shape&, const
//   Known&, const Integers& or, for a list,
//                                     std::span<const Known>; returns Result of a Shape, an array
//                                     or a vector of them. An element-wise op without one
//                                     broadcasts, or refuses to if it has
//   kSameShapes = true
//   Gradient                          of an element-wise op: Expr(x, y, dy) or array<Expr, 2>(a, b,
//   z, dz); else (Gradients&) const kNoGradient = true                in its place CheckAttrs()
//   const -> Status      rules between attributes kStateful, kCommutative, kAggregate,
//   kAllowsUninitialized, kAliases, kKeepsInputs, kInPlace, kCheap, kAsync, kNoOp, kCost
template <class Op>
OpInfo MakeOpInfo() {
  using namespace op_internal;
  OpInfo info;
  info.def.name = Op::kName;
  DescribeArgs(SignatureOf<typename Op::Sig>::kArgs, info.def);
  DescribeAttrs<Op>(info.def);
  if constexpr (requires { Op::kStateful; }) info.def.is_stateful = Op::kStateful;
  if constexpr (requires { Op::kCommutative; }) info.def.is_commutative = Op::kCommutative;
  if constexpr (requires { Op::kAggregate; }) info.def.is_aggregate = Op::kAggregate;
  if constexpr (requires { Op::kAllowsUninitialized; })
    info.def.allows_uninitialized_input = Op::kAllowsUninitialized;
  OpTraits& traits = info.traits;
  traits.elementwise = kIsElementwise<Op>;
  traits.in_place = kIsElementwise<Op>;
  if constexpr (requires { &Op::InferShape; }) traits.reads_value = ReadsValues(&Op::InferShape);
  if constexpr (requires { Op::kInPlace; }) traits.in_place = Op::kInPlace;
  if constexpr (requires { Op::kAliases; }) traits.aliases_input = Op::kAliases;
  if constexpr (requires { Op::kKeepsInputs; }) traits.keeps_inputs = Op::kKeepsInputs;
  if constexpr (requires { Op::kCheap; }) traits.cheap = Op::kCheap;
  if constexpr (requires { Op::kNoOp; }) traits.no_op = Op::kNoOp;
  if constexpr (requires { Op::kAsync; }) traits.async = Op::kAsync;
  if constexpr (requires { Op::kCost; }) traits.cost = Op::kCost;
  traits.pure = IsPure(info.def);
  info.decode = &Decode<Op>;
  if constexpr (kIsElementwise<Op> || requires { &Op::InferShape; }) info.infer = &Infer<Op>;
  if constexpr (requires { Op::kNoGradient; }) {
    info.no_gradient = true;
  } else if constexpr (requires { &Op::Gradient; }) {
    info.gradient = &op_internal::Gradient<Op>;
  }
  return info;
}

}  // namespace penstock
