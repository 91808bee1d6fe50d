#pragma once

#include <array>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "penstock/device/kernel.h"
#include "penstock/graph/op.h"

// Turns an op's ComputeCpu into a Kernel: reads the inputs as the types of its parameters, checks
// shapes by InferShape, allocates the outputs and calls it for the dtype of the node.

namespace penstock {

// Kernels on the host see this.
using CpuContext = KernelContext;

// A row-major matrix.
template <class T>
struct Matrix {
  T* data = nullptr;
  int64_t rows = 0;
  int64_t cols = 0;
  T& operator()(int64_t r, int64_t c) const { return data[r * cols + c]; }
};

// Types to instantiate kernels for.
template <class... Ts>
struct Types {};

namespace op_internal {

// ---- one parameter of ComputeCpu ----

template <class P>
struct KernelParam {  // a scalar
  static P Input(CpuContext& context, int at, int) { return *context.input(at).data<P>(); }
};
template <>
struct KernelParam<const Tensor&> {
  static const Tensor& Input(CpuContext& context, int at, int) { return context.input(at); }
};
template <>
struct KernelParam<Tensor&> {
  static Tensor& Output(CpuContext& context, int at, int) { return context.output(at); }
};
template <>
struct KernelParam<const Integers&> {
  static Integers Input(CpuContext& context, int at, int) {
    const Tensor& tensor = context.input(at);
    return Integers(Known{&tensor.shape(), tensor.dtype(), &tensor, nullptr});
  }
};
template <>
struct KernelParam<std::span<Tensor* const>> {
  static std::span<Tensor* const> Input(CpuContext& context, int at, int count) {
    return context.inputs(at, count);
  }
};
template <>
struct KernelParam<std::span<Tensor>> {
  static std::span<Tensor> Output(CpuContext& context, int at, int count) {
    return {count == 0 ? nullptr : &context.output(at), static_cast<size_t>(count)};
  }
};
template <class T>
struct KernelParam<std::span<const T>> {
  static std::span<const T> Input(CpuContext& context, int at, int) {
    return context.input(at).template values<T>();
  }
};
template <class T>
requires(!std::is_const_v<T> && !std::is_same_v<T, Tensor>) struct KernelParam<std::span<T>> {
  static std::span<T> Output(CpuContext& context, int at, int) {
    return context.output(at).template mutable_values<T>();
  }
};
template <class T>
struct KernelParam<Matrix<const T>> {
  static Matrix<const T> Input(CpuContext& context, int at, int) {
    const Tensor& tensor = context.input(at);
    return {tensor.template data<T>(), tensor.shape().dim(0), tensor.shape().dim(1)};
  }
};
template <class T>
requires(!std::is_const_v<T>) struct KernelParam<Matrix<T>> {
  static Matrix<T> Output(CpuContext& context, int at, int) {
    Tensor& tensor = context.output(at);
    return {tensor.template mutable_data<T>(), tensor.shape().dim(0), tensor.shape().dim(1)};
  }
};

// Checks the inputs by the op's shape rule and fills `shapes`; nothing to do when the compiler has
// settled them.
Status InferFromInputs(CpuContext& context, const void* op,
                       Status (*infer)(const void*, std::span<const Known>, std::span<Shape>),
                       std::span<Shape> shapes);
// Gives every output memory: an input's where the op may write in place, else the plan's or new.
Status AllocateOutputs(CpuContext& context, std::span<const DType> dtypes, const Shape* shapes,
                       bool in_place);

// What a kernel does before ComputeCpu is called.
struct KernelRules {
  Status (*infer)(const void*, std::span<const Known>, std::span<Shape>) = nullptr;
  bool allocates = false;
  bool in_place = false;
};

template <class Op, class R, class... Params>
constexpr bool TakesOutputs(R (Op::*)(CpuContext&, Params...) const) {
  using Sig = SignatureOf<typename Op::Sig>;
  constexpr bool kAllocates =
      sizeof...(Params) == Sig::kInputs + Sig::kOutputs && Sig::kOutputs > 0;
  static_assert(kAllocates || sizeof...(Params) == Sig::kInputs,
                "ComputeCpu takes a context, each input, and either each output or none");
  return kAllocates;
}

template <class Op>
constexpr KernelRules RulesOf(bool allocates) {
  KernelRules rules;
  rules.allocates = allocates;
  if constexpr (requires { &Op::InferShape; }) rules.infer = &Infer<Op>;
  if constexpr (requires { Op::kInPlace; }) rules.in_place = Op::kInPlace;
  return rules;
}

// What the kernels of all ops share.
class OpKernel : public Kernel {
 public:
  explicit OpKernel(const KernelRequest& request);
  ~OpKernel() override;

