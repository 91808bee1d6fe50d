#pragma once

#include <array>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "penstock/kernels/update.h"
#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"
#include "penstock/ops/variable_access.h"

// One step of training: moves a variable and its slots by a gradient. A rule says which slots and
// numbers it has; from it come up to four ops: variables by reference or by handle, all of the
// variable or the rows that indices name. The formulas are in kernels/update_rules.h.
//
// All variables of a node are locked together, so that others see the whole update or none of it,
// whether or not use_locking asks for it.

namespace penstock::ops {

// What an op's inputs are, after the variables: a number, the gradient, or the number of the step.
enum class UpdateInput { kNumber, kGradient, kStep };
template <FixedString Name, UpdateInput K>
struct UpdateArg {};
template <FixedString Name>
using Number = UpdateArg<Name, UpdateInput::kNumber>;
template <FixedString Name = "grad">
using Gradient = UpdateArg<Name, UpdateInput::kGradient>;
template <FixedString Name>
using Step = UpdateArg<Name, UpdateInput::kStep>;

// The attributes of a rule: use_locking, and a switch where it has one.
struct LockingField {
  bool use_locking = false;
  static constexpr std::tuple kAttrs{Field{"use_locking", &LockingField::use_locking}};
  bool flag() const { return false; }
};
template <FixedString Name, bool Default>
struct SwitchField {
  bool use_locking = false;
  bool value = Default;
  static constexpr std::tuple kAttrs{Field{"use_locking", &SwitchField::use_locking},
                                     Field{Name.view(), &SwitchField::value}};
  bool flag() const { return value; }
};
using NesterovField = SwitchField<"use_nesterov", false>;
using SlotsField = SwitchField<"update_slots", true>;
using LinearField = SwitchField<"multiply_linear_by_lr", false>;

template <FixedString... Names>
struct Slots {};
template <class... Ts>
struct Args {};

// What the kernel and the shape rule need to know of an op.
struct UpdateLayout {
  kernels::UpdateRule rule = {};
  int num_slots = 0;
  bool is_reference = false;
  bool is_sparse = false;
  int gradient = 0;                   // the input's number; its indices follow it
  std::span<const int> numbers = {};  // of the inputs that are the rule's parameters, in order
  std::span<const int> places = {};   // where each of them goes among the rule's parameters
};

// The layout of a rule that moves variables of that op one by one: "ResourceApplyAdam". Null for
// others.
const UpdateLayout* FindElementwiseUpdate(std::string_view op);

// Calls `update` with the values of the variables behind inputs 0, 1, ..., all locked. An error
// when one comes twice.
Status LockVariables(KernelContext& context,
                     std::span<const std::shared_ptr<StateVariable>> variables,
                     FunctionRef<Status(std::span<Tensor* const> values)> update);
// The rule's numbers, from as many scalars.
Result<kernels::UpdateParameters> ReadNumbers(const UpdateLayout& layout, bool flag,
                                              FunctionRef<const Tensor&(size_t i)> number);
// `shapes` of all inputs; of a handle, that of its variable.
Status CheckUpdate(const UpdateLayout& layout, std::span<const Shape> shapes);
Result<std::unique_ptr<Kernel>> MakeUpdateKernel(const KernelRequest& request,
                                                 const UpdateLayout& layout, bool flag);

namespace update_internal {

template <class... Ins>
struct Pack {};
template <class... Packs>
struct JoinOf;
template <class... As>
struct JoinOf<Pack<As...>> {
  using Type = Pack<As...>;
};
template <class... As, class... Bs, class... Rest>
struct JoinOf<Pack<As...>, Pack<Bs...>, Rest...> : JoinOf<Pack<As..., Bs...>, Rest...> {};

using T = NumberType<"T">;

template <bool IsSparse, class Arg>
struct InputsOf;
template <bool IsSparse, FixedString Name>
struct InputsOf<IsSparse, UpdateArg<Name, UpdateInput::kNumber>> {
  using Type = Pack<In<Name, T>>;
};
template <bool IsSparse, FixedString Name>
struct InputsOf<IsSparse, UpdateArg<Name, UpdateInput::kStep>> {
  using Type = Pack<In<Name, int64_t>>;
};
template <FixedString Name>
struct InputsOf<false, UpdateArg<Name, UpdateInput::kGradient>> {
  using Type = Pack<In<Name, T>>;
};
// Sparse forms call every gradient by this name.
template <FixedString Name>
struct InputsOf<true, UpdateArg<Name, UpdateInput::kGradient>> {
  using Type = Pack<In<"grad", T>, In<"indices", IndexType<"Tindices">>>;
};

template <bool IsReference, FixedString Name>
using SlotInput = std::conditional_t<IsReference, In<Name, Ref<T>>, In<Name, ResourceHandle>>;

template <class Input>
struct ShapeParam {
  using Type = const Shape&;
};
template <FixedString Name>
struct ShapeParam<In<Name, ResourceHandle>> {
  using Type = const Handle&;
};
inline const Shape& ShapeOf(const Shape& shape) { return shape; }
inline const Shape& ShapeOf(const Handle& handle) { return handle.value_shape; }

template <bool IsReference, class... Ins>
struct SignatureFrom {
  using Type = Signature<Ins...>;
};
template <class... Ins>
struct SignatureFrom<true, Ins...> {
  using Type = Signature<Ins..., Out<"out", Ref<T>>>;
};

}  // namespace update_internal

template <FixedString Name, class Rule, bool IsReference, bool IsSparse, class Inputs>
struct UpdateOp;
template <FixedString Name, class Rule, bool IsReference, bool IsSparse, class... Ins>
struct UpdateOp<Name, Rule, IsReference, IsSparse, update_internal::Pack<Ins...>> : Rule::Fields {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = !IsReference;
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 6;
  using Sig = typename update_internal::SignatureFrom<IsReference, Ins...>::Type;

