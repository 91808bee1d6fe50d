#include "penstock/ops/nn/bias_add.h"

#include <array>

#include "penstock/kernels/broadcast.h"
#include "penstock/kernels/reduce.h"
#include "penstock/ops/dtype_switch.h"
#include "penstock/ops/elementwise.h"

namespace penstock::ops {
namespace {

constexpr std::string_view kChannelsFirst = "NCHW";

int ChannelAxis(const Shape& value, std::string_view data_format) {
  return data_format == kChannelsFirst ? 1 : value.rank() - 1;
}

int LeastRank(std::string_view data_format) { return data_format == kChannelsFirst ? 3 : 2; }

Result<Shape> SumShape(const Shape& value, const Shape& bias, std::string_view data_format) {
  TRY(CheckRankAtLeast(value, LeastRank(data_format), "value"));
  TRY(CheckVector(bias, "bias"));
  if (!value.has_rank() || !bias.has_rank()) return value;
  const int axis = ChannelAxis(value, data_format);
  const int64_t channels = value.dim(axis), biases = bias.dim(0);
  if (channels >= 0 && biases >= 0 && channels != biases) {
    return InvalidArgument(
        "Must provide as many biases as the channel dimension of the input: {} vs {} in {}", biases,
        channels, value);
  }
  Shape out = value;
  if (channels < 0) out.set_dim(axis, biases);
  return out;
}

Status AddBias(CpuContext& context, const Tensor& value, const Tensor& bias,
               std::string_view data_format, Tensor& output) {
  const ElementwiseBlock* add = StandardElementwise().Find("AddV2", value.dtype());
  if (add == nullptr) return Unimplemented("BiasAdd has no CPU kernel for {}", value.dtype());
  const Shape& shape = value.shape();
  const int bytes = static_cast<int>(SizeOf(value.dtype()));
  std::array<int64_t, Shape::kMaxRank> strides{};
  strides[static_cast<size_t>(ChannelAxis(shape, data_format))] = 1;
  const kernels::Operand operands[] = {
      kernels::Operand::Dense(value.raw(), bytes),
      kernels::Operand::Strided(bias.raw(), bytes, strides.data()),
  };
  kernels::RunElementwise(add->function, operands, shape.dims(), output.mutable_raw(), bytes,
                          add->cost, context.parallel());
  return OkStatus();
}

void SetGradients(Gradients& g, const std::string& data_format) {
  g.Set(0, g.dy());
  g.Set(1, Op("BiasAddGrad", g.dy(), {{"data_format", data_format}}));
}

}  // namespace

Result<Shape> BiasAdd::InferShape(const Shape& value, const Shape& bias) const {
  return SumShape(value, bias, data_format);
}
void BiasAdd::Gradient(Gradients& g) const { SetGradients(g, data_format); }
Status BiasAdd::ComputeCpu(CpuContext& context, const Tensor& value, const Tensor& bias,
                           Tensor& output) const {
  return AddBias(context, value, bias, data_format, output);
}

Result<Shape> BiasAddV1::InferShape(const Shape& value, const Shape& bias) const {
  return SumShape(value, bias, "NHWC");
}
void BiasAddV1::Gradient(Gradients& g) const { SetGradients(g, "NHWC"); }
Status BiasAddV1::ComputeCpu(CpuContext& context, const Tensor& value, const Tensor& bias,
                             Tensor& output) const {
  return AddBias(context, value, bias, "NHWC", output);
}

Result<Shape> BiasAddGrad::InferShape(const Shape& out_backprop) const {
  TRY(CheckRankAtLeast(out_backprop, LeastRank(data_format), "out_backprop"));
  if (!out_backprop.has_rank()) return Shape::UnknownOfRank(1);
  return Shape{out_backprop.dim(ChannelAxis(out_backprop, data_format))};
}

// Adding to nothing repeats the vector at every position.
void BiasAddGrad::Gradient(Gradients& g) const {
  g.Set(0, Op("BiasAdd", Op("ZerosLike", g.input(0)), g.dy(), {{"data_format", data_format}}));
}

Status BiasAddGrad::ComputeCpu(CpuContext& context, const Tensor& out_backprop,
                               Tensor& output) const {
  const Shape& shape = out_backprop.shape();
  std::array<bool, Shape::kMaxRank> reduced;
  reduced.fill(true);
  reduced[static_cast<size_t>(ChannelAxis(shape, data_format))] = false;
  const kernels::ReduceShape layout(shape.dims().data(), reduced.data(), shape.rank());
  return ForDType(out_backprop.dtype(), PlainNumbers(), [&]<class T>() {
    kernels::Reduce<T>(kernels::ReduceKind::kSum, out_backprop.data<T>(), layout,
                       output.mutable_data<T>(), context.parallel());
    return OkStatus();
  });
}

void RegisterBiasAdd(Registrar& registrar) { registrar.AddAll<BiasAdd, BiasAddV1, BiasAddGrad>(); }

}  // namespace penstock::ops
