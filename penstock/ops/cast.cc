#include "penstock/ops/cast.h"

#include <cstring>

#include "penstock/kernels/cast.h"

namespace penstock::ops {
namespace {

class CastKernel final : public Kernel {
 public:
  CastKernel(kernels::CastFn cast, DType to) : cast_(cast), to_(to) {}

  Status Compute(KernelContext& context) override {
    const Tensor& x = context.input(0);
    if (x.dtype() == to_) {
      context.SetOutput(0, x);
      return OkStatus();
    }
    TRY(context.AllocateOutput(0, to_, x.shape()));
    cast_(x.raw(), context.output(0).mutable_raw(), x.num_elements(), context.parallel());
    return OkStatus();
  }

 private:
  const kernels::CastFn cast_;
  const DType to_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> Cast::MakeCpuKernel(const KernelRequest& request) {
  const DType from = request.inputs[0], to = request.outputs[0];
  const bool truncate =
      static_cast<const op_internal::Decoded<Cast>*>(request.op.get())->op.Truncate;
  kernels::CastFn cast;
  if (from != to) {
    cast = kernels::LookupCast(from, to, truncate);
    if (!cast) return Unimplemented("Cast {} to {} is not supported", from, to);
  }
  return std::unique_ptr<Kernel>(std::make_unique<CastKernel>(cast, to));
}

void Cast::Gradient(Gradients& g) const {
  const auto has_gradient = [](DType dtype) { return IsFloating(dtype) || IsComplex(dtype); };
  const DType from = g.input(0).dtype();
  if (!has_gradient(from) || !has_gradient(g.output(0).dtype())) return;
  g.Set(0, Op("Cast", g.dy(), {{"DstT", from}}));
}

Result<Shape> Bitcast::InferShape(const Shape& input) const {
  const int64_t from = static_cast<int64_t>(SizeOf(T)), to = static_cast<int64_t>(SizeOf(type));
  if (from == to || !input.has_rank()) return input;
  if (from > to) {
    if (input.rank() == Shape::kMaxRank) {
      return InvalidArgument("rank must be less than {}, got shape {}", Shape::kMaxRank, input);
    }
    Shape shape = input;
    shape.Append(from / to);
    return Shape::Make(shape.dims());
  }
  TRY(CheckRankAtLeast(input, 1, "input"));
  const int last = input.rank() - 1;
  if (input.dim(last) != Shape::kUnknownDim && input.dim(last) != to / from) {
    return InvalidArgument("to read {} as {} the last dimension must be {}, got shape {}", T, type,
                           to / from, input);
  }
  return input.Slice(0, last);
}

Status Bitcast::ComputeCpu(CpuContext& context, const Tensor& input) const {
  if (SizeOf(T) == SizeOf(type)) {
    context.SetOutput(0, input.BitcastTo(type));
    return OkStatus();
  }
  TRY_ASSIGN(const Shape shape, InferShape(input.shape()));
  TRY(context.AllocateOutput(0, type, shape));
  if (input.bytes() > 0) std::memcpy(context.output(0).mutable_raw(), input.raw(), input.bytes());
  return OkStatus();
}

void RegisterCast(Registrar& registrar) { registrar.AddAll<Cast, Bitcast>(); }

}  // namespace penstock::ops
