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

// An attribute as data, and where its value lies in the op's struct.
struct FieldSpec {
  std::string_view name;
  std::string_view kind;
  void* (*address)(void* op);
  bool required = false;
  int64_t minimum = INT64_MIN;
  std::string_view allowed;
};

template <class Op>
constexpr auto AttrsOf() {
  if constexpr (requires { Op::kAttrs; }) {
    return Op::kAttrs;
  } else {
    return std::tuple<>();
  }
}
template <class Op, size_t I>
void* FieldAddress(void* op) {
  return &(static_cast<Op*>(op)->*std::get<I>(Op::kAttrs).member);
}
template <class V, class Owner>
constexpr std::string_view KindOfField(const Field<Owner, V>&) {
  static_assert(!kKindOf<V>.empty(), "a field must be of a type that an attribute can hold");
  return kKindOf<V>;
}
template <class Op, size_t... I>
constexpr std::array<FieldSpec, sizeof...(I)> MakeFields(std::index_sequence<I...>) {
  [[maybe_unused]] constexpr auto kAttrs = AttrsOf<Op>();
  return {FieldSpec{std::get<I>(kAttrs).name, KindOfField(std::get<I>(kAttrs)),
                    &FieldAddress<Op, I>, std::get<I>(kAttrs).required, std::get<I>(kAttrs).minimum,
                    std::get<I>(kAttrs).allowed}...};
}
template <class Op>
inline constexpr auto kFieldsOf =
    MakeFields<Op>(std::make_index_sequence<std::tuple_size_v<decltype(AttrsOf<Op>())>>());

// The attributes of a struct's values, for the typed call: fields that differ from nothing are all
// written.
AttrMap EncodeFields(std::span<const FieldSpec> fields, const void* op);
template <class Op>
AttrMap Encode(const Op& op) {
  return EncodeFields(kFieldsOf<Op>, &op);
}

// ---- decoding ----

// Argument i of the OpDef stands for the flat inputs (or outputs) [at[i], at[i + 1]).
struct DecodedBase {
  DecodedBase(void* address, std::span<int> inputs, std::span<int> outputs)
      : op_address(address), input_at(inputs), output_at(outputs) {}
  virtual ~DecodedBase();
  DecodedBase(const DecodedBase&) = delete;
  DecodedBase& operator=(const DecodedBase&) = delete;

  int InputCount(size_t i) const { return input_at[i + 1] - input_at[i]; }
  int OutputCount(size_t i) const { return output_at[i + 1] - output_at[i]; }

  void* const op_address;
  const std::span<int> input_at;
  const std::span<int> output_at;
};

// An op's struct with the values of one node.
template <class Op>
struct Decoded final : DecodedBase {
  using Sig = SignatureOf<typename Op::Sig>;
  Decoded() : DecodedBase(&op, inputs, outputs) {}
  Op op = {};
  std::array<int, Sig::kInputs + 1> inputs = {};
  std::array<int, Sig::kOutputs + 1> outputs = {};
};

template <class Op>
DecodedBase* NewDecoded() {
  return new Decoded<Op>();
}
template <class Op>
Status CheckAttrs(const void* op) {
  return static_cast<const Op*>(op)->CheckAttrs();
}

// ---- shapes ----

// What one parameter of InferShape is made of: the inputs of its argument.
template <class P>
struct InferParam;
template <>
struct InferParam<const Shape&> {
  static const Shape& Make(const Known* first, int) { return *first->shape; }
};
template <>
struct InferParam<const Known&> {
  static const Known& Make(const Known* first, int) { return *first; }
};
template <>
struct InferParam<const Integers&> {
  static Integers Make(const Known* first, int) { return Integers(*first); }
};
template <>
struct InferParam<const Handle&> {
  static Handle Make(const Known* first, int);
};
template <>
struct InferParam<std::span<const Known>> {
  static std::span<const Known> Make(const Known* first, int count) {
    return {first, static_cast<size_t>(count)};
  }
};

// One shape is that of all outputs.
Status StoreShapes(Result<Shape>&& shape, std::span<Shape> out);
Status StoreShapes(const Status& status, std::span<Shape> shapes, std::span<Shape> out);
template <class Shapes>
Status StoreShapes(Result<Shapes>&& shapes, std::span<Shape> out) {
  return StoreShapes(shapes.status(), shapes.ok() ? std::span<Shape>(*shapes) : std::span<Shape>(),
                     out);
}

