#include "penstock/ops/nn/layer_norm.h"

#include "penstock/kernels/layer_norm.h"

namespace penstock::ops {

Result<Shape> FusedLayerNorm::InferShape(const Shape& x, const Shape& gamma,
                                         const Shape& beta) const {
  TRY(CheckRankAtLeast(x, 1, "x"));
  for (const Shape* vector : {&gamma, &beta}) {
    TRY(CheckVector(*vector, "gamma and beta"));
    if (!x.has_rank() || !vector->has_rank()) continue;
    const int64_t columns = x.dim(x.rank() - 1);
    if (columns >= 0 && vector->dim(0) >= 0 && vector->dim(0) != columns) {
      return InvalidArgument("expected gamma and beta for {} columns, got {}", columns, *vector);
    }
  }
  return x;
}

Status FusedLayerNorm::ComputeCpu(CpuContext& context, const Tensor& x, const Tensor& gamma,
                                  const Tensor& beta, Tensor& y) const {
  if (x.num_elements() == 0) return OkStatus();
  const int64_t columns = gamma.shape().dim(0);
  kernels::LayerNorm(x.data<float>(), x.num_elements() / columns, columns, gamma.data<float>(),
                     beta.data<float>(), epsilon, y.mutable_data<float>(), context.parallel());
  return OkStatus();
}

void RegisterLayerNorm(Registrar& registrar) { registrar.Add<FusedLayerNorm>(); }

}  // namespace penstock::ops
