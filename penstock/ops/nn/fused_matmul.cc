#include "penstock/ops/nn/fused_matmul.h"

#include "penstock/kernels/gemm.h"

namespace penstock::ops {

// M rows and N columns of the product, K its inner dimension.
Status FusedMatMul::ComputeCpu(CpuContext& context, const Tensor& a, const Tensor& b,
                               std::span<Tensor* const> args, Tensor& product) const {
  const int64_t M = product.shape().dim(0), N = product.shape().dim(1);
  const int64_t K = a.shape().dim(transpose_a ? 0 : 1);
  const float* bias = epilogue.bias ? args.front()->data<float>() : nullptr;
  const float* addend = epilogue.addend ? args.back()->data<float>() : nullptr;
  const auto finish = [&](float* block, int64_t row, int64_t rows, int64_t column,
                          int64_t columns) {
    kernels::ApplyEpilogue(epilogue, rows, columns, block, N,
                           bias == nullptr ? nullptr : bias + column,
                           addend == nullptr ? nullptr : addend + row * N + column);
  };
  const kernels::GemmFinish<float> call(finish);
  const int64_t offset = 0;
  kernels::BatchedGemm<float>({1, &offset, &offset, 0}, transpose_a, transpose_b, M, N, K,
                              a.data<float>(), transpose_a ? M : K, b.data<float>(),
                              transpose_b ? K : N, product.mutable_data<float>(), N, 0,
                              context.parallel(), epilogue.none() ? nullptr : &call);
  return OkStatus();
}

void RegisterFusedMatMul(Registrar& registrar) { registrar.Add<FusedMatMul>(); }

}  // namespace penstock::ops
