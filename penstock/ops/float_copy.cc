#include "penstock/ops/float_copy.h"

#include "penstock/kernels/cast.h"

namespace penstock::ops {

Result<Tensor> AsFloat(CpuContext& context, const Tensor& x) {
  if (x.dtype() == DType::kFloat) return x;
  const kernels::CastFn cast = kernels::LookupCast(x.dtype(), DType::kFloat);
  if (!cast) return Unimplemented("{} is no type of number", x.dtype());
  TRY_ASSIGN(Tensor wide, context.Allocate(DType::kFloat, x.shape()));
  cast(x.raw(), wide.mutable_raw(), x.num_elements(), context.parallel());
  return wide;
}

void StoreFloats(CpuContext& context, const Tensor& from, Tensor& to) {
  kernels::LookupCast(DType::kFloat, to.dtype())(from.raw(), to.mutable_raw(), to.num_elements(),
                                                 context.parallel());
}

}  // namespace penstock::ops
