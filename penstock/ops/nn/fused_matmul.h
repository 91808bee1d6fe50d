#pragma once

#include <string>
#include <vector>

#include "penstock/ops/matmul.h"
#include "penstock/ops/nn/epilogue.h"

namespace penstock::ops {

// A product and what follows it (see ParseEpilogue) as one node. Made by the compiler.
struct FusedMatMul {
  static constexpr auto kName = "_EpilogueMatMul";
  static constexpr bool kNoGradient = true;
  static constexpr double kCost = 30;

  bool transpose_a = false;
  bool transpose_b = false;
  std::vector<std::string> fused_ops = {};
  float leakyrelu_alpha = 0.2f;
  // Set by CheckAttrs, before anybody else sees the struct.
  mutable kernels::Epilogue epilogue = {};

  using Num = TypeVar<"T", float>;
  using Sig = Signature<In<"a", Num>, In<"b", Num>, In<"args", List<"num_args", Num, 0>>,
                        Out<"product", Num>>;
  static constexpr std::tuple kAttrs{Field{"transpose_a", &FusedMatMul::transpose_a},
                                     Field{"transpose_b", &FusedMatMul::transpose_b},
                                     Field{"fused_ops", &FusedMatMul::fused_ops},
                                     Field{"leakyrelu_alpha", &FusedMatMul::leakyrelu_alpha}};

  Status CheckAttrs() const {
    TRY_ASSIGN(epilogue, ParseEpilogue(fused_ops, leakyrelu_alpha));
    return OkStatus();
  }
  Result<Shape> InferShape(const Shape& a, const Shape& b, std::span<const Known> args) const {
    const MatMul plain{.transpose_a = transpose_a, .transpose_b = transpose_b};
    TRY_ASSIGN(Shape product, plain.InferShape(a, b));
    TRY(CheckEpilogueArgs(epilogue, args, product, product.dim(1)));
    return product;
  }
  Status ComputeCpu(CpuContext& context, const Tensor& a, const Tensor& b,
                    std::span<Tensor* const> args, Tensor& product) const;
};

}  // namespace penstock::ops