template <class Op, class R, class... Params, size_t... I>
Status CallInfer(R (Op::*infer)(Params...) const, const Decoded<Op>& decoded,
                 [[maybe_unused]] std::span<const Known> inputs, std::span<Shape> outputs,
                 std::index_sequence<I...>) {
  static_assert(sizeof...(Params) == Decoded<Op>::Sig::kInputs,
                "InferShape takes one parameter for each input");
  return StoreShapes(
      (decoded.op.*infer)(InferParam<Params>::Make(inputs.data() + decoded.inputs[I],
                                                   decoded.inputs[I + 1] - decoded.inputs[I])...),
      outputs);
}

template <class Op, class R, class... Params>
constexpr auto InferIndices(R (Op::*)(Params...) const) {
  return std::index_sequence_for<Params...>();
}
// Of each input, whether the shape rule reads its value.
template <class Op, class R, class... Params>
constexpr std::array<bool, sizeof...(Params)> ReadsValues(R (Op::*)(Params...) const) {
  return {(std::is_same_v<Params, const Known&> || std::is_same_v<Params, const Integers&>)...};
}
template <class Op>
constexpr auto ReadsValuesOf() {
  if constexpr (requires { &Op::InferShape; }) {
    return ReadsValues(&Op::InferShape);
  } else {
    return std::array<bool, 0>();
  }
}
template <class Op>
inline constexpr auto kReadsValues = ReadsValuesOf<Op>();

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
    return CallInfer(&Op::InferShape, decoded, inputs, outputs, InferIndices(&Op::InferShape));
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

// Everything that the rooms from graph/ to session/ know of an op, as constant data: what is made
// of it at start is compiled once, in op.cc.
struct OpSpec {
  std::string_view name;
  std::span<const ArgSpec> args;
  std::span<const FieldSpec> fields;
  std::span<const bool> reads_value;
  DecodedBase* (*decoded)() = nullptr;
  Status (*check)(const void* op) = nullptr;
  Status (*infer)(const void* op, std::span<const Known>, std::span<Shape>) = nullptr;
  Status (*gradient)(const void* op, Gradients&) = nullptr;
  double cost = 1;
  bool is_stateful = false, is_commutative = false, is_aggregate = false;
  bool allows_uninitialized = false, no_gradient = false;
  bool elementwise = false, in_place = false, aliases_input = false, keeps_inputs = false;
  bool cheap = false, no_op = false, async = false;
};

template <class Op>
constexpr OpSpec MakeSpec() {
  OpSpec spec;
  spec.name = Op::kName;
  spec.args = SignatureOf<typename Op::Sig>::kArgs;
  spec.fields = kFieldsOf<Op>;
  spec.reads_value = kReadsValues<Op>;
  spec.decoded = &NewDecoded<Op>;
  if constexpr (requires(const Op& op) { op.CheckAttrs(); }) spec.check = &CheckAttrs<Op>;
  if constexpr (requires { Op::kStateful; }) spec.is_stateful = Op::kStateful;
  if constexpr (requires { Op::kCommutative; }) spec.is_commutative = Op::kCommutative;
  if constexpr (requires { Op::kAggregate; }) spec.is_aggregate = Op::kAggregate;
  if constexpr (requires { Op::kAllowsUninitialized; })
    spec.allows_uninitialized = Op::kAllowsUninitialized;
  spec.elementwise = kIsElementwise<Op>;
  spec.in_place = kIsElementwise<Op>;
  if constexpr (requires { Op::kInPlace; }) spec.in_place = Op::kInPlace;
  if constexpr (requires { Op::kAliases; }) spec.aliases_input = Op::kAliases;
  if constexpr (requires { Op::kKeepsInputs; }) spec.keeps_inputs = Op::kKeepsInputs;
  if constexpr (requires { Op::kCheap; }) spec.cheap = Op::kCheap;
  if constexpr (requires { Op::kNoOp; }) spec.no_op = Op::kNoOp;
  if constexpr (requires { Op::kAsync; }) spec.async = Op::kAsync;
  if constexpr (requires { Op::kCost; }) spec.cost = Op::kCost;
  if constexpr (kIsElementwise<Op> || requires { &Op::InferShape; }) spec.infer = &Infer<Op>;
  if constexpr (requires { Op::kNoGradient; }) {
    spec.no_gradient = true;
  } else if constexpr (requires { &Op::Gradient; }) {
    spec.gradient = &op_internal::Gradient<Op>;
  }
  return spec;
}
template <class Op>
inline constexpr OpSpec kSpecOf = MakeSpec<Op>();

// `spec` must live as long as what is made of it.
OpInfo MakeOpInfo(const OpSpec& spec);

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
  return op_internal::MakeOpInfo(op_internal::kSpecOf<Op>);
}

}  // namespace penstock