 protected:
  // Checks the shapes and allocates the outputs.
  Status Prepare(CpuContext& context, const KernelRules& rules) const;
  const DecodedBase& decoded() const { return *static_cast<const DecodedBase*>(op_.get()); }

 private:
  const std::shared_ptr<const void> op_;
  const std::vector<DType> output_types_;
};

// Calls one ComputeCpu, plain or of a type.
template <class Op, auto compute>
class ComputeKernel final : public OpKernel {
 public:
  using OpKernel::OpKernel;
  Status Compute(KernelContext& context) override {
    static constexpr KernelRules kRules = RulesOf<Op>(TakesOutputs(compute));
    if (Status status = Prepare(context, kRules); !status.ok()) [[unlikely]]
      return status;
    return Call(compute, context);
  }

 private:
  template <class R, class... Params>
  Status Call(R (Op::*member)(CpuContext&, Params...) const, CpuContext& context) const {
    return Call(member, context, std::index_sequence_for<Params...>());
  }
  template <class R, class... Params, size_t... I>
  Status Call(R (Op::*member)(CpuContext&, Params...) const, CpuContext& context,
              std::index_sequence<I...>) const {
    const auto& op = static_cast<const Decoded<Op>&>(decoded());
    return (op.op.*member)(context, Get<I, Params>(op, context)...);
  }
  template <size_t I, class P>
  static decltype(auto) Get(const Decoded<Op>& op, CpuContext& context) {
    constexpr size_t kInputs = SignatureOf<typename Op::Sig>::kInputs;
    if constexpr (I < kInputs) {
      return KernelParam<P>::Input(context, op.inputs[I], op.inputs[I + 1] - op.inputs[I]);
    } else {
      constexpr size_t kAt = I - kInputs;
      return KernelParam<P>::Output(context, op.outputs[kAt],
                                    op.outputs[kAt + 1] - op.outputs[kAt]);
    }
  }
};

// ---- which type a kernel is chosen by ----

template <class T>
struct TypesOf {
  static constexpr bool kIsVariable = false;
};
template <FixedString Name, class... Ts>
struct TypesOf<TypeVar<Name, Ts...>> {
  static constexpr bool kIsVariable = true;
  using List = Types<Ts...>;
};
template <FixedString Name, class Default, class... Ts>
struct TypesOf<TypeVarOr<Name, Default, Ts...>> : TypesOf<TypeVar<Name, Ts...>> {};
template <FixedString Number, class T, int Minimum>
struct TypesOf<List<Number, T, Minimum>> : TypesOf<T> {};
template <class T>
struct TypesOf<Ref<T>> : TypesOf<T> {};

// The position of the first argument whose type is a variable, or the one that Op::kDispatch names.
template <class... Args>
constexpr int DispatchIndex(Signature<Args...>, std::string_view wanted) {
  int index = 0;
  int found = -1;
  ((found < 0 && TypesOf<typename Args::Type>::kIsVariable &&
            (wanted.empty() || Args::kName == wanted)
        ? found = index
        : 0,
    ++index),
   ...);
  return found;
}
template <class Op>
constexpr std::string_view DispatchName() {
  if constexpr (requires { Op::kDispatch; }) {
    return Op::kDispatch;
  } else {
    return "";
  }
}
template <int I, class... Args>
auto ArgAt(Signature<Args...>) -> std::tuple_element_t<I, std::tuple<Args...>>;

template <class Op>
struct Dispatch {
  static constexpr int kIndex = DispatchIndex(typename Op::Sig(), DispatchName<Op>());
  using Arg = decltype(ArgAt<kIndex>(typename Op::Sig()));
  using Declared = typename TypesOf<typename Arg::Type>::List;
};

template <class Op>
constexpr auto KernelTypes() {
  if constexpr (requires { typename Op::CpuTypes; }) {
    return typename Op::CpuTypes();
  } else {
    return typename Dispatch<Op>::Declared();
  }
}

using KernelMaker = Result<std::unique_ptr<Kernel>> (*)(const KernelRequest&);

template <class K>
Kernel* NewKernel(const KernelRequest& request) {
  return new K(request);
}

// The kernel of one type.
struct TypedMaker {
  DType dtype;
  Kernel* (*make)(const KernelRequest&);
};
// Picks the one for the type of argument `index`: an input or, from num_inputs on, an output.
Result<std::unique_ptr<Kernel>> MakeTyped(std::string_view op, std::span<const TypedMaker> makers,
                                          size_t index, const KernelRequest& request);

template <class Op, class... Ts>
constexpr std::array<TypedMaker, sizeof...(Ts)> MakersOf(Types<Ts...>) {
  return {TypedMaker{kDTypeOf<Ts>, &NewKernel<ComputeKernel<Op, &Op::template ComputeCpu<Ts>>>}...};
}

// What the registry keeps of an op: plain functions, which need no code of their own to be held.
template <class Op>
Result<std::unique_ptr<Kernel>> MakePlain(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(NewKernel<ComputeKernel<Op, &Op::ComputeCpu>>(request));
}
template <class Op>
Result<std::unique_ptr<Kernel>> MakeForType(const KernelRequest& request) {
  static constexpr auto kMakers = MakersOf<Op>(KernelTypes<Op>());
  return MakeTyped(Op::kName, kMakers, static_cast<size_t>(Dispatch<Op>::kIndex), request);
}
template <class Op, class... Ts>
constexpr bool HasTyped(Types<Ts...>) {
  return (false || ... || requires { &Op::template ComputeCpu<Ts>; });
}

template <class Op, class T, class... Ts>
constexpr bool TypedTakesOutputs(Types<T, Ts...>) {
  return TakesOutputs(&Op::template ComputeCpu<T>);
}

// Whether ComputeCpu is handed its outputs allocated.
template <class Op>
constexpr bool Placeable() {
  if constexpr (requires { &Op::MakeCpuKernel; }) {
    return false;
  } else if constexpr (requires { &Op::ComputeCpu; }) {
    return TakesOutputs(&Op::ComputeCpu);
  } else if constexpr (Dispatch<Op>::kIndex >= 0) {
    if constexpr (requires { TypedTakesOutputs<Op>(KernelTypes<Op>()); })
      return TypedTakesOutputs<Op>(KernelTypes<Op>());
  }
  return false;
}

}  // namespace op_internal

// Fills the registries: what register_all.cc passes to each family.
class Registrar {
 public:
  Registrar(OpRegistry* ops, KernelRegistry* kernels) : ops_(ops), kernels_(kernels) {}

