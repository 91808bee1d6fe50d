#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "penstock/ops/op_kernel.h"
#include "penstock/ops/type_sets.h"

// The ops on accumulators of dense gradients: by reference and by resource. See accumulator.h.

namespace penstock::ops {

// The names of NumberType's types: no argument of an accumulator's maker has the type.
inline constexpr std::string_view kAccumulatorTypes =
    "float|double|int32|uint8|int16|int8|complex64|int64|qint8|quint8|qint32|bfloat16|qint16|"
    "quint16|uint16|complex128|half|uint32|uint64";

// How the two families name an accumulator.
struct AccumulatorByReference {
  using Handle = Ref<std::string>;
  static constexpr bool kStateful = false;
};
struct AccumulatorByResource {
  using Handle = ResourceHandle;
  static constexpr bool kStateful = true;
};

Result<std::unique_ptr<Kernel>> MakeDenseAccumulatorKernel(const KernelRequest& request,
                                                           DType dtype, const Shape& shape,
                                                           const std::string& container,
                                                           const std::string& shared_name,
                                                           const std::string& reduction_type);
Result<std::unique_ptr<Kernel>> MakeApplyGradientKernel(const KernelRequest& request);
Result<std::unique_ptr<Kernel>> MakeTakeGradientKernel(const KernelRequest& request);
Result<std::unique_ptr<Kernel>> MakeSetGlobalStepKernel(const KernelRequest& request);
Result<std::unique_ptr<Kernel>> MakeNumAccumulatedKernel(const KernelRequest& request);

template <FixedString Name, class By>
struct MakesAccumulator {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = true;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  DType dtype = DType::kInvalid;
  Shape shape = Shape::Unknown();
  std::string container;
  std::string shared_name;
  std::string reduction_type = "MEAN";
  using Sig = Signature<Out<"handle", typename By::Handle>>;
  static constexpr std::tuple kAttrs{
      Field{"dtype", &MakesAccumulator::dtype}.Required().OneOf(kAccumulatorTypes),
      Field{"shape", &MakesAccumulator::shape}.Required(),
      Field{"container", &MakesAccumulator::container},
      Field{"shared_name", &MakesAccumulator::shared_name},
      Field{"reduction_type", &MakesAccumulator::reduction_type}.OneOf("MEAN|SUM")};

  Result<Shape> InferShape() const {
    return std::is_same_v<By, AccumulatorByReference> ? Shape{2} : Shape();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    const auto& op =
        static_cast<const op_internal::Decoded<MakesAccumulator>*>(request.op.get())->op;
    return MakeDenseAccumulatorKernel(request, op.dtype, op.shape, op.container, op.shared_name,
                                      op.reduction_type);
  }
};

// Adds a gradient, unless local_step is behind the accumulator's step.
template <FixedString Name, class By>
struct AppliesGradient {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = By::kStateful;
  static constexpr bool kKeepsInputs = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"handle", typename By::Handle>, In<"local_step", int64_t>,
                        In<"gradient", NumberType<"dtype">>>;

  Result<std::vector<Shape>> InferShape(const Shape&, const Shape& local_step, const Shape&) const {
    TRY(CheckScalar(local_step, "local_step"));
    return std::vector<Shape>();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeApplyGradientKernel(request);
  }
};

// Waits for num_required gradients; their average, or sum.
template <FixedString Name, class By>
struct TakesGradient {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = By::kStateful;
  static constexpr bool kAsync = true;
  static constexpr bool kNoGradient = true;
  DType dtype = DType::kInvalid;
  using Sig = Signature<In<"handle", typename By::Handle>, In<"num_required", int32_t>,
                        Out<"average", NumberType<"dtype">>>;
  static constexpr std::tuple kAttrs{Field{"dtype", &TakesGradient::dtype}};

  Result<Shape> InferShape(const Shape&, const Shape& num_required) const {
    TRY(CheckScalar(num_required, "num_required"));
    return Shape::Unknown();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeTakeGradientKernel(request);
  }
};

template <FixedString Name, class By>
struct SetsGlobalStep {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = By::kStateful;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"handle", typename By::Handle>, In<"new_global_step", int64_t>>;

  Result<std::vector<Shape>> InferShape(const Shape&, const Shape& new_global_step) const {
    TRY(CheckScalar(new_global_step, "new_global_step"));
    return std::vector<Shape>();
  }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeSetGlobalStepKernel(request);
  }
};

template <FixedString Name, class By>
struct CountsGradients {
  static constexpr const char* kName = Name.text;
  static constexpr bool kStateful = By::kStateful;
  static constexpr bool kCheap = true;
  static constexpr bool kNoGradient = true;
  using Sig = Signature<In<"handle", typename By::Handle>, Out<"num_accumulated", int32_t>>;

  Result<Shape> InferShape(const Shape&) const { return Shape(); }
  static Result<std::unique_ptr<Kernel>> MakeCpuKernel(const KernelRequest& request) {
    return MakeNumAccumulatedKernel(request);
  }
};

using ConditionalAccumulator = MakesAccumulator<"ConditionalAccumulator", AccumulatorByReference>;
using AccumulatorApplyGradient =
    AppliesGradient<"AccumulatorApplyGradient", AccumulatorByReference>;
using AccumulatorTakeGradient = TakesGradient<"AccumulatorTakeGradient", AccumulatorByReference>;
using AccumulatorSetGlobalStep = SetsGlobalStep<"AccumulatorSetGlobalStep", AccumulatorByReference>;
using AccumulatorNumAccumulated =
    CountsGradients<"AccumulatorNumAccumulated", AccumulatorByReference>;

using ResourceConditionalAccumulator =
    MakesAccumulator<"ResourceConditionalAccumulator", AccumulatorByResource>;
using ResourceAccumulatorApplyGradient =
    AppliesGradient<"ResourceAccumulatorApplyGradient", AccumulatorByResource>;
using ResourceAccumulatorTakeGradient =
    TakesGradient<"ResourceAccumulatorTakeGradient", AccumulatorByResource>;
using ResourceAccumulatorSetGlobalStep =
    SetsGlobalStep<"ResourceAccumulatorSetGlobalStep", AccumulatorByResource>;
using ResourceAccumulatorNumAccumulated =
    CountsGradients<"ResourceAccumulatorNumAccumulated", AccumulatorByResource>;

}  // namespace penstock::ops
