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

// Where each argument of the OpDef begins among the flat inputs and outputs.
template <class Op>
struct ArgumentPlaces {
  using Sig = SignatureOf<typename Op::Sig>;
  std::array<int, Sig::kInputs + 1> inputs{};
  std::array<int, Sig::kOutputs + 1> outputs{};
  explicit ArgumentPlaces(const Decoded<Op>& decoded) {
    for (int i = 0; i < Sig::kInputs; ++i) inputs[i + 1] = inputs[i] + decoded.input_counts[i];
    for (int i = 0; i < Sig::kOutputs; ++i) outputs[i + 1] = outputs[i] + decoded.output_counts[i];
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

template <class Op, class Self, class R, class... Params>
struct Compute {
  using Sig = SignatureOf<typename Op::Sig>;
  static constexpr bool kAllocates =
      sizeof...(Params) == Sig::kInputs + Sig::kOutputs && Sig::kOutputs > 0;
  static_assert(kAllocates || sizeof...(Params) == Sig::kInputs,
                "ComputeCpu takes a context, each input, and either each output or none");

  template <size_t... I>
  static Status Call(Self compute, const Decoded<Op>& decoded, const ArgumentPlaces<Op>& at,
                     CpuContext& context, std::index_sequence<I...>) {
    return (decoded.op.*compute)(context, Get<I, Params>(decoded, at, context)...);
  }

 private:
  template <size_t I, class P>
  static decltype(auto) Get(const Decoded<Op>& decoded, const ArgumentPlaces<Op>& at,
                            CpuContext& context) {
    if constexpr (I < Sig::kInputs) {
      return KernelParam<P>::Input(context, at.inputs[I], decoded.input_counts[I]);
    } else {
      return KernelParam<P>::Output(context, at.outputs[I - Sig::kInputs],
                                    decoded.output_counts[I - Sig::kInputs]);
    }
  }
};

template <class Op>
class OpKernelBase : public Kernel {
 public:
  explicit OpKernelBase(const KernelRequest& request)
      : op_(request.op),
        decoded_(*static_cast<const Decoded<Op>*>(op_.get())),
        places_(decoded_),
        output_types_(request.outputs.begin(), request.outputs.end()) {}

 protected:
  template <class R, class... Params>
  Status Run(R (Op::*compute)(CpuContext&, Params...) const, CpuContext& context) const {
    using Call = op_internal::Compute<Op, R (Op::*)(CpuContext&, Params...) const, R, Params...>;
    if (const Shape* settled = context.settled_shapes()) {
      if constexpr (Call::kAllocates)
        TRY(AllocateOutputs(context, output_types_, settled, InPlace()));
    } else {
      std::vector<Shape> shapes(output_types_.size());
      if constexpr (requires { &Op::InferShape; })
        TRY(InferFromInputs(context, op_.get(), &Infer<Op>, shapes));
      if constexpr (Call::kAllocates)
        TRY(AllocateOutputs(context, output_types_, shapes.data(), InPlace()));
    }
    return Call::Call(compute, decoded_, places_, context, std::index_sequence_for<Params...>());
  }

 private:
  static constexpr bool InPlace() {
    if constexpr (requires { Op::kInPlace; }) {
      return Op::kInPlace;
    } else {
      return false;
    }
  }

  const std::shared_ptr<const void> op_;
  const Decoded<Op>& decoded_;
  const ArgumentPlaces<Op> places_;
  const std::vector<DType> output_types_;
};

// ComputeCpu without a type parameter.
template <class Op>
class PlainKernel final : public OpKernelBase<Op> {
 public:
  using OpKernelBase<Op>::OpKernelBase;
  Status Compute(KernelContext& context) override { return this->Run(&Op::ComputeCpu, context); }
};

// ComputeCpu<T>.
template <class Op, class T>
class TypedKernel final : public OpKernelBase<Op> {
 public:
  using OpKernelBase<Op>::OpKernelBase;
  Status Compute(KernelContext& context) override {
    return this->Run(&Op::template ComputeCpu<T>, context);
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

  static DType TypeOf(const KernelRequest& request) {
    const auto& decoded = *static_cast<const Decoded<Op>*>(request.op.get());
    const ArgumentPlaces<Op> at(decoded);
    constexpr int kInputs = SignatureOf<typename Op::Sig>::kInputs;
    if constexpr (kIndex < kInputs) {
      return decoded.input_counts[kIndex] > 0 ? request.inputs[at.inputs[kIndex]] : DType::kInvalid;
    } else {
      return request.outputs[at.outputs[kIndex - kInputs]];
    }
  }
};

template <class Op>
constexpr auto KernelTypes() {
  if constexpr (requires { typename Op::CpuTypes; }) {
    return typename Op::CpuTypes();
  } else {
    return typename Dispatch<Op>::Declared();
  }
}

template <class Op, class... Ts>
Result<std::unique_ptr<Kernel>> MakeTyped(const KernelRequest& request, Types<Ts...>) {
  const DType dtype = Dispatch<Op>::TypeOf(request);
  std::unique_ptr<Kernel> kernel;
  ((kernel == nullptr && dtype == kDTypeOf<Ts>
        ? void(kernel = std::make_unique<TypedKernel<Op, Ts>>(request))
        : void()),
   ...);
  if (kernel == nullptr) return Unimplemented("op {} has no CPU kernel for {}", Op::kName, dtype);
  return kernel;
}

// What the registry keeps of an op: plain functions, which need no code of their own to be held.
template <class Op>
Result<std::unique_ptr<Kernel>> MakePlain(const KernelRequest& request) {
  return std::unique_ptr<Kernel>(std::make_unique<PlainKernel<Op>>(request));
}
template <class Op>
Result<std::unique_ptr<Kernel>> MakeForType(const KernelRequest& request) {
  return MakeTyped<Op>(request, KernelTypes<Op>());
}
template <class Op, class... Ts>
constexpr bool HasTyped(Types<Ts...>) {
  return (false || ... || requires { &Op::template ComputeCpu<Ts>; });
}

template <class Op, class R, class... Params>
constexpr bool TakesOutputs(R (Op::*)(CpuContext&, Params...) const) {
  return Compute<Op, R (Op::*)(CpuContext&, Params...) const, R, Params...>::kAllocates;
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
    OpInfo info = MakeOpInfo<Op>();
    info.traits.placeable = op_internal::Placeable<Op>();
    Declare(std::move(info));
    if constexpr (requires { &Op::MakeCpuKernel; }) {
      AddKernel(Op::kName, &Op::MakeCpuKernel);
    } else if constexpr (requires { &Op::ComputeCpu; }) {
      AddKernel(Op::kName, &op_internal::MakePlain<Op>);
    } else if constexpr (op_internal::Dispatch<Op>::kIndex >= 0) {
      if constexpr (op_internal::HasTyped<Op>(op_internal::KernelTypes<Op>()))
        AddKernel(Op::kName, &op_internal::MakeForType<Op>);
    }
  }
  template <class... Ops>
  void AddAll() {
    (Add<Ops>(), ...);
  }
  // Declares `Op` and gives it this kernel. An element-wise one writes where it is told.
  template <class Op>
  void Add(KernelFactory factory) {
    OpInfo info = MakeOpInfo<Op>();
    info.traits.placeable = info.traits.elementwise;
    Declare(std::move(info));
    AddKernel(Op::kName, std::move(factory));
  }
  // The first thing that went wrong.
  const Status& status() const { return status_; }

 private:
  void Declare(OpInfo info);
  void AddKernel(std::string_view op, KernelFactory factory);

  OpRegistry* ops_;
  KernelRegistry* kernels_;
  Status status_;
};

}  // namespace penstock