  // An op whose kernel is deduced from ComputeCpu (see above) or made by `static
  // Result<unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest&)`. An op with neither is known to
  // graphs but runs nowhere (Placeholder).
  template <class Op>
  void Add() {
    op_internal::KernelMaker maker = nullptr;
    if constexpr (requires { &Op::MakeCpuKernel; }) {
      maker = &Op::MakeCpuKernel;
    } else if constexpr (requires { &Op::ComputeCpu; }) {
      maker = &op_internal::MakePlain<Op>;
    } else if constexpr (op_internal::Dispatch<Op>::kIndex >= 0) {
      if constexpr (op_internal::HasTyped<Op>(op_internal::KernelTypes<Op>()))
        maker = &op_internal::MakeForType<Op>;
    }
    Add(op_internal::kSpecOf<Op>, op_internal::Placeable<Op>(), maker);
  }
  template <class... Ops>
  void AddAll() {
    (Add<Ops>(), ...);
  }
  // Declares `Op` and gives it this kernel. An element-wise one writes where it is told.
  template <class Op>
  void Add(KernelFactory factory) {
    Add(op_internal::kSpecOf<Op>, op_internal::kIsElementwise<Op>, std::move(factory));
  }
  // The first thing that went wrong.
  const Status& status() const { return status_; }

 private:
  void Add(const op_internal::OpSpec& spec, bool placeable, KernelFactory factory);

  OpRegistry* ops_;
  KernelRegistry* kernels_;
  Status status_;
};

}  // namespace penstock