  static constexpr UpdateLayout Layout() { return Rule::template Layout<IsReference, IsSparse>(); }
  Result<std::vector<Shape>> InferShape(
      typename update_internal::ShapeParam<Ins>::Type... inputs) const {
    const std::array<Shape, sizeof...(Ins)> shapes{update_internal::ShapeOf(inputs)...};
    TRY(CheckUpdate(Layout(), shapes));
    return IsReference ? std::vector<Shape>{shapes[0]} : std::vector<Shape>();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    const auto& op = static_cast<const op_internal::Decoded<UpdateOp>*>(request.op.get())->op;
    return MakeUpdateKernel(request, Layout(), op.flag());
  }
};

// A rule with its slots (the variable first), its other inputs and its attributes. Places: where
// each number of the op stands among the parameters of the rule, where these are not just in order.
template <kernels::UpdateRule R, class SlotNames, class Inputs, class Attributes, int... Places>
struct TrainingRule;
template <kernels::UpdateRule R, FixedString... Names, FixedString... ArgNames,
          UpdateInput... Kinds, class Attributes, int... Places>
struct TrainingRule<R, Slots<Names...>, Args<UpdateArg<ArgNames, Kinds>...>, Attributes,
                    Places...> {
  using Fields = Attributes;

  template <FixedString Name, bool IsReference, bool IsSparse>
  using Op = UpdateOp<
      Name, TrainingRule, IsReference, IsSparse,
      typename update_internal::JoinOf<
          update_internal::Pack<update_internal::SlotInput<IsReference, Names>...>,
          typename update_internal::InputsOf<IsSparse, UpdateArg<ArgNames, Kinds>>::Type...>::Type>;

  template <FixedString Name>
  using Dense = Op<Name, true, false>;
  template <FixedString Name>
  using Sparse = Op<Name, true, true>;
  template <FixedString Name>
  using ResourceDense = Op<Name, false, false>;
  template <FixedString Name>
  using ResourceSparse = Op<Name, false, true>;

  static constexpr int kNumbers = (0 + ... + (Kinds != UpdateInput::kGradient ? 1 : 0));
  // The inputs that are numbers, when the gradient takes one place or two.
  template <bool IsSparse>
  static constexpr std::array<int, kNumbers> kNumberInputs = [] {
    std::array<int, kNumbers> inputs{};
    int input = sizeof...(Names);
    size_t found = 0;
    ((Kinds == UpdateInput::kGradient ? void(input += IsSparse ? 2 : 1)
                                      : void(inputs[found++] = input++)),
     ...);
    return inputs;
  }();
  static constexpr std::array<int, kNumbers> kPlaces = [] {
    std::array<int, kNumbers> places{};
    for (size_t i = 0; i < places.size(); ++i) places[i] = static_cast<int>(i);
    if constexpr (sizeof...(Places) > 0) places = {Places...};
    return places;
  }();

  template <bool IsReference, bool IsSparse>
  static constexpr UpdateLayout Layout() {
    UpdateLayout layout;
    layout.rule = R;
    layout.num_slots = sizeof...(Names);
    layout.is_reference = IsReference;
    layout.is_sparse = IsSparse;
    int input = sizeof...(Names);
    ((Kinds == UpdateInput::kGradient ? void(layout.gradient = input) : void(), ++input), ...);
    layout.numbers = kNumberInputs<IsSparse>;
    layout.places = kPlaces;
    return layout;
  }
};

// ---- the rules ----

using kernels::UpdateRule;

using GradientDescentRule = TrainingRule<UpdateRule::kGradientDescent, Slots<"var">,
                                         Args<Number<"alpha">, Gradient<"delta">>, LockingField>;
using ProximalGradientDescentRule =
    TrainingRule<UpdateRule::kProximalGradientDescent, Slots<"var">,
                 Args<Number<"alpha">, Number<"l1">, Number<"l2">, Gradient<"delta">>,
                 LockingField>;
using MomentumRule =
    TrainingRule<UpdateRule::kMomentum, Slots<"var", "accum">,
                 Args<Number<"lr">, Gradient<>, Number<"momentum">>, NesterovField>;
using KerasMomentumRule =
    TrainingRule<UpdateRule::kKerasMomentum, Slots<"var", "accum">,
                 Args<Number<"lr">, Gradient<>, Number<"momentum">>, NesterovField>;
using AdagradRule = TrainingRule<UpdateRule::kAdagrad, Slots<"var", "accum">,
                                 Args<Number<"lr">, Gradient<>>, SlotsField>;
using AdagradV2Rule = TrainingRule<UpdateRule::kAdagradV2, Slots<"var", "accum">,
                                   Args<Number<"lr">, Number<"epsilon">, Gradient<>>, SlotsField>;
using ProximalAdagradRule =
    TrainingRule<UpdateRule::kProximalAdagrad, Slots<"var", "accum">,
                 Args<Number<"lr">, Number<"l1">, Number<"l2">, Gradient<>>, LockingField>;
using AdagradDARule = TrainingRule<
    UpdateRule::kAdagradDA, Slots<"var", "gradient_accumulator", "gradient_squared_accumulator">,
    Args<Gradient<>, Number<"lr">, Number<"l1">, Number<"l2">, Step<"global_step">>, LockingField>;
using AdadeltaRule =
    TrainingRule<UpdateRule::kAdadelta, Slots<"var", "accum", "accum_update">,
                 Args<Number<"lr">, Number<"rho">, Number<"epsilon">, Gradient<>>, LockingField>;
using RmsPropRule = TrainingRule<
    UpdateRule::kRmsProp, Slots<"var", "ms", "mom">,
    Args<Number<"lr">, Number<"rho">, Number<"momentum">, Number<"epsilon">, Gradient<>>,
    LockingField>;
using CenteredRmsPropRule = TrainingRule<
    UpdateRule::kCenteredRmsProp, Slots<"var", "mg", "ms", "mom">,
    Args<Number<"lr">, Number<"rho">, Number<"momentum">, Number<"epsilon">, Gradient<>>,
    LockingField>;
using AdamArgs = Args<Number<"beta1_power">, Number<"beta2_power">, Number<"lr">, Number<"beta1">,
                      Number<"beta2">, Number<"epsilon">, Gradient<>>;
using AdamRule = TrainingRule<UpdateRule::kAdam, Slots<"var", "m", "v">, AdamArgs, NesterovField>;
using AdamWithAmsgradRule = TrainingRule<UpdateRule::kAdamWithAmsgrad,
                                         Slots<"var", "m", "v", "vhat">, AdamArgs, LockingField>;
using AdamWArgs = Args<Number<"beta1_power">, Number<"beta2_power">, Number<"lr">, Number<"beta1">,
                       Number<"beta2">, Number<"epsilon">, Number<"weight_decay">, Gradient<>>;
using AdamWRule =
    TrainingRule<UpdateRule::kAdamW, Slots<"var", "m", "v">, AdamWArgs, NesterovField>;
// Its step may be as long as the variable's norm says, or not.
using LambRule = TrainingRule<UpdateRule::kLamb, Slots<"var", "m", "v">, AdamWArgs,
                              SwitchField<"adapt_to_norm", true>>;
using AdaMaxRule = TrainingRule<UpdateRule::kAdaMax, Slots<"var", "m", "v">,
                                Args<Number<"beta1_power">, Number<"lr">, Number<"beta1">,
                                     Number<"beta2">, Number<"epsilon">, Gradient<>>,
                                LockingField>;
using AddSignRule = TrainingRule<
    UpdateRule::kAddSign, Slots<"var", "m">,
    Args<Number<"lr">, Number<"alpha">, Number<"sign_decay">, Number<"beta">, Gradient<>>,
    LockingField>;
using PowerSignRule = TrainingRule<
    UpdateRule::kPowerSign, Slots<"var", "m">,
    Args<Number<"lr">, Number<"logbase">, Number<"sign_decay">, Number<"beta">, Gradient<>>,
    LockingField>;
// Without a shrinkage, which is the rule's fourth parameter.
using FtrlRule =
    TrainingRule<UpdateRule::kFtrl, Slots<"var", "accum", "linear">,
                 Args<Gradient<>, Number<"lr">, Number<"l1">, Number<"l2">, Number<"lr_power">>,
                 LinearField, 0, 1, 2, 4>;
using FtrlV2Rule = TrainingRule<UpdateRule::kFtrl, Slots<"var", "accum", "linear">,
                                Args<Gradient<>, Number<"lr">, Number<"l1">, Number<"l2">,
                                     Number<"l2_shrinkage">, Number<"lr_power">>,
                                LinearField>;

}  // namespace penstock::ops
