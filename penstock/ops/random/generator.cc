#include "penstock/ops/random/generator.h"

#include "penstock/ops/variable_access.h"

namespace penstock::ops {
namespace {

using kernels::Philox;

constexpr int kStateElements = 3;
constexpr uint64_t kBlocksTaken = 256;  // for one number

Status CheckScalars(const Shape& a, std::string_view a_name, const Shape& b,
                    std::string_view b_name, const Shape& resource) {
  TRY(CheckScalar(resource, "resource"));
  TRY(CheckScalar(a, a_name));
  return CheckScalar(b, b_name);
}

bool Draws(Distribution distribution, DType dtype) {
  if (distribution != Distribution::kBits) return IsFloating(dtype);
  return IsInteger(dtype) && SizeOf(dtype) >= 4;
}

}  // namespace

Result<Philox> TakeFromGenerator(CpuContext& context, const Tensor& handle, int64_t algorithm,
                                 uint64_t delta, Tensor* state) {
  if (algorithm != kPhiloxAlgorithm && algorithm != kAnyAlgorithm)
    return InvalidArgument("algorithm must be 1 (Philox) or 3 (the device's choice), got {}",
                           algorithm);
  TRY_ASSIGN(const std::shared_ptr<StateVariable> variable,
             FindVariable(context, handle, DType::kInt64));
  Philox taken;
  TRY(variable->Update([&](Tensor& value) {
    if (!value.initialized()) return UninitializedResource(HandleIn(handle));
    if (value.shape().rank() != 1 || value.num_elements() < kStateElements)
      return InvalidArgument(
          "the state of a generator must be a vector of {} elements, got shape {}", kStateElements,
          value.shape());
    if (state != nullptr) {
      TRY_ASSIGN(*state, CopyTensor(context, value));
    }
    TRY(MakeWritable(context, value));
    int64_t* words = value.mutable_data<int64_t>();
    taken = Philox(static_cast<uint64_t>(words[2]), static_cast<uint64_t>(words[0]),
                   static_cast<uint64_t>(words[1]));
    const Philox next = taken.At(delta * kBlocksTaken);
    words[0] = static_cast<int64_t>(next.counter_low());
    words[1] = static_cast<int64_t>(next.counter_high());
    return OkStatus();
  }));
  return taken;
}

template <FixedString Name, Distribution D, class Default>
Result<std::unique_ptr<Kernel>> GeneratorFill<Name, D, Default>::MakeCpuKernel(
    const KernelRequest& request) {
  if (!Draws(D, request.outputs[0]))
    return Unimplemented("op {} has no CPU kernel for {}", kName, request.outputs[0]);
  return op_internal::MakePlain<GeneratorFill>(request);
}

Result<Shape> StatefulUniformInt::InferShape(const Shape& resource, const Shape& algorithm,
                                             const Integers& shape, const Shape& minval,
                                             const Shape& maxval) const {
  TRY(CheckScalar(algorithm, "algorithm"));
  TRY(CheckScalars(minval, "minval", maxval, "maxval", resource));
  return DrawnShape(shape);
}
Status StatefulUniformInt::ComputeCpu(CpuContext& context, const Tensor& resource,
                                      const Tensor& algorithm, const Tensor&, const Tensor& minval,
                                      const Tensor& maxval, Tensor& output) const {
  if (output.num_elements() > 0) TRY(CheckRange(minval, maxval));
  TRY_ASSIGN(const Philox stream,
             TakeFromGenerator(context, resource, algorithm.scalar<int64_t>(),
                               static_cast<uint64_t>(output.num_elements()), nullptr));
  return FillBetween(context, minval, maxval, stream, output);
}

Result<Shape> RngReadAndSkip::InferShape(const Shape& resource, const Shape& alg,
                                         const Shape& delta) const {
  TRY(CheckScalars(alg, "alg", delta, "delta", resource));
  return Shape{Shape::kUnknownDim};
}
Status RngReadAndSkip::ComputeCpu(CpuContext& context, const Tensor& resource, const Tensor& alg,
                                  const Tensor& delta) const {
  Tensor state;
  TRY(TakeFromGenerator(context, resource, alg.scalar<int32_t>(), delta.scalar<uint64_t>(),
                        &state));
  context.SetOutput(0, std::move(state));
  return OkStatus();
}

Result<std::vector<Shape>> RngSkip::InferShape(const Shape& resource, const Shape& algorithm,
                                               const Shape& delta) const {
  TRY(CheckScalars(algorithm, "algorithm", delta, "delta", resource));
  return std::vector<Shape>();
}
Status RngSkip::ComputeCpu(CpuContext& context, const Tensor& resource, const Tensor& algorithm,
                           const Tensor& delta) const {
  return TakeFromGenerator(context, resource, algorithm.scalar<int64_t>(),
                           static_cast<uint64_t>(delta.scalar<int64_t>()), nullptr)
      .status();
}

void RegisterRandomGenerator(Registrar& registrar) {
  registrar.AddAll<StatefulUniform, StatefulStandardNormalV2, StatefulTruncatedNormal,
                   StatefulUniformFullInt, StatefulUniformInt, RngReadAndSkip, RngSkip>();
}

}  // namespace penstock::ops
